package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// Options say how a note is written.
type Options struct {
	// Summary is what a model or a plugin wrote. It stands first and does not
	// count; lines of it that look like the host's own are quoted.
	Summary string
	// Budget is what the note may cost beside Summary, in tokens.
	Budget int
	// Beside is what messages of persons, their rules and lists, what the agent decided or tried in vain, what it
	// finished of its todos, and commands that failed may cost beside Budget, in tokens: the last 20 failures as they
	// are quoted, older ones in short.
	Beside int
	// Recall says how what went can be read and searched, in one line. Empty: the
	// note says nothing of it.
	Recall string
	// Count counts the tokens of a text. Required.
	Count func(string) int
}

// share is what a part of a note may cost, in hundredths: of a tiny budget, of a small one
// as a model's summary has, and of a large one.
type share struct{ tiny, small, large int }

// The first shares are of the budget. A tiny note tells those who go on what was said and
// done last. In a small one a token buys most in the words of persons and in names: names
// are held back from the parts before them, and what came of the words is told of the
// newest. In a large one there is room for all. The others are shares of what the parts
// before them leave. What they do not need is for names, and what those leave for the
// thread.
var (
	wordsShare   = share{45, 35, 60}
	cameShare    = share{20, 6, 20} // what came of the words
	saidShare    = share{15, 4, 10} // of that, the words of the agent
	reportsShare = share{0, 11, 12}
	askedShare   = share{15, 6, 10} // and those that short answers speak of
	namesShare   = share{15, 63, 42}
	failedShare  = share{25, 8, 15}
	// Where much stays below the names that are used next stand there, so that words have more of the room.
	besideNames = share{15, 25, 22}
	besideCame  = share{20, 18, 20}
	besideSaid  = share{15, 12, 10}
	besideAsked = share{15, 14, 12}
)

const (
	smallBudget, largeBudget = 900, 8000 // in tokens

	// besideTimes is how many times what the note may cost is much that stays below it.
	besideTimes = 2

	// answersShare is how much of what persons' words leave of their share goes to what the agent said to them, in a
	// large note.
	answersShare = 70

	// Names cost at most so many hundredths of what went, and may cost so many tokens. Where agents' answers are from so
	// many hundredths of it on up to so many, it is a conversation, where what was said is what was done: names cost less.
	mostNames, leastNames   = 8, 200
	someTalk, mostTalk      = 6, 12
	mostSpoken, leastSpoken = 1, 60

	// slackPart is the part of a note, one of so many, that names leave where they have all that is left: parts cost more
	// together than each by itself, and a note that is too long is written again with less for persons' words.
	slackPart = 32

	// modifiedPart is the part of a note, one of so many, that is held for the files which were changed: what the agent
	// said comes behind them.
	modifiedPart = 4

	// questionsShare is how much of a note goes to what the agent answered where persons asked and nothing else came
	// of it.
	questionsShare = 3

	// leastFailed is what failures may cost where that is two fifths of the note at most, in tokens: the last has room.
	leastFailed = 90

	// lastShare is how much of a note goes to what the agent said last, where nothing of it has room else.
	lastShare = 5

	// answeredPart is the part of a note, one of so many, that what the newest words answer may take first.
	answeredPart = 2

	// contradictionsPart is the part of the room beside a note, one of so many, that rules leave to contradictions.
	contradictionsPart = 4

	// decidedPart is the part of what came of words, one of so many, that what agents decided may take before what was
	// done.
	decidedPart = 2

	// leastDeedsPart is the part of what is left that what was done may cost at least, each told in its shortest form.
	leastDeedsPart = 3

	rulesShare   = 95
	todosShare   = 6
	earlierShare = 12 // for a summary that somebody else wrote
	commandShare = 2
)

// of is the share of a budget, in tokens.
func (s share) of(budget int) int {
	const tiny = 700
	part := mix(budget, smallBudget, largeBudget, s.small, s.large)
	if budget < smallBudget {
		part = mix(budget, tiny, smallBudget, s.tiny, s.small)
	}
	return budget * part / 100
}

// mix goes from one share to another as a budget goes from low to high.
func mix(budget, low, high, from, to int) int {
	return from + (to-from)*(min(max(budget, low), high)-low)/(high-low)
}

