// Package codec is what all formats of sessions have in common, and what a
// [Format] is: three functions that tell a file, read it and write one anew.
//
// To read, a format finds the records of a [File], which are its lines
// ([File.LineLog]) or the elements of a list ([File.ListLog]), and notes every
// message in them in a [Log] with [Log.Add]: in which record it begins, and
// where the values stand that a compaction may replace ([Slot]). The Log then
// writes the file again by itself ([Log.Rewrite]). Where more than the
// messages' own records must change, as in a log whose entries name their
// parents, the format sets [Log.Prepare] and changes the [Rewrite] first.
//
// Formats that hold lists of content blocks read them with a [BlockReader].
package codec
