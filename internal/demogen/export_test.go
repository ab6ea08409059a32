package demogen

import "time"

// Play runs a script over no files at all.
func Play(script string) error {
	p := &player{tree: make(Tree), clock: time.Unix(0, 0).UTC(), seed: "test"}
	return p.play([]byte(script))
}

// Before is the project as the demo finds it.
func Before() (Tree, error) { return demo.project() }
