package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// maxArgs bounds what is told of the arguments of a call, in bytes.
const maxArgs = 400

// about is what work for another agent was called.
func about(a *action.Action) string {
	for _, key := range []string{"description", "title", "name", "prompt"} {
		for _, arg := range a.Args {
			if arg.Key == key {
				return arg.Value
			}
		}
	}
	return a.Tool
}

// resumed is by which id another agent can be asked to go on, as its result says it; empty where that says none.
func resumed(text string) string {
	const mark, end = "\nagentId: ", " (for resuming"
	at := strings.LastIndex(text, mark)
	if at < 0 {
		return ""
	}
	id, _, ok := strings.Cut(text[at+len(mark):], end)
	if !ok || id == "" || len(id) > maxAgentID || strings.ContainsAny(id, " \n") {
		return ""
	}
	return " (agent " + id + ")"
}

// maxAgentID is how long such an id is, in bytes.
const maxAgentID = 64

// told is the call with its arguments: "book_reservation (user_id mia_li_3668)". Of a
// call that repeats another the arguments that differ, all sums, and the id that says what it is about: the other one
// may be told in short, or no more.
func told(a, before *action.Action) string {
	if before == nil {
		return a.Tool + listed(a)
	}
	differs := func(arg action.Arg) bool { return !slices.Contains(before.Args, arg) }
	again := *a
	about := slices.IndexFunc(a.Args, func(arg action.Arg) bool { return IsID(arg.Key) })
	again.Args = nil
	for i, arg := range a.Args {
		if differs(arg) || Weighs(arg.Key) || i == about {
			again.Args = append(again.Args, arg)
		}
	}
	if again.More = a.More && a.Long != before.Long; !again.More && !slices.ContainsFunc(a.Args, differs) {
		return a.Tool + " again as before" + listed(&again)
	}
	return a.Tool + " again" + listed(&again)
}

// listed are the arguments of a call that there is room for, in order: amounts and what they are paid with before what
// tells one thing from others, and that before the rest. A mark says that there are more.
func listed(a *action.Action) string {
	size, shown := 0, make(map[action.Arg]bool)
	for worth := mostWorth; worth >= 0; worth-- {
		for _, arg := range a.Args {
			n := len(arg.Key) + len(arg.Value)
			if Worth(arg.Key) == worth && !shown[arg] && size+n <= maxArgs {
				shown[arg], size = true, size+n
			}
		}
	}
	var told []string
	more := a.More || slices.ContainsFunc(a.Args, func(arg action.Arg) bool { return !shown[arg] })
	for _, arg := range a.Args {
		if s := arg.Key + " " + arg.Value; shown[arg] && (Weighs(arg.Key) || !slices.Contains(told, s)) {
			told = append(told, s)
		}
	}
	if len(told) == 0 {
		return ""
	}
	if more {
		told = append(told, More)
	}
	return " (" + strings.Join(told, ", ") + ")"
}

// Worth is what an argument of this name tells: 2 how much of something, or what it is paid with, 1 which thing of its
// kind, 0 the rest.
func Worth(key string) int {
	low := lower.Text(key)
	switch {
	case Weighs(key):
		return mostWorth
	case IsID(key), toolcall.HasAny(low, []string{"number", "name", "date", "email", "code", "title", "status"}):
		return 1
	}
	return 0
}

const mostWorth = 2

// IsID reports whether an argument of this name says what a call is about.
func IsID(key string) bool {
	return key == "id" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Id")
}

// More stands for arguments that are not told.
const More = "..."

// Weighs reports whether an argument of this name says how much of something, or what
// it is paid with: the same amount may stand there twice, of two payments.
func Weighs(key string) bool {
	key = lower.Text(key)
	return strings.HasSuffix(key, "total") || toolcall.HasAny(key, []string{"amount", "pay", "price", "cost",
		"quantity"})
}

const (
	maxFound = 4  // values of a result that are told
	maxValue = 60 // of one of them, in bytes
)

// identified is what identifies a text that no call has a part in.
func identified(text string) string { return found(text, nil) }

// found is what identifies a result: of an object, where it differs from what the call gave, its ids, numbers and
// states that the call did not give itself; of a text, its first line.
func found(text string, args []action.Arg) string {
	fields, ok := fieldsOf(text)
	if !ok {
		told := first(nil, text)
		line := clip.Line(told, 120)
		if line != "" && strings.TrimSpace(text) != told && !strings.HasSuffix(line, "…") {
			line += " …" // a line of a report is not all of it
		}
		if line != "" {
			return Result + line
		}
		return ""
	}
	given := func(value string) bool {
		return slices.ContainsFunc(args, func(a action.Arg) bool { return a.Value == value })
	}
	var own []string
	named := false // by an id that the call gave
	for _, f := range fields {
		switch {
		case f.value == "" || !identifies(f.key) || len(f.value) > maxValue:
		case given(f.value):
			named = true
		default:
			own = append(own, f.key+" "+f.value)
		}
	}
	switch {
	case len(own) > 0:
		own = append(own, sums(fields, args)...)
	case !named: // of a result in an envelope; else what is inside has ids of its own
		toolcall.EachString(text, func(key, value string) {
			if s := key + " " + value; !given(value) && value != "" && len(value) <= maxValue && identifies(key) &&
				!slices.Contains(own, s) {
				own = append(own, s)
			}
		})
	}
	own = slices.Concat(own[:min(len(own), maxFound)], places(fields, args), differing(fields, args))
	if len(own) == 0 {
		return ""
	}
	return Result + strings.Join(withMore(own, fields, args), ", ")
}

