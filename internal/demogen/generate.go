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
	name   string // of scenes/NAME.txt
	prefix string // of its ids
	start  time.Time
	tools  bool
}

var (
	demo  = story{"demo", "msg", afternoon, true}
	small = story{"small", "msg", afternoon.AddDate(0, 0, -3), false}
	chat  = story{"chat", "msg", time.Date(2026, 4, 20, 19, 41, 5, 0, time.FixedZone("CEST", 7200)), false}
	hook  = story{"hook", "msg", afternoon.AddDate(0, 0, 2), false}
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
	project, err := sources.ReadFile("parcel.txt")
	if err != nil {
		return nil, err
	}
	name := path.Join("scenes", s.name+".txt")
	script, err := sources.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := play(script, parseTree(project), s.start, s.prefix, until)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
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
