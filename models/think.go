package models

import "strings"

// withoutThinking drops a block of thinking at the beginning of an answer.
// Servers that do not know a model's format leave it there. A block that does
// not end was cut off: nothing of it is the answer.
func withoutThinking(text string) string {
	const begin, end = "<think>", "</think>"
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), begin)
	if !ok {
		return text
	}
	_, answer, _ := strings.Cut(rest, end)
	return strings.TrimLeft(answer, " \t\r\n")
}
