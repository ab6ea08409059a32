package work

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// maxArgs bounds what is told of the arguments of a call, in bytes.
const maxArgs = 200

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

// told is the call with its arguments: "book_reservation (user_id mia_li_3668)". Of a
// call that repeats another the arguments that differ, and all sums.
func told(a *action.Action, before []action.Arg) string {
	differs := func(arg action.Arg) bool { return !slices.Contains(before, arg) }
	switch {
	case len(before) == 0:
		return a.Tool + listed(a.Args)
	case !slices.ContainsFunc(a.Args, differs):
		return a.Tool + " again (as before)"
	}
	return a.Tool + " again" + listed(lists.Filter(a.Args, func(arg action.Arg) bool {
		return differs(arg) || Weighs(arg.Key)
	}))
}

// listed are the arguments that there is room for: amounts and what they are paid with
// before others, in order.
func listed(args []action.Arg) string {
	size, shown := 0, make(map[action.Arg]bool)
	for _, first := range []bool{true, false} {
		for _, a := range args {
			if n := len(a.Key) + len(a.Value); Weighs(a.Key) == first && !shown[a] && size+n <= maxArgs {
				shown[a], size = true, size+n
			}
		}
	}
	var told []string
	more := len(shown) > 0 && slices.ContainsFunc(args, func(a action.Arg) bool { return !shown[a] })
	for _, a := range args {
		if s := a.Key + " " + a.Value; shown[a] && (Weighs(a.Key) || !slices.Contains(told, s)) {
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

// More stands for arguments that are not told.
const More = "..."

// Weighs reports whether an argument of this name says how much of something, or what
// it is paid with: the same amount may stand there twice, of two payments.
func Weighs(key string) bool {
	key = strings.ToLower(key)
	return strings.HasSuffix(key, "total") || toolcall.HasAny(key, []string{"amount", "pay", "price", "cost",
		"quantity"})
}

const (
	maxFound = 4  // values of a result that are told
	maxValue = 60 // of one of them, in bytes
)

// identified is what identifies a text that no call has a part in.
func identified(text string) string { return found(text, nil) }

// found is what identifies a result: of an object, its ids, numbers and states
// that the call did not give itself; of a text, its first line.
func found(text string, args []action.Arg) string {
	var doc map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &doc) != nil {
		if line := clip.Line(first(nil, text), 120); line != "" {
			return Result + line
		}
		return ""
	}
	var own, inner []string
	toolcall.EachString(text, func(key, value string) {
		given := slices.ContainsFunc(args, func(a action.Arg) bool { return a.Value == value })
		if s := key + " " + value; !given && value != "" && len(value) <= maxValue && identifies(key) &&
			!slices.Contains(inner, s) {
			if _, top := doc[key]; top {
				own = append(own, s)
			}
			inner = append(inner, s)
		}
	})
	if len(own) > 0 {
		own = append(own, sums(text, doc, args)...)
	}
	if len(own) == 0 {
		own = inner // of a result in an envelope; else what is inside has ids of its own
	}
	if len(own) == 0 {
		return ""
	}
	return Result + strings.Join(own[:min(len(own), maxFound)], ", ")
}

// sums are those that stand in the lists of a document, a text for each list, with its name: of a history none is the
// sum of all. Those that the call gave itself are left out.
func sums(text string, doc map[string]json.RawMessage, args []action.Arg) (list []string) {
	at := make(map[string]int) // where a key stands
	for key, raw := range doc {
		if len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') {
			at[key] = strings.Index(text, strconv.Quote(key))
		}
	}
	keys := slices.SortedFunc(maps.Keys(at), func(a, b string) int {
		return cmp.Or(cmp.Compare(at[a], at[b]), cmp.Compare(a, b))
	})
	for _, outer := range keys {
		var names []string
		values, given := make(map[string][]string), true
		toolcall.EachString(`{"":`+string(doc[outer])+`}`, func(key, value string) {
			if !Weighs(key) || clip.Digits(strings.TrimLeft(value, "-$€")) == 0 || len(value) > maxValue {
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
				list = append(list, outer+" "+key+" "+strings.Join(v, " / "))
			}
		}
	}
	return list
}

// undoes reports whether a tool takes back what another one did, by its name.
func undoes(tool string) bool {
	return toolcall.HasAny(strings.ToLower(tool), []string{"cancel", "delete", "remove", "refund", "revoke", "void",
		"undo"})
}

// identifies reports whether a value under this key tells one thing from others.
func identifies(key string) bool {
	key = strings.ToLower(key)
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
