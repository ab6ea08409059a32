package strategies

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
)

// ShortenFixed cuts down giant output and arguments in messages that have to stay, where they leave no
// room for a note under the target. It returns the view with them cut, and the ids of the messages that
// were cut.
//
// They are cut to half of the target first, and to less where that is not enough: many calls may have
// been answered at once, with no giant among the results. What fits is left alone, since the model may
// not have seen it yet. Output is that of tools, and what programs wrote in the role of the user, such
// as a command that a person ran. For the latter, recall says in one line how the rest can be read. It
// is also cut where it alone leaves a note less than its due under the lower threshold: what a command
// printed is no reason to forget the session.
func ShortenFixed(v *View, keep KeepConfig, n NoteConfig, recall string) (*View, []string) {
	if keep.MessageTokens < 0 || v.All {
		return v, nil
	}
	cutPrinted := func(v *View, limit int) (*View, []string) {
		limit = cmp.Or(keep.MessageTokens, limit)
		return v.excerpted(limit, recall, func(i int) bool { return v.stays(i) && !v.Pinned[i] && v.printed(i) })
	}
	after, all := shortenUnder(v, n, manyParts, leastOutput, isTight, func(v *View, limit int) (*View, []string) {
		after, ids := v.Edited(capped(v, cmp.Or(keep.MessageTokens, limit), v.stays))
		after, printed := cutPrinted(after, limit)
		return after, append(ids, printed...)
	})
	lower := *after
	if v.Lower > 0 {
		lower.Target = min(v.Target, v.Lower)
	}
	wants := func(b Budget) bool { return b.Tight || b.cramped }
	cut, printed := shortenUnder(&lower, n, fewParts, minCap, wants, cutPrinted)
	if len(printed) == 0 {
		return after, all
	}
	cut.Target = v.Target
	all = append(all, printed...)
	slices.Sort(all)
	return cut, slices.Compact(all)
}

// isTight reports whether what stays leaves no room for a note.
func isTight(b Budget) bool { return b.Tight }

// printed reports whether a program wrote message i in the role of the user.
func (v *View) printed(i int) bool {
	m := &v.Messages[i]
	return m.Role == abi.RoleUser && (m.Kind == abi.KindBash || m.Kind == "" && !m.IsPerson())
}

// ShortenWords cuts down giants that persons wrote, the task and what the model is busy with, where
// they leave no room for a note under the target. Call it after [ShortenFixed]: persons' words matter
// more than any output. Messages for which held reports true stay as they are. recall says in one line
// how the rest of the others can be read. It returns what ShortenFixed does.
func ShortenWords(v *View, keep KeepConfig, n NoteConfig, held func(*abi.Message) bool, recall string) (
	*View, []string) {
	if keep.MessageTokens < 0 {
		return v, nil
	}
	return shortenUnder(v, n, fewParts, minCap, isTight, func(v *View, limit int) (*View, []string) {
		return v.excerpted(limit, recall, func(i int) bool {
			return v.Messages[i].Role == abi.RoleUser && v.stays(i) && !held(&v.Messages[i])
		})
	})
}

// ShortenGiants cuts down giants among the units that may go, so that what is older need not go before its time: a unit
// of more than 2,000 tokens that has more than half of the room there is for units, and does not fit beside newer ones.
// Output, arguments, and what somebody said in it keep their beginning and end, of a forty-eighth of the target, or of
// less where less is left. The first one that cannot be cut so far goes, with all that is older.
//
// It returns what [ShortenFixed] does, and of the messages those that a person or the agent wrote.
func (s *Spare) ShortenGiants(v *View, n NoteConfig, recall string) (after *View, ids, words []string) {
	keep := &s.Keep
	if keep.MessageTokens < 0 || keep.OnePiece || v.All || v.Fits() {
		return v, nil, nil
	}
	note, least := NewBudget(v, n, DropSource).Note, leastGiant
	if v.Asked { // whatever is in the way of a target that somebody named
		least = 0
	}
	for {
		c := crossingOf(v, note, keep)
		if c.at < 0 || v.size(v.Units[c.at]).within(size{max(c.room.tokens/2, least), c.room.bytes / 2}) {
			return v, ids, words
		}
		limit := v.Target / giantParts
		if v.Asked && v.Target < smallTarget {
			limit = max(limit, c.left.tokens/2)
		}
		short, cut, said := unitShortened(v, c.at, cmp.Or(keep.MessageTokens, limit), recall)
		for limit /= 2; limit >= minCap && !short.size(short.Units[c.at]).within(c.left); limit /= 2 {
			short, cut, said = unitShortened(v, c.at, limit, recall)
		}
		if len(cut) == 0 || !short.size(short.Units[c.at]).within(c.left) {
			return v, ids, words
		}
		v, ids, words = short, append(ids, cut...), append(words, said...)
	}
}

