package note

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/excerpt"
)

// readThread reads the turns of an earlier note back.
func readThread(lines []string) (turns []turn) {
	var words, said []string
	end := func() {
		if len(turns) > 0 && len(said) > 0 {
			turns[len(turns)-1].takeSaid(strings.Join(said, "\n"))
		}
		said = nil
		if len(turns) > 0 && len(words) > 0 {
			last := &turns[len(turns)-1]
			last.words = strings.Join(words, "\n")
			last.cut = strings.Contains(last.words, excerpt.LeftOut)
		}
		words = nil
	}
	for _, line := range lines {
		if t, ok := readHead(line); ok {
			end()
			turns = append(turns, t)
			continue
		}
		if len(turns) == 0 {
			continue
		}
		last := &turns[len(turns)-1]
		if text, ok := strings.CutPrefix(line, "- "+agentMark); ok {
			said = []string{text}
		} else if text, ok := strings.CutPrefix(line, moreLine); ok && len(said) > 0 {
			said = append(said, text)
		} else if text, ok := strings.CutPrefix(line, "- "); ok {
			if isWorked(text) {
				text = workedOn
			}
			last.came = append(last.came, text)
		} else if text, ok := strings.CutPrefix(line+" ", quoteMark); ok {
			words = append(words, strings.TrimSuffix(text, " "))
		}
	}
	end()
	return turns
}

// takeSaid takes closing words as an earlier note tells them. Where that had room for more of them than this one may
// have, they are told in short first; not so where they ask or refuse something: an answer may mean each part.
func (t *turn) takeSaid(text string) {
	text, t.refuted = strings.CutSuffix(text, refutedMark)
	t.said = text
	if plan, ok := strings.CutPrefix(text, planMark); ok {
		t.plans(withoutGapHeads(strings.TrimSpace(plan)))
		return
	}
	words, date := text, ""
	if at := strings.LastIndex(text, commitThen); at >= 0 {
		words, date = text[:at], text[at:]
	}
	if strings.Contains(words, "\n") {
		words = withoutGapHeads(words)
		t.said, t.fuller = closing(words)+date, fullerClosing(words)+date
		t.lines = strings.ReplaceAll(text, "\n", "\n"+moreLine)
		if ask := askedOf(words); ask.options {
			t.said, t.fuller = ask.said+date, ""
		}
		if t.fuller == t.said {
			t.fuller = ""
		}
		return
	}
	if utf8.RuneCountInString(words) <= maxSaid+2*maxQuestion || asks(words) || refusal(words).said != "" {
		return
	}
	if short := closing(words) + date; len(short) < len(text) {
		t.said, t.fuller = short, text
	}
}

// readHead reads the line that a turn begins with, or the one that stands for many.
func readHead(line string) (t turn, ok bool) {
	inner, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "]")
	if !ok || !strings.HasPrefix(line, "[") {
		return t, false
	}
	from, to, _ := strings.Cut(inner, "-")
	first, err := strconv.Atoi(from)
	if t.n = first; err != nil {
		return t, false
	}
	if to != "" {
		if t.n, err = strconv.Atoi(to); err != nil || t.n < first {
			return t, false
		}
	}
	number := func(mark string) (n int, ok bool) {
		_, after, _ := strings.Cut(rest, mark)
		digits, ok := strings.CutSuffix(after, "]")
		n, err := strconv.Atoi(digits)
		return n, ok && err == nil
	}
	var same bool
	if t.again, same = number(sameMark); same && to == "" {
		return t, true
	}
	size, counted, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if n, err := strconv.Atoi(size); err == nil && n > 0 && strings.HasPrefix(counted, "message") {
		t.folded = n
		t.again, same = number(againMark)
		if same || strings.Contains(rest, foldedMark) || strings.Contains(rest, foldedAlone) {
			return t, true
		}
	}
	stays, opens, _ := strings.Cut(strings.TrimSpace(rest), `: "`)
	t = turn{n: first, stays: stays, opens: strings.TrimSuffix(opens, `"`)}
	return t, to == "" && (stays == "" || stays == staysAbove || stays == staysBelow)
}

// maxFolded is how many numbers of a line that stands for many turns are remembered.
const maxFolded = 10_000

// toldOf is how many times longer words were, about, of which a note tells the most telling.
const toldOf = 2

// takeOver puts the turns of an earlier note before those that follow. Turns whose messages stay below wait for them.
// It returns by how much the numbers in that note shift: those of a second one go on.
func (t *thread) takeOver(e *former) (shift int) {
	if len(e.turns) == 0 {
		return 0 // somebody else's
	}
	var silent []turn // the last one, of which all stays so far: more of it may go behind the note
	if k := len(t.turns) - 1; k >= 0 && t.silent {
		silent = []turn{t.turns[k]}
	}
	if t.end(""); len(silent) > 0 && len(t.turns) > 0 && t.turns[len(t.turns)-1].n == silent[0].n {
		silent = nil // it is there still
	}
	t.turns, t.waits = append(t.turns, t.waits...), nil
	for i := range t.turns {
		shift = max(shift, t.turns[i].n)
	}
	for i := range e.turns {
		t.talked += toldOf * len(e.turns[i].said)
		e.turns[i].n += shift
		if e.turns[i].again > 0 {
			e.turns[i].again += shift
		}
	}
	last := &e.turns[len(e.turns)-1]
	t.steps, t.standing, t.known = e.steps, e.standing, last.n
	if last.stays == staysBelow {
		t.known--
	}
	for i := range t.steps {
		t.steps[i].turn += shift
	}
	if n := len(t.steps); n > 0 && t.steps[n-1].turn == last.n && !slices.ContainsFunc(last.came, isGoesOn) {
		t.asked = t.steps[n-1].said
	}
	t.resume(e.turns, silent)
	return shift
}

// resume takes the turns of an earlier note in. What stands next belongs to the last that went before the first that
// waits, or to the silent one where none did.
func (t *thread) resume(turns, silent []turn) {
	first := slices.IndexFunc(turns, func(o turn) bool { return o.stays == staysBelow })
	if first < 0 {
		first = len(turns)
	}
	before, after := turns[:first], turns[first:]
	for i := range after {
		if o := after[i]; o.stays == staysBelow {
			t.waits = append(t.waits, o)
		} else {
			t.turns = append(t.turns, o)
		}
	}
	t.used = make(map[int]bool)
	for _, o := range slices.Concat(before, t.turns) {
		for n := o.n - min(max(0, o.folded-1), maxFolded); n <= o.n; n++ {
			t.used[n] = true
		}
	}
	t.turns, t.taken = append(t.turns, before...), true
	if len(before) > 0 {
		t.n = before[first-1].n
	} else {
		t.turns, t.taken = append(t.turns, silent...), false
	}
}
