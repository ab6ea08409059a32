package names

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// list is one of the lists that names are grouped in.
type list uint8

const (
	listModified list = iota
	listRead
	listPaths
	listPackages
	listShort
	listSymbols
	listNumbers
	numLists
)

// heads are the lines that lists begin with.
var heads = [numLists]string{headModified, headRead, headPaths, headPackages, headShort, headSymbols, headNumbers}

// list is where an item belongs.
func (it *item) list() list {
	switch {
	case it.class == symbol:
		return listSymbols
	case it.class == number:
		return listNumbers
	case it.short && !it.rooted:
		return listShort
	case it.use == modified:
		return listModified
	case it.use == read:
		return listRead
	case it.isImport():
		return listPackages
	case !it.rooted && strings.IndexByte(it.name, '/') < 0 && !isWindows(it.name):
		return listShort // beside folders it would read as what lies in one
	}
	return listPaths
}

// picked are the names chosen for a budget, best first in each list.
type picked struct {
	lists [numLists][]*item
	// below is how many of the paths of a list lie below a folder.
	below map[under]int
	// files are those of which lines are chosen, by their names.
	files map[string]bool
	// root: some paths are relative to a folder that the note names.
	root bool
	// more says how many files of a list there was no room for, empty where there was for all.
	more [numLists]string
}

// Where there is less room for names than smallNames, files cost at most one in so many tokens of it, but for the best
// one: those that were only read can be read again, and both hide all other names. A heading counts there, as it costs
// much beside these; in tinyNames there is room for one name.
const (
	changedPart, readPart = 2, 3
	tinyNames, smallNames = 16, 160
)

// maxMisses is how many names that do not fit are tried before the rest of
// the budget is left.
const maxMisses = 1000

// pick chooses the best names that fit. Names already shown elsewhere, or
// inside a longer name, are left out.
func (l *Names) pick(budget int, shown map[string]bool, count func(string) int) *picked {
	p := &picked{below: make(map[under]int), files: make(map[string]bool), root: l.root != ""}
	left, misses := budget, 0
	most := [numLists]int{listPaths: math.MaxInt, listPackages: math.MaxInt, listShort: math.MaxInt,
		listSymbols: math.MaxInt, listModified: math.MaxInt, listRead: math.MaxInt, listNumbers: budget / numberPart}
	if budget < smallNames {
		most[listModified], most[listRead] = budget/changedPart, budget/readPart
	}
	for _, it := range l.best(budget, shown, count) {
		if left <= 2 || misses == maxMisses {
			break
		}
		if it.use == mentioned && shown[it.name] {
			continue
		}
		cost := p.cost(it, count)
		k := it.list()
		first := len(p.lists[k]) == 0
		if cost > most[k] && (k == listNumbers || !first) {
			continue
		}
		if first && tinyNames <= budget && budget < smallNames {
			cost += count(heads[k]) + 1
		}
		if cost > left {
			misses++
			continue
		}
		left -= cost
		most[k] -= cost
		p.lists[k] = append(p.lists[k], it)
		if it.file != "" {
			p.files[base(it.file)] = true
		}
		for folder := range it.folders() {
			p.below[under{k, folder}]++
		}
		addParts(shown, it.name)
	}
	for k := listModified; k <= listRead; k++ {
		p.more[k] = l.moreFiles(k, len(p.lists[k]))
	}
	return p
}

// asWritten reports whether a path is listed that is not known to lie below the root, and reads as if it did.
func (p *picked) asWritten() bool {
	for k := listModified; k <= listPaths; k++ {
		if slices.ContainsFunc(p.lists[k], func(it *item) bool {
			return !it.rooted && isBelow(it.name)
		}) {
			return true
		}
	}
	return false
}

// moreFiles ends a list of so many files: how many there are besides, as far as that is known. A list that ends without
// it reads as a whole one.
func (l *Names) moreFiles(k list, listed int) string {
	if l.filed == nil {
		l.filed = new([numLists]int)
		for _, it := range l.names {
			l.filed[it.list()]++
		}
	}
	more := l.filed[k] - listed
	switch {
	case l.unlisted[k]:
		return "and" + moreMark
	case more > 0:
		return strconv.Itoa(more) + moreMark
	}
	return ""
}

// moreMark ends the line that says how many files of a list are left out.
const moreMark = " more"

// isMoreFiles reports whether an entry of a list of files says that there were more.
func isMoreFiles(entry string) bool {
	before, ok := strings.CutSuffix(entry, moreMark)
	return ok && (before == "and" || before != "" && clip.Digits(before) == len(before))
}

