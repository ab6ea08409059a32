package work

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Step is one call as it is told alone, with how it ended.
type Step struct {
	// Text is the call in one line. It is empty of a call that is not told.
	Text string
	// Looked: it only looked.
	Looked bool
	// Changed are the files that it changed, Deleted those that it deleted if its script came as far as that.
	Changed, Deleted []string
	// Rejected is the call, where the person did not allow it, and the words that came with that. RejectedFile is the
	// file that it was to change, where it was to change one.
	Rejected, RejectedFile string
	// Undone are the short arguments of a call that took back what another one did: the ids of that are among them.
	Undone []string
	// Report is what another agent reported, of a call that stays: its result may be shortened.
	Report string
	// Git is what it did to the repository, Check the check that it ran.
	Git   Git
	Check Ended
}

// Ended is how a check ended: of one that neither passed nor failed it is not known. Its name is empty where there was
// none.
type Ended struct {
	Name           string
	Checks         []action.Check
	Passed, Failed bool
	// Why is the line that says why it failed.
	Why string
}

const (
	maxScript = 160 // of a command that is told alone, in characters
	maxOutput = 120 // of what a command that ended well put out, in characters
)

// step tells a call alone. Before are the arguments of the last one to its tool.
func (w *Work) step(a *action.Action, text string, o outcome.Outcome) Step {
	s := Step{Text: a.Tool, Looked: a.Kind == action.Looks}
	switch a.Kind {
	case action.Asks, action.Silent:
		return Step{}
	case action.Runs:
		s.Text = "`" + short(line(a), maxScript) + "`" + inTry(a, w.tries)
		s.Git, s.Check = w.git(a, text, o), ended(w, a, text, o)
	case action.Changes:
		s.Text += " " + strings.Join(lists.Map(a.Files, func(f action.File) string {
			return strings.TrimSpace(w.Name(f.Path) + " " + f.Lines())
		}), ", ") + puts(a)
	case action.Looks:
		if isDocument(text) && len(a.Files) == 0 && len(a.Args) > 1 { // of a service
			s.Text += listed(a)
			break
		}
		s.Text += " " + clip.Line(sought(a), maxOutput)
	default:
		s.Text = told(a, w.before[a.Tool])
	}
	for i := range a.Files {
		if f := &a.Files[i]; f.Use == action.Deleted && !o.Failed && !o.Told {
			s.Deleted = append(s.Deleted, f.Path)
		}
	}
	if outcome.Rejected(text) {
		s.Rejected = refused(a, text, w.Name)
		if a.Kind == action.Changes {
			s.RejectedFile = a.Path()
		}
	}
	switch {
	case outcome.Rejected(text):
		s.Text += Result + said(text)
	case o.Told || o.Failed:
		s.Text += Result + "failed: " + w.why(text, o)
	case s.Looked && a.Searches():
		s.Text += cmp.Or(hits(a, text), looked(text, a.Args))
	case s.Looked:
		s.Text += looked(text, a.Args)
	case a.Kind == action.Changes && !o.Passed:
		s.Text += Result + "refused: " + w.why(text, o)
	case a.Kind == action.Changes:
		s.Changed = lists.Map(a.Files, func(f action.File) string { return f.Path })
	case a.Kind == action.Runs:
		s.Text += verdict(s.Check, w.printed(a, text))
		if o.Passed {
			changed := lists.Filter(a.Files, func(f action.File) bool {
				return f.Use != action.Read && !w.tries.holds(f.Path)
			})
			s.Changed = lists.Map(changed, func(f action.File) string { return f.Path })
		}
	case a.Kind == action.Delegates:
		if said := w.Report(text); said != "" {
			s.Text += Result + said
		}
	default:
		s.Text += found(text, a.Args)
		s.Git.MayCommit = strings.Contains(lower.Text(a.Tool), "commit")
		if undoes(a.Tool) {
			s.Undone = lists.Map(a.Args, func(arg action.Arg) string { return arg.Value })
		}
	}
	s.Text = clip.OneLine(s.Text)
	return s
}

// verdict is what a command put out, with how it ended where it is a check that passed: its last line may not say so.
func verdict(check Ended, printed string) string {
	said, more := strings.CutPrefix(printed, Result+"[...]")
	switch {
	case !check.Passed || printed != "" && !more:
		return printed
	case more:
		return Result + "passed: [...]" + said
	}
	return Result + "passed"
}

// inTry says where a script ran that changed something in a folder to try something in, unless it says so itself.
func inTry(a *action.Action, t *tries) string {
	acts := lists.Filter(a.Steps, func(s action.Step) bool { return s.Kind == action.Acts })
	place := cmp.Or(t.of(acts), t.inOwn(nil, acts), amongTemporary(acts))
	says := func(word string) bool { return word == place || word == path.Base(place) }
	if place == "" || slices.ContainsFunc(strings.Fields(line(a)), says) {
		return ""
	}
	return " in " + place
}

// maxPut is how much is told of the line that an edit puts into a file, in characters.
const maxPut = 80

// puts is the line that says most of what an edit puts into a file, quoted.
func puts(a *action.Action) string {
	line := a.Puts()
	if line == "" || len(a.Files) != 1 {
		return ""
	}
	return " `" + strings.ReplaceAll(clip.Line(line, maxPut), "`", "'") + "`"
}

// refused is a call that the person rejected, in short, and what they said to it.
func refused(a *action.Action, text string, name func(string) string) string {
	what := a.Tool
	switch a.Kind {
	case action.Runs:
		what = whole(a)
	case action.Changes:
		what += " " + name(a.Path()) + puts(a)
	default:
		what += listed(a)
	}
	if _, words, ok := strings.Cut(text, toldInstead); ok {
		what += ": \"" + clip.Line(words, maxScript) + "\""
	}
	return what
}

