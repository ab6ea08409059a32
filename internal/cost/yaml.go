package cost

import "strings"

// YAML are fragments of YAML. Settings of a configuration or a manifest may be added
// to them.
var YAML = []string{
	"- ", "? ", ": ", ", ", ",", "[", "]", "{", "}", "\n", "\n", "\n ", "\n  ", "\n    ", " ", "\t", "\r\n", "#c", "# ",
	"---\n", "...\n", "%TAG ! a\n", "<<: ", "&a ", "&a" + Count + " ", "*a ", "*a" + Count + " ", "! ", "!!str ", "!<a> ",
	"|\n", ">\n", "|+\n", ">-\n ", "\"", "'", "\"a\" ", "'a' ", "\"\\n", "\\", "''", "a", "a" + Count, "a" + Count + ": ",
	"a: ", "k" + Count + ": v\n", "~", "1", "1_0", "0x1", "1e9", ".inf", "2001-01-01", "true", "é", "\ufeff", "\u2028",
	"\u0085", "\x01", "@", "`", strings.Repeat(" ", 60), strings.Repeat("x", 200),
}
