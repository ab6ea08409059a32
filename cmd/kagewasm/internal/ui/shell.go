package ui

import "strings"

// Quoted is a word for a shell.
func Quoted(word string) string {
	if strings.ContainsAny(word, " \t\n'\"\\$`;&|<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
