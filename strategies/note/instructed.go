package note

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/set"
)

// What a skill or a message of the system binds an agent to stands there in sentences ("Never ...", "You must ..."), in
// lists under a heading that says so ("STOP - rules"), and as a law in a block of its own. Each is told word for word,
// with what it stands under where it says nothing without that.

const (
	maxInstructed = 12  // rules of one text that are remembered
	maxSays       = 200 // of a sentence or an entry, in characters
	maxGroup      = 480 // of a list of rules
	maxCondition  = 40  // that a line begins with, in bytes
	maxLaw        = 3   // lines of a law in a block
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
)

// instructions collects the rules of a text.
type instructions struct {
	lines []saying
	list  []string
	left  int // rules that there is no room for
	group int // the place of the heading whose entries the last rule is made of; -1 where it is made of none
	more  int // entries of it that are left out
}

// instructed are the rules of a text, in order, and how many more it has.
func instructed(text string) (list []string, left int) {
	text = unwrapped(text)
	lines, _ := sayings(text)
	in := instructions{lines: lines, group: -1}
	rest := laws(text)
	for _, l := range lines {
		for len(rest) > 0 && rest[0].place < l.place {
			in.add(rest[0].text)
			rest = rest[1:]
		}
		if !isHeading(l.text) && !isCode(l.text) {
			in.line(l)
		}
	}
	for _, l := range rest {
		in.add(l.text)
	}
	return in.list, in.left
}

// add takes a rule.
func (in *instructions) add(said string) {
	in.group, in.more = -1, 0
	if slices.ContainsFunc(in.list, func(s string) bool { return strings.Contains(s, said) }) {
		return
	}
	if len(in.list) == maxInstructed {
		in.left++
		return
	}
	in.list = append(in.list, said)
}

// line takes the rules of a line: an entry of a list of rules, or its sentences that are some.
func (in *instructions) line(l saying) {
	bare, item := listItem(l.text)
	inner, above := in.above(l)
	if strings.HasPrefix(bare, "✅") { // an example
		return
	}
	if bare = plain(bare); item && isRules(inner) {
		in.entry(l.under, above, shortened(bare, maxSays))
		return
	}
	where, before := condition(bare), ""
	for s := range sentences(bare) {
		if isQuestion(s) || strings.HasSuffix(s, ":") || !forbids(s) && !demands(s) {
			before = s
			continue
		}
		in.sentence(s, before, where, above)
		before = s
	}
}

// sentence takes a rule with what it says nothing without: the sentence before it, what its line holds for, or the
// heading.
func (in *instructions) sentence(s, before, where, above string) {
	with := func(s string) string {
		switch {
		case where != "" && !strings.HasPrefix(s, where):
			return where + leftOutHere + " " + s
		case strings.Count(s, " ") < noWords && above != "":
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
	return forbiddingWords.says(heading+" ") || demands(heading) || rulesWords.says(heading+" ")
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

// forbids reports whether a sentence says what must not be done, and not what need not be, or what is not so: "you
// don't need it", "the fonts do not have it".
func forbids(s string) bool { return forbiddingWords.says(s+" ") && forbiddingWords.in(bidding(s)) }

// demands reports whether a sentence says what must be done.
func demands(s string) bool {
	return demandingWords.in(bidding(s)) || beginWords.begins(strings.TrimLeft(s, "\"'(*_ "))
}

// bidding is a sentence in lower case without the words that bind, where they do not.
func bidding(s string) string {
	low := needless.ReplaceAllString(strings.ToLower(s), "")
	return doNot.ReplaceAllStringFunc(low, func(not string) string {
		if who, _, _ := strings.Cut(not, " "); !joining[who] {
			return who
		}
		return not
	}) + " "
}

var (
	needless = regexp.MustCompile(`(do not|don't|don’t) (need|have|want|worry|hesitate|mind|know|think|` +
		`like|understand|believe|exist|work)|` +
		`\b(i|we|they|it|that|which|who|has|have|had|was|were|is|are) never\b|\byou never (saw|had|did|got|were)\b|` +
		`\bmay not (be|contain|have|exist|work)\b`)
	// doNot is a word and what somebody does not do: what the word names, unless it joins.
	doNot   = regexp.MustCompile(`[\p{L}\d]+ (do not|don't|don’t)\b`)
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

// laws are the blocks of a text that are no code, and rules: a few lines under a heading that says so, or a line in
// capitals. Each is told with its heading.
func laws(text string) (list []saying) {
	var block []string
	place, from, above, fenced, tagged := 0, 0, "", false, false
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		if strings.Trim(line, "-|: ") == "" {
			continue
		}
		switch marks := strings.HasPrefix(line, fence); {
		case marks && fenced:
			law := strings.Join(block, "; ")
			named := strings.Contains(lower(above), "rule") || rulesWords.says(above)
			if !tagged && len(block) > 0 && (named || isCapital(law)) {
				list = append(list, saying{from, -1, strings.TrimSpace(above + " " + law)})
			}
			fenced = false
		case marks:
			fenced, block, from, tagged = true, nil, place, line != fence
		case fenced:
			tagged = tagged || len(line) > maxLawLine || len(block) == maxLaw
			if !tagged {
				block = append(block, line)
			}
		case isHeading(line):
			above = label(asHeading(line))
		}
		place++
	}
	return list
}

// isCapital reports whether a line is a few words in capitals.
func isCapital(line string) bool {
	strange := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune(" ,.-'’!", r) }
	return strings.Count(line, " ") >= minCapitals-1 && strings.ToUpper(line) == line &&
		!strings.ContainsFunc(line, strange)
}
