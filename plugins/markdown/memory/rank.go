package memory

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// BM25's usual constants: how soon repetition stops to count, and how much
// long notes pay for their length.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// queryWeight is what a word of the last message of a person counts, beside
// those of the recent context and of the caller's instructions.
const (
	personWeight  = 3.0
	contextWeight = 1.0
	contextLast   = 6    // messages
	contextBytes  = 2000 // of each
)

// kindWeights lift what a person said over what was merely found.
var kindWeights = map[kind]float64{preference: 1.3, decision: 1.2, files: 0.6, request: 0.7}

// own is what a preference or decision of this very session is worth that no
// word of the query is in: it was in the context a moment ago.
const own = 0.05

// query is what the model is busy with, as weighted words.
func query(in *abi.Input) map[string]float64 {
	q := make(map[string]float64)
	put := func(text string, weight float64) {
		for _, w := range terms(text) {
			q[w] = max(q[w], weight)
		}
	}
	put(in.Trigger.Instructions, personWeight)
	person, seen := false, 0
	for i := len(in.Messages) - 1; i >= 0; i-- {
		m := &in.Messages[i]
		if m.IsPerson() && !person {
			person = true
			put(head(m.Text()), personWeight)
		} else if seen < contextLast && m.Kind != abi.KindInjected {
			put(head(m.Text()), contextWeight)
			for _, c := range m.ToolCalls {
				put(head(c.Arguments), contextWeight)
			}
		}
		if seen++; person && seen >= contextLast {
			break
		}
	}
	return q
}

func head(s string) string {
	if len(s) > contextBytes {
		return strings.ToValidUTF8(s[:contextBytes], "")
	}
	return s
}

// rank orders facts by how much they bear on the query, the newer first where
// that is equal, and leaves out those that do not.
func rank(facts []fact, q map[string]float64, session string) []fact {
	docs, df, total := make([]map[string]int, len(facts)), make(map[string]int), 0
	for i := range facts {
		docs[i] = make(map[string]int)
		for _, w := range terms(facts[i].title + " " + facts[i].text) {
			if docs[i][w]++; docs[i][w] == 1 {
				df[w]++
			}
			total++
		}
	}
	average := float64(max(total, 1)) / float64(max(len(facts), 1))
	asked := slices.Sorted(maps.Keys(q)) // sums of fractions depend on their order
	type scored struct {
		fact
		score float64
	}
	var list []scored
	for i, f := range facts {
		length, score := 0, 0.0
		for _, n := range docs[i] {
			length += n
		}
		for _, w := range asked {
			if n := docs[i][w]; n > 0 {
				idf := math.Log(1 + (float64(len(facts)-df[w])+0.5)/(float64(df[w])+0.5))
				score += q[w] * idf * float64(n) * (bm25K + 1) / (float64(n) + bm25K*(1-bm25B+bm25B*float64(length)/average))
			}
		}
		if weight, ok := kindWeights[f.kind]; ok {
			score *= weight
		}
		if score == 0 && f.session == session && (f.kind == preference || f.kind == decision) {
			score = own
		}
		if score > 0 {
			list = append(list, scored{f, score})
		}
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.created, a.created), cmp.Compare(a.key, b.key))
	})
	ranked := make([]fact, len(list))
	for i := range list {
		ranked[i] = list[i].fact
	}
	return ranked
}

// terms are the words of a text that carry meaning, the parts of names beside
// the names, and pairs of characters where words have no spaces between them.
func terms(text string) (list []string) {
	for w := range strings.FieldsSeq(normalize(splitCamel(text))) {
		switch {
		case stopwords[w] || len(w) == 1:
		case isASCII(w):
			list = append(list, stem(w))
		case dense(w) > 1:
			r := []rune(w)
			for i := range r[1:] {
				list = append(list, string(r[i:i+2]))
			}
		default:
			list = append(list, w)
		}
	}
	return list
}

// splitCamel puts a space where a small letter meets a capital one.
func splitCamel(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	var last byte
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && last >= 'a' && last <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteByte(s[i])
		last = s[i]
	}
	return b.String()
}

// stem cuts the commonest English endings.
func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) > 3 && !strings.HasSuffix(rest, "s") {
			return rest
		}
	}
	return w
}
