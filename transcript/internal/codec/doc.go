// Package codec is what all formats of sessions share. A [Format] is three
// functions: Detect tells its files from others, Read reads one, and Write
// writes a new one.
//
// Read begins with the records of a [File]: its lines ([File.LineLog]) or the
// elements of a list ([File.BodyLog], [File.ListLog]). It adds each message to
// the [Log] with [Log.Add], says in which record the message begins, and notes
// the values that a compaction may replace ([Slot]). [Log.Rewrite] then writes
// the file again without further help.
//
// Some logs need more: their entries name their parents, or hold the program's
// own compactions. Such a format sets [Log.Prepare], which changes a [Rewrite]
// before it is written. [Rewrite.Relink] gives every entry a parent that is there.
//
// Formats whose records are lists of content blocks read them with a
// [BlockReader].
package codec
