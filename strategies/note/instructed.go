package note

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// What a skill or a message of the system binds an agent to stands there in sentences ("Never ...", "You must ..."), in
// lists under a heading that says so ("STOP - rules"), and as a law in a block of its own. Each is told word for word,
// with what it stands under where it says nothing without that.

const (
	maxInstructed = 20  // rules of one text that are told
	maxRules      = 80  // and remembered, for those to be chosen of
	maxSays       = 200 // of a sentence or an entry, in characters
	maxGroup      = 480 // of a list of rules
	maxCondition  = 40  // that a line begins with, in bytes
	maxLaw        = 3   // lines of a law in a block
	maxLaws       = 40  // lines of a block of several
	maxLawLine    = 120 // of one of them, in bytes
	fewWords      = 4   // a sentence of so many says nothing without the one before it
	noWords       = 3   // and a line of so many nothing without its heading
	minCapitals   = 4   // words in capitals that are a law wherever they stand
	minWrapped    = 50  // how long lines are, in bytes, that were wrapped, at the least
	maxWrapped    = 120 // and at the most
)

var (
	// forbiddingWords are how rules say what must not be done, demandingWords what must; beginWords do at the beginning of
	// a sentence alone.
	forbiddingWords = newVocabulary("forbidding")
	demandingWords  = newVocabulary("demanding")
	beginWords      = newVocabulary("beginning demands")
	// rulesWords are in the headings of rules.
	rulesWords = newVocabulary("rules")
	// banningWords begin entries that name what must not be, ruleLabels end what a line begins with that is a rule.
	banningWords = newVocabulary("banning")
	// conditionWords begin what an entry holds for, in the rules of a project.
	conditionWords = newVocabulary("conditions")
	ruleLabels     = newWordSet("labels")
)

// instructions collects the rules of a text.
type instructions struct {
	lines []saying
	list  []string
	left  int // rules that there is no room for
	held  int // lines that hold rules
	// project: a project says there how to work on it.
	project bool
	agent   string // whose it is, by its folder; empty where that is not known
	others  bool   // a line holds for another one
	group   int    // the place of the heading whose entries the last rule is made of; -1 where it is made of none
	more    int    // entries of it that are left out
}

// instructed are the rules of a text, in order, how many more it has, and how many lines that hold none.
// Project: a project says there how to work on it. Agent is whose it is, see agentOf.
func instructed(text string, project bool, agent string) (list []string, left, rest int) {
	text = unwrapped(text)
	lines, _ := sayings(text)
	in := instructions{lines: lines, group: -1, project: project, agent: agent}
	blocks := laws(text)
	law := func(l law) {
		in.add(l.text)
		in.held += l.lines
	}
	for _, l := range lines {
		for len(blocks) > 0 && blocks[0].place < l.place {
			law(blocks[0])
			blocks = blocks[1:]
		}
		if !isHeading(l.text) && !isCode(l.text) {
			if in.line(l) {
				in.held++
			}
		}
	}
	for _, l := range blocks {
		law(l)
	}
	return in.list, in.left, max(0, linesOf(text)-in.held)
}

// linesOf is how many lines a text has, but for headings, marks of blocks and rules between others.
func linesOf(text string) (n int) {
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if isFence(line) {
			code = !code
		} else if strings.Trim(line, "-|: ") != "" && (code || !isHeading(line)) {
			n++
		}
	}
	return n
}

// add takes a rule.
func (in *instructions) add(said string) {
	in.group, in.more = -1, 0
	if slices.ContainsFunc(in.list, func(s string) bool { return strings.Contains(s, said) }) {
		return
	}
	if len(in.list) == maxRules {
		in.left++
		return
	}
	in.list = append(in.list, said)
}

