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
	var paths []*item // that may say of others that they are some
	return slices.DeleteFunc(items, func(it *item) bool {
		if it.class != path || it.use != mentioned || it.listed || it.given {
			return false
		}
		prose := !it.acted && isPair(it.name)
		if !prose && !isWords(it.name) {
			return false
		}
		if paths == nil { // seldom asked for
			for _, o := range items {
				if o.class == path && strings.IndexByte(o.name, '/') >= 0 {
					paths = append(paths, o)
				}
			}
		}
		first, rest, _ := strings.Cut(it.name, "/")
		switch two := strings.IndexByte(rest, '/') < 0; {
		case topFolders[first], two && (standard[first] || it.times >= manyTimes && isWords(it.name)),
			prose && branches[first]:
			return false
		}
		second, _, _ := strings.Cut(rest, "/")
		folder := "/" + first + "/" + second + "/"
		return !slices.ContainsFunc(paths, func(o *item) bool {
			return o != it && (strings.HasPrefix(o.name, folder[1:]) || strings.Contains(o.name, folder) ||
				strings.HasSuffix(o.name, strings.TrimSuffix(folder, "/")))
		})
	})
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
