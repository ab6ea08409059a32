// Package jsondoc edits JSON text in place. What no edit touches keeps its bytes,
// white space and unknown keys included.
//
// Begin with [New] and [Source.Check], which refuses text that decoders read in
// more than one way. All other functions rely on checked text. A [Span] is the
// place of a value. [Source.Open] reads the fields of an object by their exact
// keys. The first fault stays with the source ([Source.Err]) and empties all
// fields from then on, so a reader asks once and not after each field.
// [Source.Probe] opens an object whose faults do not count, and [Parse] one that
// stands alone.
//
// To write, replace values with [Place.Put] and [Source.Apply]. A [Sequence] is
// the lines of a file ([LinesOf]) or the elements of a list ([ListOf]);
// [Sequence.File] writes it again with records left out, changed, and added
// between the others. New JSON is written with [Obj], [List] and [Quote].
package jsondoc
