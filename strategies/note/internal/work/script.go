package work

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// script takes a script and how it ended. Told is what its step says of its checks.
func (w *Work) script(a *action.Action, text string, o outcome.Outcome, told *Ended) {
	acts, changes, check, key := false, false, checkName(a), a.Normal()
	if listsForgeChecks(a) {
		w.forge = cmp.Or(readForgeChecks(text), w.forge)
	}
	for i := range a.Steps {
		switch s := &a.Steps[i]; s.Kind {
		case action.Acts:
			acts, changes = true, true
		case action.Prepares, action.Writes:
			changes = true
		}
	}
	broken := o.Told || o.Failed
	if outcome.Broke(text, o) {
		for _, f := range a.Before(text, outcome.FailsCheck(text)) {
			if !w.tries.holds(f.Path) {
				w.change(f)
			}
		}
	}
	others := broken && !blamed(a, text) // something else may have failed
	switch {
	case check != "" && outcome.Rejected(text):
		w.fails(failed{what: whole(a), key: key, said: said(text)})
		return
	case broken && !changes && outcome.NeverRan(text):
		w.others++
		return
	case others && check != "" && !acts:
		w.fails(failed{what: whole(a), key: key, said: said(lastLine(text))})
		return
	case acts && broken, changes && broken && check == "":
		w.fails(failed{what: whole(a), key: key, said: said(first(o.Lines, text))})
		return
	case changes && !broken:
		w.settled(key, "")
		w.effects(a, text, o)
	case !changes && check == "" && a.OnlyLooks():
		w.looks++
	case !changes && check == "":
		w.others++
	}
	if check != "" {
		w.checked(check, a.Checks(), w.harness.Below(a, text), o)
	} else if told.Name != "" { // by a hook
		w.checked(told.Name, action.ReadChecks(told.Name), told.Checks, outcome.Outcome{Passed: true})
		w.checks[len(w.checks)-1].where = inHook
	}
}

// hook are the checks that ran in the hook of a commit, as far as its output says so. They passed: there is no commit
// where a hook fails.
func hook(w *Work, a *action.Action, text string, o outcome.Outcome) Ended {
	if o.Failed || o.Told || len(w.committed(a, text)) == 0 {
		return Ended{}
	}
	name := outcome.Task(text)
	list := slices.Concat(action.ReadChecks(name), w.harness.Below(a, text))
	if name == "" || len(list) == 0 || outcome.FailsCheck(text) {
		return Ended{}
	}
	return Ended{Name: short(name, maxCommand), Checks: list, Passed: true}
}

// blamed reports whether it is a check of a script that failed, where it failed: the script runs nothing else, or what
// came back says so as compilers and test runners do. One that never ran did not.
func blamed(a *action.Action, text string) bool {
	return (a.OnlyChecks() || outcome.FailsCheck(text)) && !outcome.NeverRan(text)
}

// lastLine is the last line that says more than how a script ended: what it ran last failed.
func lastLine(text string) (last string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		low := lower.Text(strings.TrimLeft(line, "["))
		if line != "" && !strings.HasPrefix(low, "exit") && !slices.ContainsFunc(prompts, func(p string) bool {
			return strings.HasPrefix(line, p)
		}) {
			last = line
		}
	}
	return cmp.Or(last, strings.TrimSpace(text))
}

// checkName is how the checks of a script are told, empty where it has none.
func checkName(a *action.Action) string {
	checks := lists.Filter(a.Steps, func(s action.Step) bool { return s.Kind == action.Checks })
	return short(quote(a, checks), maxCommand)
}