const (
	// minBudget is the least that is worth writing in, in tokens.
	minBudget = 40
	// Where names had no room they have fewNames tokens, or one part in namesPart of a small note: what stands before
	// them never takes all of it. With minNames they still say something.
	fewNames, minNames, namesStep, namesPart = 96, 24, 12, 2
	// worthMore is what a thread must get more for it to be written once more.
	worthMore = 64
	// maxSmallState is what the state of a small note may cost where persons said little, maxLookedState that where the
	// agent changed nothing so far: what it looked at, and found, is all that was done.
	maxSmallState, maxLookedState = 250, 450
	// tightBudget is what a note has, in tokens, that does not say what the marks in its thread are.
	tightBudget = 300
	// maxCommands is how many of the last commands are listed, manyCommands where nothing else needs the room.
	maxCommands, manyCommands = 6, 200
)

// Write returns the note, and the tokens of what stands in it beside
// [Options.Summary]. The text is empty where there is nothing to say, or no room
// to say it in.
func (n *Note) Write(o Options) (text string, tokens int) {
	summary := quote(strings.TrimSpace(o.Summary))
	added := n.added(o, summary)
	if summary != "" && added != "" {
		added = "\n\n" + added
	}
	return summary + added, o.Count(added)
}

// added is what the note says beside a summary, within the budget.
func (n *Note) added(o Options, summary string) string {
	if n.empty() {
		return ""
	}
	n.laws, n.failed = n.enforced(), failuresOf(n.names.Failures(), o.Count) // a note is written several times
	n.whole, n.usage = wholeNeed(n.turns, o.Count), usageOf(n.turns)
	text, room := n.fitted(o, 0, summary)
	if room.named {
		return text
	}
	if text, found := n.withNames(o, room, summary); found {
		return text
	}
	if text == "" { // even the shortest thread is too long
		text, _ = names.Fit(o.Budget, 0, minBudget, o.Count, func(budget int) string {
			return n.namesAlone(o, budget, summary)
		})
	}
	return text
}

// withNames is the note with some names, where one that had this room has none: with as many as leave it the words of
// persons that it had, and the failures; names before failures, and files alone where no names have room.
func (n *Note) withNames(o Options, had room, summary string) (text string, found bool) {
	const words, names, failures = 4, 2, 1
	best := -1
	for least := fewNames; least >= minNames; least -= namesStep {
		t, more := n.fitted(o, least, summary)
		if !more.betters(had) {
			continue
		}
		worth := 0
		if more.words >= had.words {
			worth += words
		}
		if more.named {
			worth += names
		}
		if more.failed >= had.failed {
			worth += failures
		}
		if worth > best {
			text, best = t, worth
		}
	}
	return text, best >= 0
}

// fitted is the note within the budget, with so many tokens for names at least, or its half, and whether these and
// files had room.
func (n *Note) fitted(o Options, least int, summary string) (text string, had room) {
	text, _ = names.Fit(o.Budget, o.Beside, minBudget, o.Count, func(budget int) string {
		text, more := n.render(o, budget, room{names: least}, summary)
		if more.thread >= worthMore || more.failures >= worthMore || more.beside >= worthMore {
			text, more = n.render(o, budget, more, summary)
		}
		had = more
		return text
	})
	if text == "" {
		had = room{}
	}
	return text, had
}

// namesAlone is a note of names alone, and of where all can be found, where that is known.
func (n *Note) namesAlone(o Options, budget int, summary string) string {
	p, recall := parts{left: budget, count: o.Count}, n.transcript(o.Recall)
	p.put(append([]string{intro}, recall...)...)
	alone := p.String()
	switch named, filed := p.names(n.names, summary); {
	case named, filed:
		return p.String()
	case len(recall) > 0:
		return alone
	}
	return ""
}

// room is what a note that is written once more has, in tokens.
type room struct {
	thread int  // more than its share, for the thread
	lists  int  // for what stands behind the body, at least: what that took before
	names  int  // for names, at least: what stands before them is written again with less
	named  bool // names had room, or there are none
	filed  bool // files had room
	words  int  // messages of persons of which there was room for words
	failed int  // failures that there was room for
	// failures is more than their share, for those that had no room.
	failures int
	// beside is more than their share of [Options.Beside], for words of persons: what nothing else took of it.
	beside int
}

// betters reports whether a note that had this room is better than one that had another: it has names or files where
// that has none, and says of persons no less where that has files.
func (r room) betters(other room) bool {
	if other.filed {
		return r.named && r.words >= other.words
	}
	return r.named || r.filed
}

