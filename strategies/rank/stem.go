package rank

import "strings"

// stem takes the endings off an English word in lower case, so that connect,
// connects, connected, connecting, connection and connections are one term. It
// is a shorter Porter ("An algorithm for suffix stripping", 1980): plurals, ed
// and ing, a final y, and then one of the longer endings, each only where a
// syllable is left before it. Words with other letters than a to z, and those
// shorter than four, stay. The result lies in word.
func stem(word []byte) []byte {
	if len(word) < 4 {
		return word
	}
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
	}
	word = verbal(plural(word))
	if n := len(word); word[n-1] == 'y' && n > 2 && !vowelAt(word, n-2) {
		word[n-1] = 'i'
	}
	word = derived(word)
	if n := len(word); n > 4 && word[n-1] == 'e' {
		word = word[:n-1]
	}
	return word
}

// plural takes off the s of plurals and of verbs.
func plural(w []byte) []byte {
	n := len(w)
	switch {
	case w[n-1] != 's', has(w, "ss"), has(w, "us"), has(w, "is"):
		return w
	case has(w, "sses"), has(w, "ies") && n > 4:
		return w[:n-2]
	case has(w, "xes"), has(w, "ches"), has(w, "shes"), has(w, "zes"):
		return w[:n-2]
	}
	return w[:n-1]
}

// verbal takes off ed and ing, and repairs what is left: hopping to hop, hoping
// to hope, agreed to agree.
func verbal(w []byte) []byte {
	var root []byte
	switch {
	case has(w, "eed"):
		return w[:len(w)-1]
	case has(w, "ed"):
		root = w[:len(w)-2]
	case has(w, "ing"):
		root = w[:len(w)-3]
	}
	if len(root) < 2 || !hasVowel(root) {
		return w
	}
	n := len(root)
	switch {
	case has(root, "at"), has(root, "bl"), has(root, "iz"), n == 3 && shortEnd(root):
		root = append(root, 'e')
	case root[n-1] == root[n-2] && strings.IndexByte("lsz", root[n-1]) < 0 && !vowelAt(root, n-1):
		root = root[:n-1]
	}
	return root
}

type ending struct{ from, to string }

// endings are what derived takes off, the longest first, and what it puts in
// their place.
var endings = []ending{
	{"ational", "ate"}, {"ization", "ize"}, {"fulness", ""}, {"iveness", "ive"}, {"ousness", "ous"},
	{"tional", "tion"}, {"biliti", "ble"},
	{"ation", "ate"}, {"ement", ""}, {"ingli", ""},
	{"alli", "al"}, {"abli", "able"}, {"ousli", "ous"}, {"ment", ""}, {"ness", ""}, {"able", ""}, {"ible", ""},
	{"ance", ""}, {"ence", ""}, {"edli", ""}, {"fulli", ""},
	{"ful", ""}, {"ion", ""}, {"ism", ""}, {"ist", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""},
	{"ant", ""}, {"ent", ""}, {"ers", ""},
	{"al", ""}, {"er", ""}, {"or", ""}, {"ic", ""}, {"li", ""},
}

// endingsAt are the endings by their last two letters.
var endingsAt = func() (by [26][26][]ending) {
	for _, e := range endings {
		list := &by[e.from[len(e.from)-2]-'a'][e.from[len(e.from)-1]-'a']
		*list = append(*list, e)
	}
	return by
}()

// derived takes off up to two endings that make a word of another.
func derived(w []byte) []byte {
	for range 2 {
		e := endingOf(w)
		if e == nil {
			return w
		}
		root := w[:len(w)-len(e.from)]
		if n := syllables(root); n == 0 || n == 1 && len(root) < 4 {
			return w
		}
		w = append(root, e.to...)
	}
	return w
}

// endingOf is the longest ending that a word has, nil where it has none, as most have.
func endingOf(w []byte) *ending {
	if len(w) < 2 {
		return nil
	}
	list := endingsAt[w[len(w)-2]-'a'][w[len(w)-1]-'a']
	for i := range list {
		if has(w, list[i].from) {
			return &list[i]
		}
	}
	return nil
}

func has(w []byte, ending string) bool {
	return len(w) > len(ending) && string(w[len(w)-len(ending):]) == ending
}

// vowelAt reports whether the letter at i sounds as a vowel.
func vowelAt(w []byte, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !vowelAt(w, i-1)
	}
	return false
}

func hasVowel(w []byte) bool {
	for i := range w {
		if vowelAt(w, i) {
			return true
		}
	}
	return false
}

// syllables returns Porter's measure: how often a vowel is followed by a consonant.
func syllables(w []byte) (n int) {
	for i := 1; i < len(w); i++ {
		if vowelAt(w, i-1) && !vowelAt(w, i) {
			n++
		}
	}
	return n
}

// shortEnd reports whether w ends in consonant, vowel, consonant, the last not
// w, x or y: the e of hoping is missing there.
func shortEnd(w []byte) bool {
	n := len(w)
	return !vowelAt(w, n-1) && vowelAt(w, n-2) && !vowelAt(w, n-3) && strings.IndexByte("wxy", w[n-1]) < 0
}
