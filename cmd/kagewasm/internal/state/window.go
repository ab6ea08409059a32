package state

import "cmp"

// windowFolder has a file for each model whose provider once said what it takes.
const windowFolder = "windows"

// Window is what the provider of a model said that it takes, in tokens; 0 where nothing
// is kept. The folder is only read.
func Window(dir, home, model string) int {
	if dir = cmp.Or(dir, home); dir == InMemory {
		dir = ""
	}
	return number(dir, windowFolder, []string{model})
}

// SetWindow keeps it.
func (s *State) SetWindow(model string, tokens int) error {
	return setNumber(s.dir, windowFolder, []string{model}, tokens)
}