// line takes the rules of a line: an entry of a list of rules, what a label says is one, or its sentences that are
// some. It reports whether there are any.
func (in *instructions) line(l saying) (any bool) {
	bare, item := listItem(l.text)
	inner, above := in.above(l)
	if strings.HasPrefix(bare, "✅") { // an example
		return false
	}
	if bare = plain(bare); item && isRules(inner) {
		in.entry(l.under, above, shortened(bare, maxSays))
		return true
	}
	where, before := condition(bare), ""
	if in.forOthers(where) {
		in.others = true
		return false
	}
	if where != "" && (in.others && otherWords.says(where) || isLabel(where) ||
		item && in.project && conditionWords.begins(where)) {
		in.add(shortened(bare, maxSays))
		return true
	}
	heads := !item && l.place == l.under+1 && isLabel(inner) // the line is what the heading announces
	for s := range sentences(bare) {
		if heads && !strings.HasSuffix(s, ":") {
			in.add(shortened(above+" "+s, maxSays))
			before, heads, any = s, false, true
			continue
		}
		if isQuestion(s) || strings.HasSuffix(s, ":") ||
			!forbids(s) && !demands(s) && !bids(s, item && in.project) && !(item && in.bans(s, l.text)) {
			before = s
			continue
		}
		in.sentence(s, before, where, above, item && isOccasion(inner))
		before, any = s, true
	}
	return any
}

// isOccasion reports whether an entry of a list holds on an occasion alone that its heading names: a step of how
// something is done ("Releasing"), or what holds "when creating issues". Without it, it reads as a standing order.
func isOccasion(heading string) bool {
	return heading != "" && (conditionWords.begins(heading) || occasionWords.begins(heading))
}

// occasionWords begin headings of how something is done.
var occasionWords = newVocabulary("occasions")

// sentence takes a rule with what it says nothing without: the sentence before it, what its line holds for, or the
// heading, which an occasion is told with too.
func (in *instructions) sentence(s, before, where, above string, occasion bool) {
	with := func(s string) string {
		switch {
		case where != "" && !strings.HasPrefix(s, where):
			return where + leftOutHere + " " + s
		case (occasion || strings.Count(s, " ") < noWords) && above != "":
			return above + " " + s
		}
		return s
	}
	if before != "" && strings.Count(s, " ") < fewWords {
		if n := len(in.list); n > 0 && in.list[n-1] == shortened(with(before), maxSays) {
			in.list = in.list[:n-1] // it is told with this one
		}
		s = before + " " + s
	}
	in.add(shortened(with(s), maxSays))
}

// isRules reports whether what stands under a heading is what must be done, or must not be.
func isRules(heading string) bool {
	return forbiddingWords.says(heading+" ") || demands(heading) || rulesWords.says(heading+" ") ||
		insteadWords.has(bareHeading(heading))
}

// above is the innermost line that a line stands under, empty where it says nothing, and that as it stands before the
// line: "Always:" says nothing of when, so what it stands under itself comes first.
func (in *instructions) above(l saying) (inner, told string) {
	list := headings(in.lines, l)
	n := len(list)
	if n == 0 || isGeneral(list[n-1].text) {
		return "", ""
	}
	inner = label(asHeading(list[n-1].text))
	if n > 1 && !strings.Contains(inner, " ") && demands(inner) {
		return inner, label(asHeading(list[n-2].text)) + " " + inner
	}
	return inner, inner
}

// label is a heading as it stands before what it is the heading of on one line.
func label(heading string) string {
	if bare := strings.Trim(heading, "*"); bare != heading {
		return bare + ":"
	}
	return heading
}

// entry takes an entry of a list of rules: all of them are one rule, under their heading.
func (in *instructions) entry(place int, above, text string) {
	if in.group != place {
		n := len(in.list)
		if n > 0 && in.list[n-1]+":" == above {
			in.list, n = in.list[:n-1], n-1 // the heading is a rule itself
		}
		if in.add(above + " " + text); len(in.list) > n {
			in.group = place
		}
		return
	}
	last := &in.list[len(in.list)-1]
	*last = strings.TrimSuffix(*last, fmt.Sprintf("; [%d"+moreEntries, in.more))
	if in.more > 0 || utf8.RuneCountInString(*last)+utf8.RuneCountInString(text) > maxGroup {
		in.more++
		*last += fmt.Sprintf("; [%d"+moreEntries, in.more)
		return
	}
	*last += "; " + text
}