// ended is how the checks of a script ended.
func ended(w *Work, a *action.Action, text string, o outcome.Outcome) Ended {
	name, list := checkName(a), a.Checks()
	switch {
	case name == "":
		return hook(w, a, text, o)
	case outcome.Rejected(text) || setsAside(a) || (o.Failed || o.Told) && outcome.NeverRan(text):
		return Ended{}
	case o.Passed:
		return Ended{Name: name, Checks: slices.Concat(list, w.harness.Below(a, text)), Passed: true}
	case !o.Failed || !blamed(a, text):
		return Ended{Name: name, Checks: list}
	}
	why := cmp.Or(w.harness.Known.Reason(text), first(o.Lines, ""))
	return Ended{Name: name, Checks: list, Failed: true, Why: withTests(clip.Line(why, maxAnswer), text)}
}

// setsAside reports whether a script puts changes away, runs checks, and takes them back: how the checks ended says
// nothing of what is there now.
func setsAside(a *action.Action) bool {
	away := false
	for i := range a.Steps {
		s := &a.Steps[i]
		switch back := begins(*s, "git stash pop") || begins(*s, "git stash apply"); {
		case away && back:
			return true
		case begins(*s, "git stash") && !back:
			away = true
		}
	}
	return false
}

// withTests is why a check failed, and behind it which tests did where more than one did.
func withTests(why, text string) string {
	if failing := outcome.Failing(text); failing != "" {
		return strings.TrimPrefix(why+" / "+failing, " / ")
	}
	return why
}

// sought is what a search looks for, and where; of another look-up what it is about.
func sought(a *action.Action) string {
	if !a.Searches() {
		return ending(a.About)
	}
	if len(a.Files) == 0 {
		return ending(a.About) + onlyFiles(a)
	}
	for _, arg := range a.Args {
		if arg.Value != a.Path() && slices.Contains(patternKeys, arg.Key) {
			return "\"" + arg.Value + "\"" + " in " + ending(a.Path()) + onlyFiles(a)
		}
	}
	return ending(a.About) + onlyFiles(a)
}

// onlyFiles says which files of a folder a search looked in, where it did not look in all.
func onlyFiles(a *action.Action) string {
	for _, arg := range a.Args {
		if slices.Contains([]string{"glob", "include", "type", "file_pattern"}, arg.Key) && arg.Value != "" {
			return " (" + arg.Value + ")"
		}
	}
	return ""
}

// patternKeys are names of arguments that hold what a search looks for.
var patternKeys = []string{"pattern", "query", "regex", "search_term", "q"}

// ending is a path without the folders far above, and a mark where some are left out.
func ending(subject string) string {
	if strings.Count(subject, "/") < 3 || strings.ContainsAny(subject, " :\"'") {
		return subject
	}
	return "…/" + path.Base(path.Dir(subject)) + "/" + path.Base(subject)
}

// why is what a result says of what failed, and of why it did.
func (w *Work) why(text string, o outcome.Outcome) string {
	said, reason := clip.Line(first(o.Lines, text), maxAnswer), w.harness.Known.Reason(text)
	if reason != "" && !strings.Contains(said, reason) && !strings.Contains(reason, said) {
		said += " / " + clip.Line(reason, maxAnswer)
	}
	return withTests(said, text)
}

// printed is what a command that ended well put out: the commit that it made, what
// identifies a document, a few lines, or else the last one, without what its harness added.
// Of a text that it shows a line says nothing.
func (w *Work) printed(a *action.Action, text string) string {
	if list := w.committed(a, text); len(list) > 0 {
		return Result + "committed " + strings.Join(list, ", ")
	}
	var last []string
	n, tested := 0, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		added := outcome.SaysExit(line) ||
			slices.ContainsFunc(prompts, func(p string) bool { return strings.HasPrefix(line, p) })
		if line != "" && !added {
			last, n = append(last[max(0, len(last)+1-fewLines):], line), n+1
			if strings.HasPrefix(line, "ok ") && !strings.HasSuffix(line, noTests) {
				tested = line
			}
		}
	}
	switch {
	case n == 1 && last[0][0] == '{':
		return w.harness.Known.Value(last[0], identified)
	case n > fewLines && len(a.Commands) > 0 && strings.HasPrefix(text, "diff --git "):
		return differs(text)
	case n > fewLines && outcome.ShowsText(a.Commands):
		return hits(a, text)
	case n == 0 || len(last[len(last)-1]) > maxPrinted:
		return ""
	case n <= fewLines:
		return Result + clip.Line(strings.Join(last, " / "), maxAnswer)
	}
	if strings.HasSuffix(last[len(last)-1], noTests) && tested != "" {
		return Result + clip.Line("[...] "+tested, maxOutput) + " [...]"
	}
	return Result + clip.Line("[...] "+last[len(last)-1], maxOutput)
}

// noTests ends what go test says of a package in which no test matched: others may have some.
const noTests = "[no tests to run]"

// fewLines is how many lines of an output are told all.
const fewLines = 3

// maxPrinted is how long a line is, in bytes, that a person may read.
const maxPrinted = 500

// prompts begin lines that a harness adds to the output of a command.
var prompts = []string{"<", "[The command completed", "[Current working directory", "[Python interpreter", "bash-$",
	"(Open file:",
	"(Current directory:", "Output:", "Chunk ID:", "Wall time:", "Duration:", "Process exited with",
	"Original token count:",
	"Exit code",
	"Command: "}
