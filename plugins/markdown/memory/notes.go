package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

const (
	notesPrefix = "memory/"
	seenKey     = "seen.txt"
	seenHead    = "# Names of all notes there ever were: one that you delete stays away while its name is here.\n"
)

// notes is what the plugin knows: its storage as this call found it, and what
// sort adds.
type notes struct {
	c     *guest.Call
	facts []fact     // one for each file, the oldest first
	words rank.Index // over the facts, by their numbers
	count int        // of notes
	known string     // every name there is or was
	off   bool       // there is no storage
	// unstored is why something was not written down, "" where all was.
	unstored string
}

// news is what a compaction adds.
type news struct {
	fresh []fact
	again []repeat
}

// repeat is one more mention of a fact that has a note.
type repeat struct {
	key, title string
	mention    mention
}

// openNotes reads what is stored. Without storage there is nothing.
func openNotes(c *guest.Call) *notes {
	n := &notes{c: c}
	keys, err := c.KV().List("")
	if err != nil {
		n.off = true
		c.Log(abi.LogWarn, "no storage, facts go to the host alone: %v", err)
		if abi.CodeOf(err) != abi.CodeDenied {
			n.unstored = err.Error()
		}
		return n
	}
	index, seen := n.get(indexKey), n.get(seenKey)
	n.known = strings.Join(keys, "\n") + "\n" + index + "\n" + seen
	if f, ok := decode(indexKey, index); ok {
		n.facts = append(n.facts, f)
	}
	noted := readable(keys, seen)
	n.count = len(noted)
	for _, key := range append(noted, recentDays(keys)...) {
		if f, ok := decode(key, n.get(key)); ok {
			n.facts = append(n.facts, f)
		}
	}
	slices.SortStableFunc(n.facts, func(a, b fact) int { return cmp.Compare(a.created, b.created) })
	for i := range n.facts {
		n.learn(&n.facts[i])
	}
	return n
}

// learn lets a fact be found.
func (n *notes) learn(f *fact) { n.words.Add(rank.Text{Body: f.text(), About: f.title + f.about}) }

// get is a stored value, "" where it cannot be read.
func (n *notes) get(key string) string {
	value, _, err := n.c.KV().Get(key)
	if err != nil {
		n.c.Log(abi.LogWarn, "%s: %v", key, err)
	}
	return value
}

// sort tells new facts from those that are written down, in whatever words. Of
// the new ones it takes as many as the memory has room for.
func (n *notes) sort(found []fact, most int) (list news) {
	stored, left := len(n.facts), 0
	for _, f := range found {
		at, like := n.closest(f.said[0].text)
		switch {
		case like == same:
			old := &n.facts[at]
			if old.has(f.said[0]) {
				continue
			}
			if at < stored {
				list.again = append(list.again, repeat{old.key, old.title, f.said[0]})
			} else { // in this very session
				old.said = append(old.said, f.said[0])
			}
			continue
		case strings.Contains(n.known, digest(f.said[0].text)):
			continue // deleted, or edited into something else
		case !n.off && n.count+len(n.facts)-stored >= most:
			left++
			continue
		case like == opposed && isSaid(f.kind):
			f.against = []string{strings.TrimSuffix(n.facts[at].key, ".md")}
		}
		n.facts = append(n.facts, f)
		n.learn(&f)
	}
	list.fresh = n.facts[stored:]
	if left > 0 {
		n.c.Log(abi.LogWarn, "%d notes stored, %d new ones left out: delete some, or raise max_stored", n.count, left)
	}
	return list
}

// maxCandidates is how many facts are compared with a new one: those that have
// most words in common.
const maxCandidates = 12

// closest is the fact that says the same, or else the one that says something
// else of it and is nearest.
func (n *notes) closest(text string) (at int, like likeness) {
	said := newContent(text)
	for _, hit := range n.words.Search(text, rank.Options{Limit: maxCandidates}) {
		there := newContent(n.facts[hit.Text].text())
		switch l := compare(&said, &there); {
		case l == same:
			return hit.Text, same
		case l == opposed && like != opposed:
			at, like = hit.Text, opposed
		}
	}
	return at, like
}

// isSaid reports whether a kind is of what was settled, rather than found.
func isSaid(k kind) bool { return k == preference || k == decision || k == requirement }

// add writes notes, then the index, then the names: each in one step, whoever
// else writes, and a call that breaks off leaves at worst a note without a line.
func (n *notes) add(list news) {
	if n.off {
		return
	}
	for _, r := range list.again {
		n.update(r.key, func(note string) string {
			f, ok := own(r.key, note)
			if !ok || f.has(r.mention) || len(f.said) == maxMentions {
				return note
			}
			f.said = append(f.said, r.mention)
			return f.encode()
		})
	}
	var written []fact
	for _, f := range list.fresh {
		ok := n.update(f.key, func(note string) string {
			if note != "" {
				return note // another session was faster
			}
			return f.encode()
		})
		if !ok {
			break // a full store takes no more
		}
		written = append(written, f)
	}
	if len(written) == 0 {
		return
	}
	n.update(indexKey, func(index string) string { return withLines(index, written) })
	n.update(seenKey, func(seen string) string { return n.withNames(seen, written) })
}

// maxMentions is how often a note says where its fact was met.
const maxMentions = 10

func (n *notes) update(key string, change func(string) string) bool {
	err := update(n.c, key, change)
	if err != nil && abi.CodeOf(err) != abi.CodeDenied {
		n.unstored = cmp.Or(n.unstored, err.Error())
	}
	return err == nil
}

// update changes a value, whoever else does.
func update(c *guest.Call, key string, change func(string) string) error {
	if err := c.KV().Update(key, change); err != nil {
		c.Log(abi.LogWarn, "%s: %v", key, err)
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// withNames adds the names of notes to those seen. Where there are none yet,
// what an earlier version noted is seen too.
func (n *notes) withNames(seen string, written []fact) string {
	var b strings.Builder
	if seen == "" {
		b.WriteString(seenHead)
		for line := range strings.Lines(n.known) {
			if _, link, ok := strings.Cut(line, "]("+oldPrefix); ok {
				name, _, _ := strings.Cut(link, ".md")
				b.WriteString(name + "\n")
			}
		}
	}
	b.WriteString(withNewline(seen))
	for _, f := range written {
		b.WriteString(nameOf(f.key) + "\n")
	}
	return b.String()
}

// oldPrefix is where version 0.1.0 kept its notes.
const oldPrefix = "facts/"

func withNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
