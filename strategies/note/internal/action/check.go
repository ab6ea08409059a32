package action

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Check is a test, a build or the like as it is compared with others: the same one may be asked for in other words, and
// one may be a part of another.
type Check struct {
	program string   // and what it is to do: "go test", "npm run lint"
	dir     string   // the folder that it runs in, empty where it is not known
	modes   []string // settings and options that change what is checked
	narrows []string // options that choose a part of it, with what they are given: "-run TestLease"
	places  []string // what is checked
	times   int      // how often; one where nothing is said
	text    string   // of one that was cut when it was told: no more is known of it
}

// Words by which options of checks are told.
var (
	checkMany    = newBeginnings("check many")
	checkQuiet   = set.Of(wordLists["check quiet"]...)
	checkGiven   = set.Of(wordLists["check given"]...)
	checkNarrows = set.Of(wordLists["check narrows"]...)
	checkChooses = set.Of(wordLists["check chooses"]...)
	checkTimes   = set.Of(wordLists["check times"]...)
	checkStrict  = set.Of(wordLists["check strict"]...)
	checkValues  = set.Of(wordLists["check values"]...)
)

// Checks are those that the script runs, in order.
func (a *Action) Checks() (list []Check) {
	for i := range a.Steps {
		if s := &a.Steps[i]; s.Kind == Checks {
			list = append(list, checksOf(&a.Commands[s.At])...)
		}
	}
	return list
}

// OnlyChecks reports whether the script runs checks, and nothing else that may fail: it shows text beside them at most.
func (a *Action) OnlyChecks() bool {
	checks := 0
	for i := range a.Commands {
		c := &a.Commands[i]
		switch at := slices.IndexFunc(a.Steps, func(s Step) bool { return s.At == i }); {
		case at >= 0 && a.Steps[at].Kind == Checks:
			checks++
		case at >= 0 && a.Steps[at].Kind != Shows:
			return false
		case at < 0 && !c.SetsScene() && !(len(c.Words) > 0 && besideChecks[c.Words[0]]):
			return false
		}
	}
	return checks > 0
}

// SameFolder reports whether two scripts may run in one folder: both say where, and it is another one, or else they
// may.
func SameFolder(dir, other string) bool { return dir == "" || other == "" || Same(dir, other) }

// Dir is the folder that the script changes to before it does something, empty where it does not say.
func (a *Action) Dir() string {
	for i := range a.Commands {
		if c := &a.Commands[i]; !c.SetsScene() {
			return c.Dir
		}
	}
	return ""
}

// besideChecks are programs that show text, or a part of what they are given, and "…" where one was left out.
var besideChecks = set.Of(append(wordLists["beside checks"], toolcall.LeftOut)...)

// ReadChecks reads checks off a script as it was told.
func ReadChecks(told string) (list []Check) {
	cut := strings.TrimSuffix(told, toolcall.LeftOut)
	if cut != told && !strings.HasSuffix(cut, " ") {
		return []Check{{text: told}}
	}
	return OfScript(told).Checks()
}

// checksOf reads the checks of a command: a program that is given several of them runs all.
func checksOf(c *toolcall.Command) []Check {
	line := strings.Join(c.Words, " ")
	if rest, ok := wrappers.cut(line); ok {
		line = rest
	}
	one := Check{dir: c.Dir, times: 1}
	for w := range strings.FieldsSeq(c.Text) {
		if name, _, ok := strings.Cut(w, "="); !ok || name == "" || strings.ToUpper(name) != name {
			break
		} else if !checkQuiet[name] {
			one.modes = append(one.modes, w)
		}
	}
	rest, runs := runners.cut(line)
	name := firstName(rest)
	if runs && name != "" {
		one.program = strings.TrimSpace(line[:len(line)-len(rest)])
	} else if rest, runs = checks.cut(line); runs {
		one.program, name = strings.TrimSpace(line[:len(line)-len(rest)]), ""
	} else {
		return nil
	}
	one.arguments(strings.Fields(rest))
	if name == "" {
		return []Check{one}
	}
	_, many := checkMany.cut(one.program + " ")
	if !many {
		one.program += " " + name
		one.places = slices.DeleteFunc(one.places, func(p string) bool { return p == name })
		return []Check{one}
	}
	var list []Check
	for _, target := range one.places {
		each := one
		each.program, each.places = one.program+" "+target, nil
		list = append(list, each)
	}
	return list
}