// render writes the parts in order, with more room for the thread than its share. More is what a thread that is not
// whole could have besides.
func (n *Note) render(o Options, budget int, extra room, summary string) (text string, more room) {
	p := parts{left: budget, count: o.Count}
	recall := n.transcript(o.Recall)
	p.put(append([]string{intro}, recall...)...)
	failed := n.failedMost(budget)
	files := min(n.names.ModifiedNeed(o.Count), budget/modifiedPart)
	most := max(n.namesMost(), files)
	p.hold(max(min(n.shareOf(budget, besideNames, namesShare), most)+failed-extra.thread, files, extra.lists,
		min(n.todos.least(o.Count), p.left/2)))
	b := n.body(p, budget, extra, max(o.Beside/2, o.Beside-needOf(n.failed)), summary != "", len(recall) == 0)
	for _, lines := range [][]string{b.thread.lines(), b.rules, b.loaded, b.state} {
		p.put(lines...)
	}
	p.left += b.beside
	p.release()
	more.lists = p.left
	beside := o.Beside - b.beside
	beside -= p.todos(&n.todos, max(p.share(todosShare), min(p.left, minBudget)),
		min(mostFinished, max(beside/8, beside-needOf(n.failed))))
	if extra == (room{names: extra.names}) && !wordsWhole(b.thread) {
		more.beside = max(0, beside-needOf(n.failed))
	}
	p.quoted(n, p.share(earlierShare))
	calls := len(p.texts)
	heading := 0 // where names have no room, none of it goes to a heading
	if extra.names == 0 {
		heading = p.count(headCalls) + 1
	}
	p.left -= heading
	untold := 0
	more.failed, untold = p.failures(n.failed, strings.Join(b.state, "\n"), failuresRoom(budget)+extra.failures,
		beside, budget >= shortFailed || extra.failures > 0)
	spare := untold == 0 && (b.thread.complete() || extra.thread > 0) // nothing else needs what is left
	commands, listed := maxCommands, p.share(commandShare)
	if spare {
		commands, listed = manyCommands, max(listed, (p.left-most)/2)
	}
	p.entries(names.HeadCommands, n.names.Commands(commands, p.String()), listed)
	unnamed := max(0, p.left-most)
	if spare {
		unnamed = min(unnamed, budget/slackPart)
	}
	p.left -= unnamed
	lent := max(0, min(extra.names, budget/namesPart)-p.left)
	p.left += lent
	more.named, more.filed = p.names(n.names, summary)
	more.named = more.named || !n.names.Lists(fewNames, summary+"\n"+p.String(), p.count).Named
	more.names, more.words = extra.names, worded(b.thread)
	if p.left += heading; heading > 0 {
		p.headed(headCalls, calls)
	}
	p.left += unnamed - lent
	more.lists -= p.left
	if more.failures = extra.failures; extra.failures == 0 && extra.thread == 0 && wordsWhole(b.thread) {
		more.failures = min(untold, p.left)
	}
	if !b.thread.complete() {
		more.thread = extra.thread + p.left - (more.failures - extra.failures)
	}
	return p.String(), more
}

// body is what a note says before its lists.
type body struct {
	thread               *view
	rules, loaded, state []string
	beside               int // what words, rules and decisions took beside the budget, in tokens
}

