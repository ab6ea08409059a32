// Package jsondoc edits JSON text in place: what no edit touches keeps its
// bytes, white space and unknown keys included.
//
// Begin with [New] and [Source.Check], which refuses what decoders read in more
// than one way. All other functions rely on text that Check has passed. A place
// in the text is a [Span]. [Source.Open] reads the fields of an object by their
// exact keys; its first fault, with line and column, is found with
// [Object.Err], so a reader asks once an object and not once a field.
//
// To write, take a [Sequence]: the lines of a file ([LinesOf]) or the elements
// of a list ([ListOf]). [Sequence.File] writes it again with records left out,
// added between the others ([Item]), and changed inside ([Edit], which
// [Place.Put] makes). New JSON is written with [Obj], [List] and [Quote].
package jsondoc
