package demogen

import (
	"embed"
	"fmt"
	"path"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

//go:embed scenes/*.txt parcel.txt tools.json
var sources embed.FS

// afternoon is when the stories begin.
var afternoon = time.Date(2026, 3, 14, 13, 2, 11, 0, time.FixedZone("CET", 3600))

// story is a script and the file it becomes.
type story struct {
	name  string // of scenes/NAME.txt
	start time.Time
	tools bool // the session begins with the tools
	after bool // the project is as the demo leaves it
}

var (
	demo  = story{name: "demo", start: afternoon, tools: true}
	small = story{name: "small", start: afternoon.AddDate(0, 0, 7), after: true}
	hook  = story{name: "hook", start: afternoon.AddDate(0, 0, 2), after: true}
	chat  = story{name: "chat", start: time.Date(2026, 4, 20, 19, 41, 5, 0, time.FixedZone("CEST", 7200))}
)

// Generate returns the files of testdata by name.
func Generate() (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, s := range []story{demo, small, chat} {
		msgs, err := s.messages()
		if err != nil {
			return nil, err
		}
		if files[s.name+".jsonl"], err = s.encode(msgs); err != nil {
			return nil, err
		}
	}
	msgs, err := hook.messages()
	if err != nil {
		return nil, err
	}
	files["hook-input.json"], err = hookInput(msgs)
	return files, err
}

// Files returns the project's files as they are when the demo's script comes
// to a line, and the time it is then; line 0 is the end. Whoever adds a command
// to the script runs it over these, and writes down what it prints.
func Files(line int) (Tree, time.Time, error) {
	p, err := demo.play(line)
	if err != nil {
		return nil, time.Time{}, err
	}
	return p.tree, p.clock, nil
}

func (s story) play(until int) (*player, error) {
	project, err := s.project()
	if err != nil {
		return nil, err
	}
	name := path.Join("scenes", s.name+".txt")
	script, err := sources.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := &player{tree: project, clock: s.start, seed: s.name, until: until}
	if err := p.play(script); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// project returns the files that a story begins with.
func (s story) project() (Tree, error) {
	if s.after {
		files, _, err := Files(0)
		return files, err
	}
	script, err := sources.ReadFile("parcel.txt")
	return parseTree(script), err
}

func (s story) messages() ([]abi.Message, error) {
	p, err := s.play(0)
	if err != nil {
		return nil, err
	}
	return p.msgs, nil
}

// encode writes a session, a message a line.
func (s story) encode(msgs []abi.Message) ([]byte, error) {
	var out []byte
	if s.tools {
		tools, err := toolsLine()
		if err != nil {
			return nil, err
		}
		out = tools
	}
	for i := range msgs {
		b, err := line(&msgs[i])
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}
