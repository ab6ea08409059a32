package note

import "github.com/kagewasm/kagewasm/strategies/note/internal/names"

// Subject returns what a tool call is about, by its arguments: the command it
// runs, or the file, or else the first short text in it (a pattern, an address).
// It is cut to a line of about 160 bytes, and empty where the arguments say
// nothing.
func Subject(arguments string) string { return names.Subject(arguments) }
