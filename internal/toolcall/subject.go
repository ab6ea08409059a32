package toolcall

import "github.com/kagewasm/kagewasm/internal/clip"

// maxSubject is what [Subject] is cut to, in bytes: a path that is cut is none.
const maxSubject = 160

// Subject returns what a tool call is about, by its arguments: the command it runs,
// or the file, or else the first short text in it (a pattern, an address). It is
// cut to a line of about 160 bytes, and empty where the arguments say nothing.
func Subject(arguments string) string { return SubjectOf(Strings(arguments)) }

// SubjectOf is [Subject] of arguments that were read.
func SubjectOf(arguments []Pair) string {
	var command, file, other string
	for _, p := range arguments {
		switch key, value := p.Key, p.Value; {
		case IsCommandKey(key) && command == "":
			command = CommandLine(value)
		case IsPathKey(key) && file == "":
			file = value
		case key != "" && other == "" && len(value) <= maxSubject:
			other = value
		}
	}
	switch {
	case IsEditorVerb(command) && file != "":
		return clip.Cut(command+" "+file, maxSubject, "…")
	case command != "":
		return clip.Cut(command, maxSubject, "…")
	case file != "":
		return clip.Cut(file, maxSubject, "…")
	}
	return other
}

// IsCommandKey reports whether an argument of this name holds a command.
func IsCommandKey(key string) bool {
	switch key {
	case "command", "cmd", "script", "code", "commands", "bash":
		return true
	}
	return false
}

// IsPathKey reports whether an argument of this name holds the path of a file or
// folder.
func IsPathKey(key string) bool {
	switch key {
	case "file_path", "path", "filename", "file", "filepath", "notebook_path", "target_file",
		"absolute_path", "relative_path", "file_name", "directory", "dir_path", "filePath", "absolutePath", "targetFile",
		"paths", "files", "file_paths", "filePaths", "filenames":
		return true
	}
	return false
}

// IsEditorVerb reports whether a command is one of an editor that is one tool,
// not of a shell.
func IsEditorVerb(command string) bool {
	switch command {
	case "view", "create", "str_replace", "insert", "undo_edit", "open", "read", "write", "edit", "delete", "rename",
		"append":
		return true
	}
	return false
}
