package note

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/wordlist"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// standing is how things stood: what was committed, where and whether it was pushed, what was changed and staged since,
// and which checks failed when they last ran. A session tells it in pieces far apart. It is followed through the
// messages that stay below too: what they undo must not be told as it was.
type standing struct {
	commit   string // with its subject; empty where calls show none
	there    bool   // the commit stands in messages that stay below
	on       string // the branch of the commit
	branch   string // that is checked out
	push     push   // of the commit
	files    []string
	more     int      // files that are not named
	staged   []string // since the commit
	checks   []failing
	rejected []rejection
	// used: git was used; there is a repository, by its name in what was read; edited: files were changed; unsure:
	// something may have been committed of which nothing is known.
	used, repository, edited, unsure bool

	use work.Use // of all calls
	// tried: git ran in a repository that was made to try something in.
	tried bool
	// below: what follows stays below the last message that goes. What failed and was rejected there tells itself, and
	// the next note counts it.
	below bool
}

// failing is a check that failed when it last ran.
type failing struct {
	check string         // as it is told
	left  []action.Check // those of it that have not passed since
	turn  int
	edits int // calls that changed files since
	why   string
	below bool // it ran in a message that stays below
}

// rejection is a call that the person did not allow.
type rejection struct {
	call  string // with the number of its turn, and what the person said to it
	file  string // that it was to change, by its path; empty for other calls, and where it was read back
	later bool   // another call changed that file later
}

func (r rejection) String() string {
	if r.later {
		return r.call + changedLater
	}
	return r.call
}

// push says what is known of a push behind the last commit.
type push uint8

const (
	notPushed push = iota
	pushed
	mayBePushed
)

const (
	maxChanged  = 30 // files that were changed since a commit and are named
	maxStaged   = 12
	maxFailing  = 3 // checks that are told
	maxRejected = 6
)

// take follows a call of a turn. Name says what a file is called.
func (s *standing) take(step work.Step, turn int, name func(string) string) {
	for _, f := range step.Changed {
		s.changed(name(f))
		for i := range s.rejected {
			s.rejected[i].later = s.rejected[i].later || s.rejected[i].file == f
		}
	}
	if step.Rejected != "" && !s.below {
		s.rejected = append(s.rejected, rejection{call: fmt.Sprintf("[%d] %s", turn, step.Rejected),
			file: step.RejectedFile})
		s.rejected = s.rejected[max(0, len(s.rejected)-maxRejected):]
	}
	for i := range s.checks {
		if len(step.Changed) > 0 && !s.below {
			s.checks[i].edits++
		}
	}
	s.git(step.Git, len(step.Changed) > 0)
	s.ran(step.Check, turn)
}

// checksElsewhere is how an agent speaks of checks that run elsewhere, on a commit: how they stand changes by itself.
var checksElsewhere = lazy.Regexp(`(?i)\b(pipeline|workflow run|build|checks?)s? (is|are) (still )?` +
	`(pending|running|queued|in progress)\b`)

// dated are the closing words of an agent with the last commit where they speak of such checks.
func (s *standing) dated(said string) string {
	hash, _, _ := strings.Cut(s.commit, " ")
	if hash == "" || strings.Contains(said, hash) || !waits(said) {
		return said
	}
	return said + commitThen + hash + ")"
}

// waiting are the states of such a check, behind the verb. Few words have any.
var waiting = wordlist.Of("is pending", "are pending", "is running", "are running", "is queued", "are queued",
	"is in progress", "are in progress", "is still", "are still")

// waits reports whether words speak of such checks.
func waits(said string) bool {
	return hasWord(said, "CI") || waiting.In(lower.Text(said)) && checksElsewhere().MatchString(said)
}

// hasWord reports whether a text has a word of letters of ASCII, whole and in this case.
func hasWord(text, word string) bool {
	goesOn := func(c byte) bool { return c == '_' || '0' <= c && c <= '9' || isSmall(c|0x20) }
	for end := 0; ; {
		i := strings.Index(text[end:], word)
		if i < 0 {
			return false
		}
		begin := end + i
		end = begin + len(word)
		if (begin == 0 || !goesOn(text[begin-1])) && (end == len(text) || !goesOn(text[end])) {
			return true
		}
	}
}

// commitThen begins the date of words on checks: the last commit before them.
const commitThen = " (last commit then: "

// gitFolder is the folder of a repository in a path.
var gitFolder = lazy.Regexp(`(^|[^\w.-])\.git/`)

// sees takes a text of the session: where it names the folder of a repository there is one.
func (s *standing) sees(text string) {
	if !s.repository && strings.Contains(text, ".git/") {
		s.repository = gitFolder().MatchString(text)
	}
}

