// Package content holds what the formats of sessions write alike: the parts of
// a message, images, tool definitions, and ids.
//
// A [Form] says how a format writes the parts of a message; a part without a
// place there becomes a line of text that names it. [ImageOf] and [ToolsOf] read
// images and tool definitions of any format. [WireIDs] makes call ids that a
// provider accepts.
package content