// effects tells what a script changed: files by their names, commits by their hashes,
// and of the rest which commands ran. What ended well did all of it.
func (w *Work) effects(a *action.Action, output string, o outcome.Outcome) {
	var acts []action.Step
	ended := o.Passed
	for _, s := range a.Steps {
		for _, f := range s.Files {
			if ended && !w.tries.holds(f.Path) {
				w.change(f)
			}
		}
		if ended {
			w.removed(&s)
		}
		switch {
		case s.Kind == action.Acts:
			acts = append(acts, s)
		case s.Kind == action.Prepares, s.Kind == action.Writes && !ended:
			prepare(w, quote(a, []action.Step{s}))
		}
	}
	if len(acts) == 0 {
		return
	}
	if place := w.tries.of(acts); place != "" {
		w.runs(a, acts, " in "+place, "")
		return
	}
	where := ""
	if place := cmp.Or(w.tries.inOwn(a.Steps, acts), amongTemporary(acts)); place != "" {
		where = " in " + place
	}
	pushed := ""
	if ended && slices.ContainsFunc(acts, func(s action.Step) bool { return begins(s, "git push") }) {
		pushed = ", then pushed"
	}
	commits := w.committed(a, output)
	for i, c := range commits {
		c += where
		if i == len(commits)-1 {
			c += pushed
		}
		w.did = append(w.did, deed{text: Committed + c})
	}
	if len(commits) > 0 { // what was staged is in them
		w.did = slices.DeleteFunc(w.did, func(d deed) bool { return strings.HasPrefix(d.run, "git add") })
		acts = slices.DeleteFunc(acts, func(s action.Step) bool {
			return begins(s, "git add") || begins(s, "git commit") || begins(s, "git push") && pushed != ""
		})
	}
	more := address(acts, output)
	if o.Stopped {
		more = " (aborted)"
	}
	w.runs(a, acts, where, more)
}

// maxOfAKind is how many commands of one kind are told one by one.
const maxOfAKind = 3

// folded are the commands of which only the last is told where there are more of its
// kind, by their first two words.
func folded(commands []string) (list []string) {
	kind := func(c string) string {
		words := strings.Fields(c)
		return strings.Join(words[:min(2, len(words))], " ")
	}
	all := make(map[string]int)
	for _, c := range commands {
		all[kind(c)]++
	}
	left := maps.Clone(all)
	for _, c := range commands {
		k := kind(c)
		left[k]--
		switch n := all[k]; {
		case n <= maxOfAKind:
			list = append(list, c)
		case left[k] == 0:
			list = append(list, fmt.Sprintf("%s and %d more of its kind before", c, n-1))
		}
	}
	return list
}

// prepare notes a command that is told in short, the last time it ran.
func prepare(w *Work, command string) {
	command = quoted(command)
	w.prepared = append(slices.DeleteFunc(w.prepared, func(s string) bool { return s == command }), command)
}

func begins(s action.Step, command string) bool { return strings.HasPrefix(s.Text+" ", command+" ") }

// committed are the commits that a script made, as far as its output tells: "3f2a1bc
// subject". Those of a repository to try something in are none.
func (w *Work) committed(a *action.Action, output string) (list []string) {
	acts := lists.Filter(a.Steps, func(s action.Step) bool { return s.Kind == action.Acts })
	starts := func(s action.Step) bool { return begins(s, "git init") }
	if !strings.Contains(a.Script, "commit") || len(acts) == 0 || w.tries.of(acts) != "" ||
		slices.ContainsFunc(acts, starts) {
		return nil
	}
	for line := range strings.Lines(clip.Head(output, 8000)) {
		if hash, subject, ok := commit(strings.TrimSpace(line)); ok {
			list = append(list, hash+" "+clip.Line(subject, maxCommand))
		}
	}
	return list
}

// commit reads "[main 3f2a1bc] subject".
func commit(line string) (hash, subject string, ok bool) {
	inner, subject, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	if !ok || !strings.HasPrefix(line, "[") {
		return "", "", false
	}
	hash = inner[strings.LastIndexByte(inner, ' ')+1:]
	return hash, subject, len(hash) >= 7 && len(hash) <= 40 && hash != inner &&
		strings.Trim(hash, "0123456789abcdef") == ""
}

// address is the address of what a command for a forge made.
func address(acts []action.Step, output string) string {
	forge := func(s action.Step) bool { return begins(s, "gh") && !begins(s, "gh api") || begins(s, "glab") }
	i := strings.Index(output, "https://")
	if i < 0 || !slices.ContainsFunc(acts, forge) {
		return ""
	}
	address := clip.Head(output[i:], maxAddress)
	if end := strings.IndexAny(address, " \t\r\n\"'<>)"); end >= 0 {
		address = address[:end]
	}
	return Result + address
}

// maxAddress is how long an address is, in bytes.
const maxAddress = 300