const (
	// giantParts is the part of the target, one of so many, that giants are cut to.
	giantParts = 48
	// leastGiant is how many tokens no giant has: in a small session everything is large beside the rest.
	leastGiant = 2000
	// smallTarget is a target, in tokens, under which giants keep half of the room that is left: there is not much else.
	smallTarget = 8000
)

// unitShortened returns the view with each message of a unit cut to limit tokens, the ids of those that were, and of
// these the ones that a person or the agent wrote.
func unitShortened(v *View, unit, limit int, recall string) (after *View, ids, words []string) {
	limit = max(limit, minCap)
	of := func(i int) bool { return v.UnitOf[i] == unit && !v.Pinned[i] }
	after, ids = v.Edited(capped(v, limit, of))
	after, said := after.excerpted(limit, recall, of)
	for _, id := range said {
		i := slices.IndexFunc(v.Messages, func(m abi.Message) bool { return m.ID == id })
		if !v.printed(i) {
			words = append(words, id)
		}
	}
	return after, append(ids, said...), words
}

// excerpted returns the view with only the beginning and the end of messages that a person or the agent
// wrote, or a program in the role of the user, and that cost more than limit tokens, and the ids of those.
func (v *View) excerpted(limit int, recall string, may func(i int) bool) (after *View, ids []string) {
	var list []firewall.Excerpt
	for i := range v.Messages {
		m := &v.Messages[i]
		if (m.Role == abi.RoleUser || m.Role == abi.RoleAssistant) && v.Tokens[i] > limit && may(i) {
			list = append(list, excerpts(m, v.Tokens[i], limit, v.Count)...)
		}
	}
	short, ids := v.List.Shortened(list, recall, v.Count)
	return v.of(short), ids
}

const (
	// manyParts is the part of the target, one of so many, that outputs are shortened to at the least,
	// where many stay. leastOutput is how many tokens of one are left in any case.
	manyParts   = 32
	leastOutput = 128
	// fewParts is the same for what persons wrote.
	fewParts = 8
)

// shortenUnder shortens to half of the target, then to a quarter and so on, down to one of so many
// parts, as long as what has to stay leaves a note a budget for which wants reports true.
func shortenUnder(v *View, n NoteConfig, parts, least int, wants func(Budget) bool,
	to func(v *View, limit int) (*View, []string)) (after *View, all []string) {
	for share := 2; share <= parts; share *= 2 {
		turn := *v
		turn.All = false // what is pinned may leave no room by itself
		if !wants(NewBudget(&turn, n, DropSource)) {
			break
		}
		next, ids := to(v, max(least, v.Target/share))
		v, all = next, append(all, ids...)
	}
	slices.Sort(all)
	return v, slices.Compact(all)
}

// stays reports whether message i belongs to a unit that may not go.
func (v *View) stays(i int) bool { return !v.Candidate(v.Units[v.UnitOf[i]]) }

// excerpts returns what brings a message of so many tokens to about limit: each of its texts keeps the
// same share of its beginning and end.
func excerpts(m *abi.Message, tokens, limit int, count abi.Counter) (list []firewall.Excerpt) {
	cut := func(part int, text string) {
		n := count.Text(text)
		end := (n*limit/tokens - markTokens) / 2
		if n <= limit/8 || end <= 0 {
			return
		}
		size := len(text) * end / n
		head, _ := fit(text, end, size, first, count.Text)
		tail, _ := fit(text[len(head):], end, size, last, count.Text)
		list = append(list, firewall.Excerpt{ID: m.ID, Part: part, Head: len(head), Tail: len(tail)})
	}
	if !m.Content.IsParts() {
		cut(0, m.Text())
	}
	for i, p := range m.Content.Parts() {
		if p.Text != "" {
			cut(i, p.Text)
		}
	}
	return list
}

// markTokens is how many tokens the mark takes that stands for what is left out of a text.
const markTokens = 48
