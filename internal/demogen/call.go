package demogen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// call adds a tool call to the last say and runs it. Among the arguments,
// "failed" expects an error, "unanswered" leaves the result out, "reuse" gives
// the call the id of the session's first one, "took=" is how long it ran,
// "lines=FIRST-LAST" a part of a file, "timeout=" the seconds a command has,
// "rm=" a file that it removes, "mv=WAS:NOW" one that it moves.
func (p *player) call(e *event) error {
	name, args, r, err := p.run(e)
	if err != nil {
		return err
	}
	if r.ok == e.is("failed") {
		return fmt.Errorf("does not go as the script says: %s", r.text)
	}
	r.never = e.is("unanswered")
	r.took = 300*time.Millisecond + time.Duration(len(r.text)%50)*10*time.Millisecond
	if took := e.value("took"); took != "" {
		if r.took, err = time.ParseDuration(took); err != nil {
			return err
		}
	}
	p.calls++
	c := abi.ToolCall{ID: p.callID(p.calls), Name: name}
	if e.is("reuse") {
		c.ID = p.callID(1)
	}
	if c.Arguments, err = arguments(args); err != nil {
		return err
	}
	last := &p.msgs[len(p.msgs)-1]
	last.ToolCalls = append(last.ToolCalls, c)
	p.pending = append(p.pending, r)
	return nil
}

// arguments of the six tools; tools.json describes them.
type (
	readArgs struct {
		Path  string `json:"path"`
		First int    `json:"first_line,omitempty"`
		Last  int    `json:"last_line,omitempty"`
	}
	listArgs struct {
		Path string `json:"path"`
	}
	grepArgs struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
	}
	editArgs struct {
		Path string `json:"path"`
		Old  string `json:"old_text"`
		New  string `json:"new_text"`
	}
	writeArgs struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	runArgs struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout_s,omitempty"`
	}
)

// run does what a tool does.
func (p *player) run(e *event) (name string, args any, r result, err error) {
	path := ""
	if len(e.args) > 0 {
		path = e.args[0]
	}
	switch e.verb {
	case "read":
		a := readArgs{Path: path}
		if lines := e.value("lines"); lines != "" {
			if _, err := fmt.Sscanf(lines, "%d-%d", &a.First, &a.Last); err != nil {
				return "", nil, r, err
			}
		}
		r.text, r.ok = p.tree.read(path, a.First, a.Last)
		return "read_file", a, r, nil
	case "list":
		r.text, r.ok = p.tree.list(path)
		return "list_dir", listArgs{path}, r, nil
	case "grep":
		r.text, r.ok = p.tree.grep(e.body, path)
		return "grep", grepArgs{e.body, path}, r, nil
	case "edit":
		was, now, ok := strings.Cut("\n"+e.body+"\n", "\n=======\n")
		if !ok {
			return "", nil, r, errors.New("no ======= between the old text and the new")
		}
		a := editArgs{path, strings.TrimPrefix(was, "\n"), strings.TrimSuffix(now, "\n")}
		r.text, r.ok = p.tree.edit(path, a.Old, a.New)
		return "edit_file", a, r, nil
	case "write":
		a := writeArgs{path, e.body + "\n"}
		r.text, r.ok = p.tree.write(path, a.Content)
		return "write_file", a, r, nil
	case "run":
		return p.command(e)
	}
	return "", nil, r, errors.New("no such verb")
}

// command takes a recorded run: lines that begin with "$ " or "> " are the
// command, the others what it printed.
func (p *player) command(e *event) (name string, args any, r result, err error) {
	var command, output []string
	for _, line := range strings.Split(e.body, "\n") {
		if text, ok := strings.CutPrefix(line, "$ "); ok && len(command) == 0 {
			command = append(command, text)
		} else if text, ok := strings.CutPrefix(line, "> "); ok && len(output) == 0 {
			command = append(command, text)
		} else {
			output = append(output, line)
		}
	}
	if len(command) == 0 || len(output) == 0 && !e.is("unanswered") && p.until == 0 {
		return "", nil, r, errors.New("no command, or no output recorded")
	}
	if was, now, ok := strings.Cut(e.value("mv"), ":"); ok {
		p.tree[now] = p.tree[was]
		delete(p.tree, was)
	}
	delete(p.tree, e.value("rm"))
	a := runArgs{Command: strings.Join(command, "\n")}
	if a.Timeout, err = strconv.Atoi("0" + e.value("timeout")); err != nil {
		return "", nil, r, err
	}
	return "run_command", a, result{text: strings.Join(output, "\n"), ok: !e.is("failed")}, nil
}

// arguments writes text for a model: nothing is escaped for a page.
func arguments(args any) (string, error) {
	b, err := line(args)
	return strings.TrimSuffix(string(b), "\n"), err
}

// line writes v as JSON on a line of its own.
func line(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}