// body chooses what is said before the lists in what is left: the words of persons, with what short answers speak of;
// rules; what was done; how it stands; and what else came of the words. For rules, and for what the agent decided or
// tried in vain, there are tokens beside the budget.
func (n *Note) body(p parts, budget int, given room, beside int, summarized, alone bool) (b body) {
	extra := given.thread
	words, came, least := wordsShare.of(budget), n.shareOf(budget, besideCame, cameShare), stateShare(budget)
	more := min(n.whole, beside*mostWords/100+given.beside)
	shown := min(words+extra, p.left-least)
	v := show(n.turns, n.usage, n.focus, n.memory, shown, more, budget < tightBudget, n.repeats, p.count)
	v.alone, b.thread, b.beside = alone, v, min(more, max(0, v.cost-max(0, shown)))
	unused := max(0, words-v.cost) // by persons: a small state gets some of it
	p.left -= v.cost - b.beside
	asked := v.answered(min(n.shareOf(budget, besideAsked, askedShare), p.left-least/2))
	p.left -= asked
	rules := p.share(rulesShare)
	contradicted := heldContradictions(v, summarized, beside/contradictionsPart)
	kept, free := p.rules(n.lost(v), rules+beside-b.beside-contradicted)
	others, cost := tellRules(v, kept, free)
	b.rules = ruleLines(others) // they go last: before what was done with them
	cost += p.count(strings.Join(b.rules, "\n"))
	b.beside += max(0, cost-rules)
	p.left -= min(cost, rules)
	loaded, files := loadedRoom(budget)
	b.loaded = p.loaded(&n.loads, n.laws, min(loaded, p.left-least+p.held/2), files) // rules before names
	p.left = min(p.left, max(p.left-p.count(strings.Join(b.loaded, "\n")), least))
	if n.follows {
		p.left -= sayAnswered(v, n.steps, min(budget/answeredPart, p.left-least))
	}
	reports := reportsShare.of(budget)
	if isBeside(n, budget) {
		reports = max(reports, unused)
	}
	p.left -= tellReports(v, min(reports, p.left-least/2))
	p.left -= addDecided(v, min((came+extra/2)/decidedPart, p.left-least/2))
	deeds := v.deeds(min(max(came+extra/2, min(leastDeeds(n.turns, p.count), p.left/leastDeedsPart)), p.left-least/2))
	p.left -= deeds
	refused := v.refused(max(0, min(came+extra-deeds, p.left-least/2)))
	refused += v.lengthen(max(0, min(came+extra/2-deeds-refused, p.left-refused-least/2)), tellsCall)
	refused += v.replied(max(0, min(came+extra-deeds-refused, p.left-refused-least/2)))
	told := v.told(max(0, min(budget*questionsShare/100+extra/2, p.left-refused-least/2)))
	p.left -= refused + told
	most := maxSmallState
	if n.standing.looked() {
		most = maxLookedState
	}
	room := min(max(least, min(least+unused/2, most))+extra/4, p.left)
	steps, reported := withoutReports(n.steps, v, room)
	p.left, room = p.left-reported, max(room-reported, min(room, least/2))
	if said := sayOnly(v, steps, room); said > 0 {
		steps, room, p.left = nil, room-said, p.left-said
	}
	b.state = n.state(steps, room, p.count)
	v.stood = strings.Join(b.state, "\n")
	p.left -= p.count(v.stood)
	bonus := unused * mix(budget, smallBudget, largeBudget, 0, answersShare) / 100
	left := min(max(0, came-deeds-refused-asked-told)+bonus+extra, p.left)
	v.fill(budget, left, n.shareOf(budget, besideSaid, saidShare)+bonus+extra, v.stood)
	b.beside += addFound(v, max(0, min(mostFound, beside-b.beside)), toldBeside(summarized))
	sayLast(v, min(budget*lastShare/100, p.held)) // before names
	unfold(v)
	if isBeside(n, budget) {
		nameParts(v, min(max(budget*lastShare/100, leastParts), p.held))
	}
	return b
}

// failuresRoom is what failures may cost in a note of so many tokens.
func failuresRoom(budget int) int {
	return max(failedShare.of(budget), min(leastFailed, budget*2/5))
}

// failedMost is what failures may cost in a conversation, in tokens: elsewhere what is held back for names, which come
// behind them, is enough for both.
func (n *Note) failedMost(budget int) (tokens int) {
	if n.talk <= someTalk {
		return 0
	}
	for _, f := range n.failed {
		tokens += f.wholeCost
	}
	return min(tokens, failedShare.of(budget))
}

// shareOf is what a part may cost in tokens: one share where enough messages stay below, and another elsewhere.
func (n *Note) shareOf(budget int, beside, alone share) int {
	if isBeside(n, budget) {
		return beside.of(budget)
	}
	return alone.of(budget)
}

// isBeside reports whether enough messages stay below.
func isBeside(n *Note, budget int) bool { return n.below/4 > besideTimes*budget }

// namesMost is what names may cost where other things need the room, in tokens: a share of what went. Who goes on after
// a short conversation needs what was said in it more than the words it was said in.
func (n *Note) namesMost() int {
	most := mix(n.talk, someTalk, mostTalk, mostNames, mostSpoken)
	least := mix(n.talk, someTalk, mostTalk, leastNames, leastSpoken)
	return max(least, n.size/4*most/100)
}

// transcript says where all of what went can be found. Where it went from several transcripts each has a part of it.
func (n *Note) transcript(recall string) []string {
	list := n.transcripts
	if recall != "" && !slices.Contains(list, recall) {
		list = append(slices.Clone(list), recall)
	}
	mark := recallMark
	if len(list) > 1 {
		mark = partRecall
	}
	return lists.Map(list[max(0, len(list)-maxTranscripts):], func(s string) string { return mark + s })
}

// maxTranscripts bounds how many transcripts of a chain a note names.
const maxTranscripts = 3