// changed follows a file that was changed. An earlier note may have told it by its path.
func (s *standing) changed(file string) {
	at := slices.IndexFunc(s.files, func(o string) bool { return o == file || path.Base(o) == file })
	switch {
	case at >= 0:
		s.files[at] = file
	case len(s.files) == maxChanged:
		s.more++
	default:
		s.files = append(s.files, file)
	}
}

// git follows what a call did to the repository.
func (s *standing) git(g work.Git, edited bool) {
	s.used, s.tried, s.edited = s.used || g.Used, s.tried || g.Tried, s.edited || edited
	if g.Branch != "" {
		s.branch = g.Branch
	}
	if s.unsure = s.unsure || g.MayCommit; g.Unstaged {
		s.staged = nil
	}
	for _, f := range g.Staged {
		if !slices.Contains(s.staged, f) && len(s.staged) < maxStaged {
			s.staged = append(s.staged, f)
		}
	}
	if g.Commit != "" {
		s.commit, s.on, s.push, s.files, s.more, s.staged = g.Commit, g.Branch, notPushed, nil, 0, nil
		s.there = s.below
	} else if g.MayCommit {
		s.commit = ""
	}
	switch {
	case g.Pushed:
		s.push = pushed
	case g.MayPush && s.push == notPushed:
		s.push = mayBePushed
	}
}

// ran follows checks that ran together. One that ran again has not failed when it last ran, unless it is known that it
// did. One that passes settles those that are it, and those of which it is the whole.
func (s *standing) ran(c work.Ended, turn int) {
	if c.Name == "" {
		return
	}
	for i := range s.checks {
		if f := &s.checks[i]; c.Passed {
			f.left = action.Unsettled(f.left, c.Checks)
		}
	}
	s.checks = slices.DeleteFunc(s.checks, func(f failing) bool { return action.AmongChecks(f.left, c.Checks) })
	if c.Failed {
		s.checks = append(s.checks, failing{check: c.Name, left: c.Checks, turn: turn, why: c.Why, below: s.below})
		if !s.below {
			s.checks = s.checks[max(0, len(s.checks)-maxFailing):]
		}
	}
}

// lost forgets how a check ended that ran again without a result.
func (s *standing) lost(calls []string) {
	for _, call := range calls {
		ran := action.ReadChecks(strings.Trim(call, "`"))
		s.checks = slices.DeleteFunc(s.checks, func(f failing) bool { return action.AmongChecks(f.left, ran) })
	}
}

// Lines on how things stood. They are read back.
const (
	commitMark   = "Last commit: "
	commitBelow  = "Last commit, in the messages below: "
	onBranch     = " on branch "
	branchMark   = "Branch: "
	withPush     = ", pushed"
	withoutPush  = ", not pushed"
	onlyLooked   = "The agent itself has changed nothing so far: it only read or searched"
	andHanded    = ", and handed work to other agents"
	noCommit     = "The agent committed nothing in these messages."
	noGit        = "No commit was seen in these messages, and no command of git."
	sinceMark    = "Changed since: "
	stagedMark   = "Staged since: "
	failingMark  = "Failed when it last ran: "
	rejectedMark = "Rejected by the person: "
	changedLater = " (that file was changed by a later call)"
	editsMark    = " later calls changed files)"
	andMore      = ", and "
)

// looked reports whether the agent did nothing but look, or hand work to others that it looked at.
func (s *standing) looked() bool { return s.use.Looked && !s.use.Acted }

// lines tell how things stood. Told is what is told of the last steps already.
func (s *standing) lines(told string) (lines []string) {
	if s.commit != "" {
		line := commitMark + s.commit
		if s.there {
			line = commitBelow + s.commit
		}
		if s.on != "" {
			line += onBranch + s.on
		}
		switch s.push {
		case pushed:
			line += withPush
		case notPushed:
			line += withoutPush
		}
		lines = append(lines, line)
	}
	if s.branch != "" && (s.commit == "" || s.on != s.branch) {
		lines = append(lines, branchMark+s.branch)
	}
	switch {
	case s.looked() && s.use.Delegated:
		lines = append(lines, onlyLooked+andHanded+".")
	case s.looked():
		lines = append(lines, onlyLooked+".")
	case s.commit == "" && s.used && s.edited && !s.unsure:
		lines = append(lines, noCommit)
	case s.commit == "" && s.repository && !s.tried && s.edited && !s.unsure:
		lines = append(lines, noGit)
	case s.commit != "" && len(s.files) > 0:
		line := sinceMark + strings.Join(s.files, ", ")
		if s.more > 0 {
			line += fmt.Sprintf("%s%d more", andMore, s.more)
		}
		lines = append(lines, line)
	}
	if len(s.staged) > 0 {
		lines = append(lines, stagedMark+strings.Join(s.staged, ", "))
	}
	if len(s.rejected) > 0 {
		lines = append(lines, rejectedMark+strings.Join(lists.Map(s.rejected, rejection.String), "; "))
	}
	for _, f := range s.checks {
		if !f.below && (f.why == "" || !strings.Contains(told, f.why)) {
			lines = append(lines, f.String())
		}
	}
	return lines
}

