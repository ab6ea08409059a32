package keep

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Weights of lines: the first are lost first.
const (
	said    = iota // what the assistant said
	read           // what can be looked up again
	ran            // a command that went well
	edited         // a file that changed
	earlier        // a line of an earlier summary
	failed         // a command that did not
	asked          // a person's words
)

// describe says what a unit was.
func describe(in *abi.Input, u *unit) []line {
	first := &in.Messages[u.at[0]].Message
	width := in.Config.Int("line_length", 160)
	text := clip.Line(first.Text(), width)
	switch {
	case first.Kind == abi.KindSummary:
		return carry(first.Text(), 2*width)
	case len(first.ToolCalls) > 0:
		text, weight := describeCalls(in, u)
		return []line{{clip.Line(text, width), weight}}
	case text == "":
		return nil
	case first.IsPerson():
		return []line{{"user asked: " + text, asked}}
	case first.Role == abi.RoleAssistant:
		return []line{{"assistant: " + text, said}}
	}
	return nil
}

// describeCalls says what a unit's calls did, and the weight of the gravest.
func describeCalls(in *abi.Input, u *unit) (text string, weight int) {
	results := make(map[string]*abi.Message)
	for _, i := range u.at[1:] {
		results[in.Messages[i].ToolCallID] = &in.Messages[i].Message
	}
	var parts []string
	for _, call := range in.Messages[u.at[0]].ToolCalls {
		what, w := action(call)
		if r := results[call.ID]; r != nil {
			if sign := failure(r); sign != "" {
				what, w = what+" → "+sign, failed
			}
		}
		parts = append(parts, what)
		weight = max(weight, w)
	}
	return strings.Join(parts, "; "), weight
}

// action says what a call does: its file, its command, or its arguments.
func action(call abi.ToolCall) (text string, weight int) {
	var args map[string]any
	if json.Unmarshal([]byte(call.Arguments), &args) != nil {
		return call.Name + " " + clip.Line(call.Arguments, 80), ran
	}
	path := argument(args, "path", "file_path", "filename", "file", "notebook_path")
	command := argument(args, "command", "cmd", "script", "code")
	// Editors have one tool for everything, and a command that says what.
	switch verb := strings.ToLower(call.Name + " " + command); {
	case path != "" && toolcall.HasAny(verb, editWords):
		return "edited " + path, edited
	case path != "" && toolcall.HasAny(verb, readWords):
		return "read " + path, read
	case path != "":
		return call.Name + " " + path, ran
	case command != "":
		return "ran `" + clip.Line(command, 100) + "`", ran
	}
	if what := argument(args, "pattern", "query", "url", "description", "prompt"); what != "" {
		return call.Name + ": " + clip.Line(what, 80), read
	}
	return call.Name + " " + clip.Line(call.Arguments, 80), ran
}

// argument is the first of the named arguments that is there. Some commands
// are lists of words.
func argument(args map[string]any, names ...string) string {
	for _, n := range names {
		if v := args[n]; v != nil {
			return strings.Trim(fmt.Sprint(v), "[]")
		}
	}
	return ""
}
