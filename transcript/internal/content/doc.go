// Package content holds what the formats of sessions write alike: the parts of
// a message, images, tool definitions, and ids.
//
// A format says how it writes parts with a [Form]; what it has no place for
// becomes a line of text that names it. [ImageOf] and [WriteTools] read images
// and tool definitions of any format. [WireIDs] makes ids of calls that a
// provider accepts.
package content