// condition is what all of a line holds for, where it begins with that: "In Claude Code:".
func condition(line string) string {
	lead, _, ok := strings.Cut(line, ": ")
	if !ok || len(lead) > maxCondition || strings.ContainsAny(lead, ".!?") {
		return ""
	}
	return lead + ":"
}

// isLabel reports whether what a line begins with says that it is a rule: "The rule:".
func isLabel(where string) bool {
	words := strings.Fields(lower.Text(strings.Trim(where, ": ")))
	return len(words) > 0 && ruleLabels.has(words[len(words)-1])
}

// bans reports whether an entry of a list names what must not be: "No emojis in commits", and not "No key is needed".
// In a skill it may be what goes wrong, unless it stands out: "**No emojis**".
func (in *instructions) bans(entry, line string) bool {
	if bare, _ := listItem(line); !in.project && !strings.HasPrefix(bare, "**") {
		return false
	}
	return banningWords.begins(strings.TrimLeft(entry, "\"'(*_ ")) && strings.Contains(entry, " ") &&
		!states().MatchString(entry)
}

// states is how a sentence says that something is so.
var states = lazy.Regexp(`(?i)^no[,.]|` +
	` (is|are|was|were|has|have|exists?|required|needed|found|yet|problem|worries)\b`)

// forbids reports whether a sentence says what must not be done, and not what need not be, or what is not so: "you
// don't need it", "the fonts do not have it".
func forbids(s string) bool { return forbiddingWords.says(s+" ") && forbiddingWords.in(bidding(s)) }

// demands reports whether a sentence says what must be done.
func demands(s string) bool {
	return demandingWords.in(bidding(s)) || beginWords.begins(strings.TrimLeft(s, "\"'(*_ ")) ||
		toolcall.HasAny(s, loudWords) && loud().MatchString(s)
}

// loudWords are words in capitals by which a sentence demands, loud is one of them as a whole word.
var (
	loudWords = []string{"ALWAYS", "MUST", "ONLY"}
	loud      = lazy.Regexp(`\b(` + strings.Join(loudWords, "|") + `)\b`)
)

// bidding is a sentence in lower case without the words that bind, where they do not. Few have any.
func bidding(s string) string {
	low := lower.Text(s)
	if !negates(low) {
		return low + " "
	}
	low = needless().ReplaceAllString(low, "")
	return doNot().ReplaceAllStringFunc(low, func(not string) string {
		if who, _, _ := strings.Cut(not, " "); !joining[who] {
			return who
		}
		return not
	}) + " "
}

// negates reports whether a sentence in lower case has a word of which one is that [needless] and [doNot] look for.
func negates(low string) bool {
	return strings.Contains(low, "not") || strings.Contains(low, "n't") || strings.Contains(low, "n’t") ||
		strings.Contains(low, "never")
}

var (
	needless = lazy.Regexp(`(do not|don't|don’t) (need|have|want|worry|hesitate|mind|know|think|` +
		`like|understand|believe|exist|work)|` +
		`\b(i|we|they|it|that|which|who|has|have|had|was|were|is|are) never\b|\byou never (saw|had|did|got|were)\b|` +
		`\bnever [a-z]+[^s\W]s\b|` +
		`\bmay not (be|contain|have|exist|work)\b`)
	// doNot is a word and what somebody does not do: what the word names, unless it joins.
	doNot   = lazy.Regexp(`[\p{L}\d]+ (do not|don't|don’t)\b`)
	joining = set.Of("and", "but", "or", "so", "then", "please", "just", "also", "instead", "if", "important")
)

// unwrapped is a text whose paragraphs are one line each, where they were wrapped at a width.
func unwrapped(text string) string {
	var b strings.Builder
	fenced, wraps := false, false
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		marks := strings.HasPrefix(line, fence)
		if marks {
			fenced = !fenced
		}
		bare, item := listItem(line)
		first, _ := utf8.DecodeRuneInString(line)
		says := unicode.IsLetter(first) || unicode.IsDigit(first) || strings.ContainsRune("`\"'(", first)
		goesOn := wraps && !marks && !item && says
		switch {
		case b.Len() == 0:
		case goesOn:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		if goesOn {
			b.WriteString(line)
		} else {
			b.WriteString(strings.TrimRight(raw, "\r\n"))
		}
		wraps = !fenced && !marks && len(line) >= minWrapped && len(line) <= maxWrapped && !isHeading(line) &&
			line[0] != '|' && bare != "" && strings.IndexByte(".:!?", line[len(line)-1]) < 0
	}
	return b.String()
}

