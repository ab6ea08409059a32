package state

import (
	"cmp"
	"os"
	"time"
)

// windowFolder has a file for each model whose provider once said what it takes.
const windowFolder = "windows"

// believed is how long what a provider said is taken for true: models change under their names.
const believed = 30 * 24 * time.Hour

// Window is what the provider of a model said that it takes, in tokens; 0 where nothing is kept, or nothing of the last
// thirty days. The folder is only read.
func Window(dir, home, model string) int {
	if dir = cmp.Or(dir, home); dir == InMemory {
		dir = ""
	}
	info, err := os.Stat(numberFile(dir, windowFolder, []string{model}))
	if err != nil || time.Since(info.ModTime()) > believed {
		return 0
	}
	return number(dir, windowFolder, []string{model})
}

// SetWindow keeps it.
func (s *State) SetWindow(model string, tokens int) error {
	return setNumber(s.dir, windowFolder, []string{model}, tokens)
}
