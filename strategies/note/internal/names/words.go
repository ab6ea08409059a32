package names

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/set"
)

// People write words with slashes between them where they mean one or the other: modified/created/deleted. They look
// like a path, and are one where the session names something else below the same folder. With hyphens in them,
// rebases/cherry-picks, they are one where a call or a tool had them too.

// withoutWords leaves out what is only words. What an earlier note listed was looked at then.
func withoutWords(items []*item) []*item {
	var pairs map[string]pair
	return slices.DeleteFunc(items, func(it *item) bool {
		if it.class != path || it.use != mentioned || it.listed || it.given {
			return false
		}
		prose := !it.acted && isPair(it.name)
		if !prose && !isWords(it.name) {
			return false
		}
		if pairs == nil { // seldom asked for
			pairs = pairsIn(items)
		}
		first, rest, _ := strings.Cut(it.name, "/")
		switch two := strings.IndexByte(rest, '/') < 0; {
		case topFolders[first], two && (standard[first] || it.times >= manyTimes && isWords(it.name)),
			prose && branches[first]:
			return false
		}
		second, _, _ := strings.Cut(rest, "/")
		names := it.name[:len(first)+1+len(second)]
		others := pairs[names].times
		if names != it.name {
			others-- // it has them too
		}
		return others == 0
	})
}

// pair is how many paths have two names one behind the other and more than these, and the last one of them.
type pair struct {
	times int
	last  *item
}

// pairsIn are those of all paths.
func pairsIn(items []*item) map[string]pair {
	pairs := make(map[string]pair)
	for _, it := range items {
		if it.class != path {
			continue
		}
		first, slash := 0, strings.IndexByte(it.name, '/') // where the two begin, and the slash between them
		for slash >= 0 && slash < len(it.name) {
			end := len(it.name)
			if n := strings.IndexByte(it.name[slash+1:], '/'); n >= 0 {
				end = slash + 1 + n
			}
			names := it.name[first:end]
			if p := pairs[names]; p.last != it && names != it.name {
				pairs[names] = pair{p.times + 1, it}
			}
			first, slash = slash+1, end
		}
	}
	return pairs
}

// topFolders are those at the top of projects, systems and repositories.
var topFolders = set.Of(wordLists["top folders"]...)

// branches are what names of branches begin with.
var branches = set.Of(wordLists["branches"]...)

// manyTimes is how many messages mention two words as one for them to be a name, such as that of a branch.
const manyTimes = 2

// standard are the first parts of packages that come with a language: encoding/json.
var standard = set.Of(wordLists["standard packages"]...)

// isWords reports whether a name is words of letters with slashes between them, and nothing else. Two of them count
// where they stood in quotes.
func isWords(name string) bool {
	if strings.IndexByte(name, '/') < 0 {
		return false
	}
	for i := range len(name) {
		if c := name[i] | 0x20; (c < 'a' || c > 'z') && (name[i] != '/' || i == 0) {
			return false
		}
	}
	return true
}
