// Package wordlist reads the files of words by which texts are told apart without
// a model. What is a long list of words stands in such a file, not in code.
//
// Begin with [Read]. A list begins with its name in brackets; its words follow,
// with a comma and a space between them. Lines that are empty or begin with #
// count for nothing. Guests compile this package too.
package wordlist

import "strings"

// Read returns the lists of a file by their names.
func Read(file string) map[string][]string {
	lists, name := make(map[string][]string), ""
	for line := range strings.Lines(file) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
		default:
			lists[name] = append(lists[name], strings.Split(strings.TrimSuffix(line, ","), ", ")...)
		}
	}
	return lists
}
