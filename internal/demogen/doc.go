// Package demogen writes the sessions under testdata: an afternoon of an agent
// at work on an invented Go project, a short piece of the same, a conversation
// without tools, and the input of a hook. [Generate] is the one to call; its
// command runs under go generate.
//
// The story is written by hand in scenes/*.txt. What an agent reads, lists,
// greps and edits is not: the scenes run over the project's files as they are
// at that moment, so that line numbers and contents hold through the whole
// session. What commands print in the long session was recorded from the files
// that [Files] returns for the line the command stands on; only the dates, the
// paths and the name of the processor were made to fit the story. The shorter
// pieces are invented throughout.
//
// An edit whose text is not there, a scene that names a file that does not
// exist, or a command without output are errors of the script.
package demogen

//go:generate go run ./cmd ../../testdata