func (f failing) String() string {
	line := fmt.Sprintf("%s`%s` in [%d]", failingMark, f.check, f.turn)
	if f.why != "" {
		line += ": " + f.why
	}
	if f.edits > 0 {
		line += fmt.Sprintf(" (%d%s", f.edits, editsMark)
	}
	return line
}

// holdsMark begins the line on what calls made that no later one took back, where some were.
const holdsMark = "Not taken back by a later call: "

// holding tells what calls made that still holds, where a later call took back what another one to the same tool made.
func holding(turns []turn) []string {
	back := make(map[string]bool)
	var made [][2]string // a tool, and how what it made is told
	for i := range turns {
		for _, line := range turns[i].came {
			call, found, ok := strings.Cut(line, work.Result)
			tool, _, _ := strings.Cut(strings.TrimPrefix(call, work.Called), " ")
			id, _, _ := strings.Cut(found, ", ")
			switch {
			case !ok || !strings.HasPrefix(line, work.Called):
			case strings.Contains(line, takenBack):
				back[tool] = true
			default:
				made = append(made, [2]string{tool, fmt.Sprintf("[%d] %s%s%s", turns[i].n, tool, work.Result, id)})
			}
		}
	}
	made = lists.Filter(made, func(m [2]string) bool { return back[m[0]] })
	if len(made) == 0 {
		return nil
	}
	held := lists.Map(made[max(0, len(made)-maxRejected):], func(m [2]string) string { return m[1] })
	return []string{holdsMark + strings.Join(held, "; ")}
}

// read takes a line back, and reports whether it was one.
func (s *standing) read(line string) bool {
	rest, ok := strings.CutPrefix(line, commitMark)
	if !ok {
		rest, ok = strings.CutPrefix(line, commitBelow)
	}
	if ok {
		s.push = mayBePushed
		if before, ok := strings.CutSuffix(rest, withPush); ok {
			rest, s.push = before, pushed
		} else if before, ok := strings.CutSuffix(strings.TrimSuffix(rest, " since"), withoutPush); ok {
			rest, s.push = before, notPushed
		}
		s.commit = rest
		if i := strings.LastIndex(rest, onBranch); i >= 0 {
			s.commit, s.on = rest[:i], rest[i+len(onBranch):]
			s.branch = s.on
		}
		return true
	}
	if rest, ok := strings.CutPrefix(line, branchMark); ok {
		s.branch = rest
		return true
	}
	if rest, ok := strings.CutPrefix(line, sinceMark); ok {
		files, more, _ := strings.Cut(rest, andMore)
		s.files = strings.Split(files, ", ")
		s.more, _ = strconv.Atoi(strings.TrimSuffix(more, " more"))
		return true
	}
	if rest, ok := strings.CutPrefix(line, stagedMark); ok {
		s.staged = strings.Split(rest, ", ")
		return true
	}
	if rest, ok := strings.CutPrefix(line, rejectedMark); ok {
		s.rejected = lists.Map(strings.Split(rest, "; "), func(told string) rejection {
			call, later := strings.CutSuffix(told, changedLater)
			return rejection{call: call, later: later}
		})
		return true
	}
	if rest, ok := strings.CutPrefix(line, failingMark+"`"); ok {
		check, rest, _ := strings.Cut(rest, "` in [")
		turn, why, ok := strings.Cut(rest, "]")
		n, err := strconv.Atoi(turn)
		if ok && err == nil {
			edits := 0
			if rest, ok := strings.CutSuffix(why, editsMark); ok {
				i := strings.LastIndex(rest, " (")
				edits, _ = strconv.Atoi(rest[i+2:])
				why = rest[:max(i, 0)]
			}
			s.checks = append(s.checks, failing{check: check, left: action.ReadChecks(check), turn: n, edits: edits,
				why: strings.TrimPrefix(why, ": ")})
		}
		return true
	}
	if strings.HasPrefix(line, holdsMark) {
		return true // the thread tells it
	}
	if rest, ok := strings.CutPrefix(line, onlyLooked); ok {
		s.use = work.Use{Looked: true, Delegated: strings.HasPrefix(rest, andHanded)}
		return true
	}
	if line == noCommit {
		s.used, s.edited, s.unsure = true, true, false
		return true
	}
	if line == noGit {
		s.repository, s.edited, s.unsure = true, true, false
		return true
	}
	return false
}