// arguments reads what the program of a check is given.
func (c *Check) arguments(words []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, value, given := strings.Cut(w, "=")
		next := func() string {
			if !given && i+1 < len(words) {
				i++
				return words[i]
			}
			return value
		}
		switch {
		case w == "--" || w == toolcall.LeftOut:
		case w[0] != '-' && given && strings.ToUpper(name) == name:
			c.modes = append(c.modes, w)
		case w[0] != '-':
			c.places = append(c.places, cmp.Or(strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/"), "."))
		case checkTimes[name]:
			if n, err := strconv.Atoi(next()); err == nil && n > 0 {
				c.times = n
			}
		case checkQuiet[name]:
		case checkGiven[name]:
			next()
		case checkNarrows[name]:
			c.narrows = append(c.narrows, name+" "+next())
		case checkChooses[name]:
			c.narrows = append(c.narrows, name)
		case checkValues[name]:
			c.modes = append(c.modes, name+" "+next())
		default:
			c.modes = append(c.modes, w)
		}
	}
	if strings.HasPrefix(c.program, "go ") && len(c.places) == 0 {
		c.places = []string{"."}
	}
}

// SameChecks reports whether two lists are of the same checks.
func SameChecks(a, b []Check) bool { return AmongChecks(a, b) && AmongChecks(b, a) }

// AmongChecks reports whether all checks of a list stand in another one.
func AmongChecks(list, among []Check) bool {
	for i := range list {
		if !list[i].isAmong(among) {
			return false
		}
	}
	return true
}

// isAmong reports whether a check stands in a list.
func (c *Check) isAmong(list []Check) bool {
	for i := range list {
		if o := &list[i]; c.covers(o) && o.covers(c) && c.times <= o.times {
			return true
		}
	}
	return false
}

// Unsettled are the checks of a list that none of those is that passed, nor holds.
func Unsettled(list, passed []Check) []Check {
	return slices.DeleteFunc(slices.Clone(list), func(c Check) bool {
		return slices.ContainsFunc(passed, func(p Check) bool { return p.covers(&c) })
	})
}

// Unpassed are the checks of a list that do not stand among those that passed.
func Unpassed(list, passed []Check) []Check {
	return slices.DeleteFunc(slices.Clone(list), func(c Check) bool { return AmongChecks([]Check{c}, passed) })
}

// covers reports whether a check that passes says so of another one: that one looks at no more, in no other way, and
// not many times as often.
func (c *Check) covers(part *Check) bool {
	if c.text != "" || part.text != "" {
		return c.text == part.text
	}
	if built, ok := part.built(); ok && !slices.Contains(c.modes, compileOnly) {
		whole := *c // what chooses among tests is built with the others
		whole.narrows = nil
		return whole.covers(&built)
	}
	return c.program == part.program && part.times <= moreTimes*c.times && SameFolder(c.dir, part.dir) &&
		!slices.ContainsFunc(part.modes, func(m string) bool { return !slices.Contains(c.modes, m) }) &&
		!slices.ContainsFunc(c.modes, func(m string) bool {
			name, _, _ := strings.Cut(m, "=")
			return !slices.Contains(part.modes, m) && !checkStrict[name]
		}) &&
		!slices.ContainsFunc(c.narrows, func(n string) bool {
			return !slices.ContainsFunc(part.narrows, func(p string) bool { return p == n || chooses(n, p) })
		}) && c.holds(part)
}

// compileOnly has tests built, and not run.
const compileOnly = "-c"

// built is a check that only builds tests, as one that runs them.
func (c *Check) built() (runs Check, ok bool) {
	if c.program != "go test" || !slices.Contains(c.modes, compileOnly) {
		return runs, false
	}
	runs = *c
	runs.modes = lists.Filter(c.modes, func(m string) bool { return m != compileOnly })
	return runs, true
}

// moreTimes is how many times as often a check may have failed to run as the one that settles it: what fails seldom has
// to be looked for as long.
const moreTimes = 2

// chooses reports whether an option that chooses by the beginning of a name chooses what another one does.
func chooses(wide, narrow string) bool {
	rest, ok := strings.CutPrefix(narrow, wide)
	return ok && strings.HasPrefix(wide, "-run ") && !strings.ContainsAny(wide+rest, "|^$")
}

// holds reports whether a check looks at all that another one looks at.
func (c *Check) holds(part *Check) bool {
	isGo := strings.HasPrefix(c.program, "go ")
	all := func(p string) bool { return p == "..." || p == "." && !isGo }
	if slices.ContainsFunc(c.places, all) || len(c.places) == 0 {
		return true
	}
	return len(part.places) > 0 && !slices.ContainsFunc(part.places, func(p string) bool {
		return !slices.ContainsFunc(c.places, func(w string) bool {
			folder, below := strings.CutSuffix(w, "/...")
			p, _ := strings.CutSuffix(p, "/...")
			return w == p || below && p == folder || (below || !isGo && path.Ext(w) == "") && Within(p, folder) ||
				strings.HasPrefix(p, w+"::")
		})
	})
}