// law is a block that is a rule, or a part of one, and of how many lines.
type law struct {
	place, lines int
	text         string
}

// laws are the blocks of a text that are no code, and rules: a few lines under a heading that says so, a line in
// capitals, and lines under one that says when they hold. The first two are told with their heading.
func laws(text string) (list []law) {
	var block []string // its lines as they stand there
	place, from, above, fenced, tagged := 0, 0, "", false, false
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		if strings.Trim(line, "-|: ") == "" {
			continue
		}
		switch marks := strings.HasPrefix(line, fence); {
		case marks && fenced:
			if !tagged {
				list = append(list, lawsOf(block, above, from)...)
			}
			fenced = false
		case marks:
			fenced, block, from, tagged = true, nil, place, line != fence
		case fenced:
			tagged = tagged || len(line) > maxLawLine || len(block) == maxLaws
			if !tagged {
				block = append(block, strings.TrimRight(raw, " \r\n"))
			}
		case isHeading(line):
			above = label(asHeading(line))
		}
		place++
	}
	return list
}

// lawsOf are those of one block under a heading.
func lawsOf(block []string, above string, place int) (list []law) {
	if said := strings.Join(lists.Map(block, strings.TrimSpace), "; "); len(block) <= maxLaw && len(block) > 0 {
		named := strings.Contains(lower.Text(above), "rule") || rulesWords.says(above)
		if named || isCapital(said) {
			return []law{{place, len(block), strings.TrimSpace(above + " " + said)}}
		}
	}
	holds := false // the lines stand under one that says when
	for _, raw := range block {
		line := strings.TrimSpace(raw)
		begins := raw[0] != ' ' && raw[0] != '\t'
		number, _ := entryNumber(line)
		switch _, item := listItem(line); {
		case begins && when(line):
			list, holds = append(list, law{place, 1, line}), true
		case !holds || begins && !item && number == "":
			holds = false
		default:
			l := &list[len(list)-1]
			l.lines++
			*l = l.with(line)
		}
	}
	return list
}

// with is a law with one more line.
func (l law) with(line string) law {
	const more = "; [%d" + moreEntries
	before, left := l.text, 0
	if i := strings.LastIndex(l.text, "; ["); i >= 0 {
		if _, err := fmt.Sscanf(l.text[i:], more, &left); err == nil {
			before = l.text[:i]
		}
	}
	switch {
	case left > 0 || utf8.RuneCountInString(before)+utf8.RuneCountInString(line) > maxGroup:
		l.text = before + fmt.Sprintf(more, left+1)
	case strings.HasSuffix(before, ":"):
		l.text = before + " " + line
	default:
		l.text = before + "; " + line
	}
	return l
}

// when reports whether a line of a block says, in capitals, when the lines under it hold: "IF any item is unclear:".
func when(line string) bool {
	word, rest, ok := strings.Cut(line, " ")
	return ok && whens[word] && strings.Contains(rest, " ") && strings.ToUpper(rest) != rest && !code().MatchString(rest)
}

// whens begin such lines, code is what stands in code alone.
var (
	whens = set.Of("IF", "WHEN", "WHENEVER", "BEFORE", "AFTER", "FOR", "UNLESS", "UNTIL", "NEVER", "ALWAYS", "STOP",
		"ONLY", "ONCE")
	code = lazy.Regexp(`;$|\{$|\bTHEN$|==|:=| = |\)\s*$|^\w+ IN `)
)

// isCapital reports whether a line is a few words in capitals.
func isCapital(line string) bool {
	strange := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(" ,.-'’!", r) }
	return strings.Count(line, " ") >= minCapitals-1 && strings.ToUpper(line) == line &&
		!strings.ContainsFunc(line, strange)
}
