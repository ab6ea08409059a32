package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// recalled is a fact with what makes it worth recalling.
type recalled struct {
	*fact
	score   float64
	passage string
	newer   bool // another note may contradict it, and is newer
}

const (
	// personWeight is what a word of the last message of a person counts, and of
	// the caller's instructions; one of what was done since counts 1.
	personWeight = 3.0
	contextLast  = 6    // messages
	contextBytes = 2000 // of each
	recency      = 0.1  // what the newest note has over the oldest
	// ownScore is what a preference or decision of this very session is worth
	// that no word of the query is in: it was in the context a moment ago.
	ownScore = 0.05
	// floor is the share of the best score below which a note has but a common
	// word with what was done lately, where nobody asked for it.
	floor = 0.1
	// insistence is what each time adds that a fact was said again.
	insistence = 0.1
)

// kindWeights lift what a person said over what was merely found; version 0.1.0
// noted files and requests as well.
var kindWeights = map[kind]float64{preference: 1.3, decision: 1.2, "feedback": 1.3, "request": 0.7, "files": 0.5}

// rank orders facts by how much they bear on the current work, and leaves out
// those that do not.
func (n *notes) rank(in *abi.Input) []recalled {
	facts := n.facts
	asked, done := query(in)
	scores := make([]float64, len(facts))
	wanted := make([]bool, len(facts))
	for _, h := range n.words.Search(asked, rank.Options{Recency: recency}) {
		scores[h.Text] += personWeight * h.Score
		wanted[h.Text] = true
	}
	for _, h := range n.words.Search(done, rank.Options{Recency: recency}) {
		scores[h.Text] += h.Score
	}
	var list []recalled
	best, session := 0.0, sessionOf(in)
	for i := range facts {
		f := &facts[i]
		if weight, ok := kindWeights[f.kind]; ok {
			scores[i] *= weight
		}
		scores[i] *= 1 + insistence*float64(len(f.said)-1)
		if scores[i] == 0 && f.said[0].session == session && (f.kind == preference || f.kind == decision) {
			scores[i] = ownScore
		}
		best = max(best, scores[i])
	}
	for i := range facts {
		if scores[i] > 0 && (wanted[i] || scores[i] == ownScore || scores[i] > floor*best) {
			list = append(list, recalled{fact: &facts[i], score: scores[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b recalled) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.created, a.created), cmp.Compare(a.key, b.key))
	})
	list = newestFirst(list[:min(len(list), maxRecall)])
	for i := range list {
		list[i].passage = passage(&n.words, list[i].fact, asked+"\n"+done)
	}
	return list
}

// newestFirst puts a note before the one that it may contradict.
func newestFirst(list []recalled) []recalled {
	for i := range list {
		for _, name := range list[i].against {
			older := slices.IndexFunc(list, func(r recalled) bool { return r.key == name+".md" })
			if older < 0 {
				continue
			}
			list[older].newer = true
			if older < i {
				newer := list[i]
				list = slices.Insert(slices.Delete(list, i, i+1), older, newer)
			}
		}
	}
	return list
}

// passage is what a fact says, or of a long note the part that bears on the
// query.
func passage(index *rank.Index, f *fact, query string) string {
	text := f.text()
	if len(text) <= maxPassage {
		return text
	}
	start, end := index.Passage(text, query, maxPassage)
	part := text[start:end]
	if start > 0 {
		part = "…" + part
	}
	if end < len(text) {
		part += "…"
	}
	return part
}

// query is what the model is busy with: what it was asked, and what was said
// and done lately.
func query(in *abi.Input) (asked, done string) {
	asked = in.Trigger.Instructions
	var recent []string
	person, seen := false, 0
	for i := len(in.Messages) - 1; i >= 0; i-- {
		m := &in.Messages[i]
		if m.IsPerson() && !person {
			person = true
			asked += "\n" + clip.Head(m.Text(), contextBytes)
		} else if seen < contextLast && m.Kind != abi.KindInjected {
			recent = append(recent, clip.Head(m.Text(), contextBytes))
			for _, c := range m.ToolCalls {
				recent = append(recent, clip.Head(c.Arguments, contextBytes))
			}
		}
		if seen++; person && seen >= contextLast {
			break
		}
	}
	return asked, strings.Join(recent, "\n")
}