// withMore are values of a result that are told, with a mark where it has others that the call did not give.
func withMore(told []string, fields []field, args []action.Arg) []string {
	text, more := " "+strings.Join(told, " ")+" ", false
	for _, f := range fields {
		toolcall.EachString(`{"":`+string(f.raw)+`}`, func(_, value string) {
			given := slices.ContainsFunc(args, func(a action.Arg) bool { return a.Value == value })
			more = more || value != "" && !given && !strings.Contains(text, " "+value+" ")
		})
	}
	if more {
		return append(told, More)
	}
	return told
}

// differing are the fields of a result in which it is not what the call gave under the same name.
func differing(fields []field, args []action.Arg) (list []string) {
	for _, f := range fields {
		var asked []string
		for _, a := range args {
			if a.Key == f.key {
				asked = append(asked, a.Value)
			}
		}
		if len(asked) == 1 && asked[0] != f.value && f.value != "" && len(f.value) <= maxValue && !identifies(f.key) &&
			len(list) < maxFound {
			list = append(list, fmt.Sprintf("%s %s (%s was asked for)", f.key, f.value, asked[0]))
		}
	}
	return list
}

// field is a member of an object: its value where that is a text or a number, or else what it is made of.
type field struct {
	key, value string
	raw        json.RawMessage
}

// fieldsOf are the members of an object, in order; ok is false of a text that is none.
func fieldsOf(text string) (list []field, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") || !json.Valid([]byte(text)) {
		return nil, false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	for dec.More() {
		key, err := dec.Token()
		name, isText := key.(string)
		f := field{key: name}
		if err != nil || !isText || dec.Decode(&f.raw) != nil {
			return nil, false
		}
		if c := f.raw[0]; c != '{' && c != '[' {
			for _, p := range toolcall.Strings(`{"":` + string(f.raw) + `}`) {
				f.value = p.Value
			}
		}
		list = append(list, f)
	}
	return list, true
}

// output is the result of a call; of a tool that runs no command without the line in front on how it ended.
func output(a *action.Action, text string) string {
	if a.Kind == action.Runs {
		return text
	}
	return outcome.Output(text)
}

// isDocument reports whether a result is an object, or a list of them.
func isDocument(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// looked is what a look-up found: of an object its own short values that the call did not give.
func looked(text string, args []action.Arg) string {
	fields, _ := fieldsOf(text)
	var own []string
	for _, f := range fields {
		given := slices.ContainsFunc(args, func(a action.Arg) bool { return a.Value == f.value })
		if f.value != "" && !given && len(f.value) <= maxValue && len(own) < maxLooked {
			own = append(own, f.key+" "+f.value)
		}
	}
	if len(own) == 0 {
		return ""
	}
	return Result + strings.Join(withMore(own, fields, args), ", ")
}

// maxLooked is how many values of what a look-up found are told.
const maxLooked = 12

// places are where something goes to, of the document and of its lists, where the last of those leads elsewhere than
// the document says.
func places(fields []field, args []action.Arg) []string {
	for _, f := range fields {
		if !isPlace(f.key) || f.value == "" || len(f.value) > maxValue {
			continue
		}
		there := inLists(fields, args, func(key, _ string) bool { return key == f.key })
		if len(there) == 1 && !strings.HasSuffix(there[0], " "+f.value) {
			return []string{f.key + " " + f.value, there[0]}
		}
	}
	return nil
}

// isPlace reports whether a value under this key is where something goes to.
func isPlace(key string) bool {
	switch lower.Text(key) {
	case "destination", "arrival", "to":
		return true
	}
	return false
}

// sums are those that stand in the lists of a document, a text for each list, with its name: of a history none is the
// sum of all. Those that the call gave itself are left out.
func sums(fields []field, args []action.Arg) []string {
	return inLists(fields, args, func(key, value string) bool {
		return Weighs(key) && clip.Digits(strings.TrimLeft(value, "-$€")) > 0
	})
}

// inLists are values that are wanted of the lists of a document, a text for each list and key, where the call did not
// give all of them itself.
func inLists(fields []field, args []action.Arg, wanted func(key, value string) bool) (list []string) {
	for _, f := range fields {
		if c := f.raw[0]; c != '{' && c != '[' {
			continue
		}
		var names []string
		values, given := make(map[string][]string), true
		toolcall.EachString(`{"":`+string(f.raw)+`}`, func(key, value string) {
			if !wanted(key, value) || len(value) > maxValue {
				return
			}
			if values[key] == nil {
				names = append(names, key)
			}
			values[key] = append(values[key], value)
			given = given && slices.ContainsFunc(args, func(a action.Arg) bool { return a.Value == value })
		})
		for _, key := range names {
			if v := values[key]; !given && len(v) <= 2*maxFound {
				list = append(list, f.key+" "+key+" "+strings.Join(v, " / "))
			}
		}
	}
	return list
}

// undoes reports whether a tool takes back what another one did, by its name.
func undoes(tool string) bool {
	return toolcall.HasAny(lower.Text(tool), []string{"cancel", "delete", "remove", "refund", "revoke", "void",
		"undo"})
}

// identifies reports whether a value under this key tells one thing from others.
func identifies(key string) bool {
	key = lower.Text(key)
	return key == "id" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "number") ||
		toolcall.HasAny(key, []string{"status", "url", "hash", "sha", "total", "price", "amount", "cost",
			"balance", "confirmation", "state", "code", "key"})
}

// first is the first line that says something, of lines or else of a text.
func first(lines []string, text string) string {
	if len(lines) > 0 {
		return lines[0]
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