// best are the names of which some fit into a budget, those first that tell most for a
// letter, and for a token: of two that cost the same the shorter one leaves the note shorter.
// Twice as many are counted as could fit: which these are, their lengths say.
func (l *Names) best(budget int, shown map[string]bool, count func(string) int) []*item {
	list := make([]valued, 0, max(0, min(2*budget, len(l.names))))
	for _, it := range l.names {
		if len(list) >= 2*budget {
			break
		}
		if it.use == mentioned && (it.kept || shown[it.name]) {
			continue
		}
		_, name := it.folded()
		list = append(list, valued{it, it.tells / (float64(it.price(count)) + letterCost*float64(len(name))), len(list)})
	}
	byValue := func(x, y valued) int {
		if c := raisedFirst(x.item, y.item); c != 0 {
			return c
		}
		if c := cmp.Compare(y.value, x.value); c != 0 {
			return c
		}
		return x.at - y.at
	}
	slices.SortFunc(list, byValue)
	before := make(map[string]int) // names of a series that are better
	for i := range list {
		list[i].at = i
		if s := list[i].kin(); s != "" {
			list[i].value /= 1 + float64(before[s])/seriesHalf
			before[s]++
		}
	}
	slices.SortFunc(list, byValue)
	return lists.Map(list, func(v valued) *item { return v.item })
}

// valued is a name and what it tells for the room that it takes.
type valued struct {
	*item
	value float64
	at    int // before it was sorted: of those that are worth the same the first stays the first
}

// price is what a name costs without its folder, in tokens, counted once. More than a token a byte says that nobody
// counted: the time was up.
func (it *item) price(count func(string) int) int {
	if it.tokens > 0 {
		return it.tokens
	}
	_, name := it.folded()
	n := count(listSeparator + name)
	if n <= len(listSeparator+name) {
		it.tokens = n
	}
	return n
}

const (
	// letterCost is what a letter of a name costs beside a token.
	letterCost = 9
	// seriesHalf is how many names of a series halve what the next one is worth.
	seriesHalf = 5
)

// kin is the series of a name, which is made once.
func (it *item) kin() string {
	if it.series == nil {
		it.series = new(series(it))
	}
	return *it.series
}

// series is what a name shares with those that differ from it in their numbers alone, "step#/run.go": of sixty of them
// the fifty-first tells less than the only name of its kind. It is empty where it has no number, and of bare numbers:
// these have a part of their own.
func series(it *item) string {
	if it.class == number || !hasDigit(it.name) {
		return ""
	}
	var b strings.Builder
	b.Grow(len(it.name))
	for i := range len(it.name) {
		switch c := it.name[i]; {
		case !isDigit(c):
			b.WriteByte(c)
		case i == 0 || !isDigit(it.name[i-1]):
			b.WriteByte('#')
		}
	}
	return b.String()
}

// under is a folder in a list.
type under struct {
	list
	folder string
}

// cost is what one more name costs, in tokens. A path costs what stands behind the folder that it shares with another
// one, and a line for that folder where it is the second one there.
func (p *picked) cost(it *item, count func(string) int) int {
	k := it.list()
	text := listSeparator + it.name
	if k == listNumbers {
		text = lineText(p.files, it)
	}
	for folder := range it.folders() {
		n := p.below[under{k, folder}]
		if n == 0 {
			continue
		}
		text = listSeparator + it.name[len(folder):]
		if n == 1 {
			text += lineForm
		}
		break
	}
	if it.use == modified {
		text += it.facts.String()
	}
	_, name := it.folded()
	cost := 0
	if text == listSeparator+name {
		cost = it.price(count)
	} else {
		cost = count(text)
	}
	if len(p.lists[k]) == 0 {
		cost += 5
	}
	return cost
}

// text is a list as it is written: its heading, and what it holds. It is empty
// where the list is.
func (p *picked) text(k list) string {
	items := p.lists[k]
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(heads[k])
	if k == listNumbers {
		for _, entry := range numbered(items) {
			b.WriteString(listSeparator + entry)
		}
		return b.String() + "\n"
	}
	if k > listPackages {
		for _, last := range []bool{false, true} {
			for _, it := range items {
				if takesSecret(it.name) == last {
					b.WriteString(listSeparator + it.name)
				}
			}
		}
		return b.String() + "\n"
	}
	b.WriteString("\n")
	if k == listPackages {
		writeFolders(&b, items, "")
		return b.String()
	}
	writeFiles(&b, items, p.root)
	if p.more[k] != "" {
		b.WriteString("- " + p.more[k] + "\n")
	}
	return b.String()
}

// takesSecret reports whether a name is an option that a secret stands behind, "--api-key": the next name of a list
// would be taken for one.
func takesSecret(name string) bool {
	return strings.HasPrefix(name, "--") && toolcall.HasAny(name, []string{"key", "token", "pass", "secret", "auth"})
}

// parts reports whether a sign stands between the names inside a name.
func parts(r rune) bool { return r == '.' || r == '@' || r == '-' || r == '=' || r == ':' || r == '#' }

// addParts marks a name and the names inside it as shown. A file name inside a
// path is not: people and models say it alone.
func addParts(shown map[string]bool, name string) {
	shown[name] = true
	if setting, _, ok := strings.Cut(name, "="); ok {
		shown[setting] = true
	}
	if strings.IndexByte(name, '/') >= 0 {
		return
	}
	for p := range strings.FieldsFuncSeq(name, parts) {
		shown[p] = true
	}
}
