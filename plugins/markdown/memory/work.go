package memory

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// work follows tool calls: which files changed, and which command failed and
// then went well.
type work struct {
	x       *extractor
	calls   map[string]action   // open calls, by id
	ends    map[answer]string   // the message that says how a call ended
	failed  map[string]*failure // by command
	changed []string            // files, in order, of messages that go
}

// answer is what results of one call have in common.
type answer struct {
	unit int
	call string
}

// endsOf returns the last result of each call: a harness may say in one that a command began, and in the next how it
// ended.
func endsOf(msgs []abi.InputMessage) map[answer]string {
	ends := make(map[answer]string)
	for i := range msgs {
		if m := &msgs[i]; m.Role == abi.RoleTool {
			ends[answer{m.Unit, m.ToolCallID}] = m.ID
		}
	}
	return ends
}

// action is what a call does.
type action struct {
	command string
	path    string // of a file it changes
}

// failure is a command that failed and has not gone well since.
type failure struct {
	line    string
	changed []string
	ids     []string
	going   bool
}

func (w *work) message(m *abi.InputMessage, going bool) {
	for _, c := range m.ToolCalls {
		w.calls[c.ID] = parse(c)
	}
	if m.Role != abi.RoleTool || w.ends[answer{m.Unit, m.ToolCallID}] != m.ID {
		return
	}
	a, ok := w.calls[m.ToolCallID]
	if !ok {
		return
	}
	delete(w.calls, m.ToolCallID)
	line := failureLine(m)
	switch {
	case a.path != "" && line == "":
		w.edited(a, going)
	case a.command != "" && line != "":
		if w.failed[a.command] == nil {
			w.failed[a.command] = &failure{line: line, ids: []string{m.ID}, going: going}
		}
	case a.command != "":
		if f := w.failed[a.command]; f != nil {
			delete(w.failed, a.command)
			w.fixed(a, f, m.ID)
		}
	}
}

func (w *work) edited(a action, going bool) {
	if going {
		w.changed = appendNew(w.changed, a.path)
	}
	for _, f := range w.failed {
		f.changed = appendNew(f.changed, a.path)
	}
}

// fixed notes an error that went away after files changed. Without a change in
// between nobody knows why.
func (w *work) fixed(a action, f *failure, id string) {
	if f.going && len(f.changed) > 0 && tells(f.line) {
		text := fmt.Sprintf("`%s` failed with \"%s\"; it went well after changes%s.",
			clip.Line(a.command, 100), clip.Line(f.line, 140), fileList(f.changed, 4))
		w.x.add(fix, text, scoreFix, append(f.ids, id)...)
	}
}

// changes are the files that changed, as the log has them.
func (w *work) changes() string {
	if len(w.changed) == 0 {
		return ""
	}
	return withoutSecrets(abi.Defuse(fileList(w.changed, 12)))
}

// fileList names files, and the folder they share apart from them.
func fileList(paths []string, most int) string {
	folder := path.Dir(paths[0])
	for _, p := range paths {
		for folder != "." && folder != "/" && !strings.HasPrefix(p, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	text, prefix := " in "+folder+": ", folder+"/"
	if folder == "." || folder == "/" {
		text, prefix = ": ", ""
	}
	shown := slices.Clone(paths[:min(most, len(paths))])
	for i, p := range shown {
		shown[i] = strings.TrimPrefix(p, prefix)
	}
	text += strings.Join(shown, ", ")
	if more := len(paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// changeWords are what tools that change files are called, in lower case.
var changeWords = []string{"edit", "write", "create", "replace", "insert", "patch"}

// maxArguments is how long arguments are parsed, in bytes; longer ones are a
// whole file, of which the path stands in the first part.
const maxArguments = 16 << 10

func parse(c abi.ToolCall) (a action) {
	var args struct {
		Command  json.RawMessage `json:"command"`
		Cmd      json.RawMessage `json:"cmd"`
		Path     string          `json:"path"`
		FilePath string          `json:"file_path"`
		Filename string          `json:"filename"`
	}
	if len(c.Arguments) > maxArguments {
		args.Path = pathIn(c.Arguments)
	} else if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return a
	}
	file := args.Path + args.FilePath + args.Filename
	command := bare(strings.Join(strings.Fields(commandText(append(args.Command, args.Cmd...))), " "))
	switch {
	case file != "" && toolcall.HasAny(strings.ToLower(c.Name+" "+command), changeWords):
		a.path = clip.Line(file, 200)
	case file == "" && command != "":
		a.command = command
	}
	return a
}

// bare is a command without the folder it runs in and what is done with its
// output, so that it is the same command whichever part of that is looked at.
func bare(command string) string {
	if rest, ok := strings.CutPrefix(command, "cd "); ok {
		if _, after, ok := strings.Cut(rest, " && "); ok {
			command = after
		}
	}
	for _, mark := range []string{" 2>", " | ", " > "} {
		command, _, _ = strings.Cut(command, mark)
	}
	return command
}

// commandText is a command that is a text, or a list of words.
func commandText(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, " ")
	}
	return ""
}

var pathRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:file_)?(?:path|filename)"\s*:\s*"([^"\\]{1,300})"`)
})

func pathIn(arguments string) string {
	for _, part := range []string{arguments[:1000], arguments[len(arguments)-1000:]} {
		if m := pathRE().FindStringSubmatch(part); m != nil {
			return m[1]
		}
	}
	return ""
}
