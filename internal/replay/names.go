package replay

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
)

// namesAhead is how many messages of the log after a compaction say which names were used.
const namesAhead = 60

// precision counts the names that the notes of a compaction list, and those of them that
// the agent goes on to use: in what it says or calls.
func (r *run) precision(step *Step) {
	before := make(map[string]bool, len(step.Before))
	for i := range step.Before {
		before[step.Before[i].ID] = true
	}
	var names []string
	for i := range step.After {
		if m := &step.After[i]; m.Kind == abi.KindSummary && !before[m.ID] {
			names = append(names, listed(m.Text())...)
		}
	}
	if len(names) == 0 {
		return
	}
	used := make(map[string]bool)
	for i := range r.Messages[r.at:min(r.at+namesAhead, len(r.Messages))] {
		m := &r.Messages[r.at+i]
		if m.Role != abi.RoleAssistant {
			continue
		}
		mark(m.Text(), used)
		for k := range m.ToolCalls {
			mark(m.ToolCalls[k].Arguments, used)
		}
	}
	r.stats.NamesListed += len(names)
	for _, name := range names {
		if used[name] {
			r.stats.NamesUsed++
		}
	}
}

// firstList begins the lists of names in a note: they stand last.
var firstList = regexp.MustCompile(`(?m)^(Modified in what went:|Read in what went:|## Exact names)$`)

// aside is what stands behind the name of a file: how often it was edited, and the rest.
var aside = regexp.MustCompile(`×\d+|\([^)]*\)`)

// listed are the names in the lists of a note, but for those of tools, which each call has.
func listed(note string) (names []string) {
	at := firstList.FindStringIndex(note)
	if at == nil {
		return nil
	}
	for line := range strings.Lines(note[at[0]:]) {
		entry, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if folder, rest, below := strings.Cut(entry, "/: "); ok && below && !strings.Contains(folder, " ") {
			entry = rest
		} else if !ok {
			var head string
			if head, entry, _ = strings.Cut(entry, ": "); head == "Tools called in what went" {
				continue
			}
		}
		names = append(names, strings.Fields(aside.ReplaceAllString(entry, ""))...)
	}
	return names
}

// mark marks the names in a text: its words, the ends of a path, and the parts of a
// qualified name.
func mark(text string, used map[string]bool) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-./@~", c)
	}) {
		word = strings.TrimRight(word, ".-/@~")
		used[word] = true
		used[strings.TrimLeft(word, "./")] = true
		for i, c := range word {
			if c == '/' {
				used[word[i+1:]] = true
			}
		}
		for part := range strings.SplitSeq(word[strings.LastIndexByte(word, '/')+1:], ".") {
			used[part] = true
		}
	}
}
