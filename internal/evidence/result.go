package evidence

import "github.com/kagewasm/kagewasm/internal/lists"

// Result is what was measured.
type Result struct {
	Conversations int `json:"conversations"`
	Turns         int `json:"turns"`
	// Questions with evidence, of which the figures are means; the others were
	// not asked.
	Questions       int `json:"questions"`
	WithoutEvidence int `json:"without_evidence"`
	// UnknownEvidence is how many turns questions name that are not there: they
	// count as not found.
	UnknownEvidence int  `json:"unknown_evidence,omitempty"`
	Unit            Unit `json:"unit"`
	// Budget in tokens, of AtBudget.
	Budget     int                `json:"budget"`
	Overall    Recall             `json:"overall"`
	ByCategory map[string]*Recall `json:"by_category"`
	// Sessions is the same by sessions.
	Sessions SessionRecall `json:"sessions"`
}

// Recall is the mean share of the evidence, 0 to 1.
type Recall struct {
	Questions int     `json:"questions"`
	R5        float64 `json:"r5"`
	R10       float64 `json:"r10"`
	R25       float64 `json:"r25"`
	R50       float64 `json:"r50"`
	// At12Pct is at 12% of the conversation's characters.
	At12Pct float64 `json:"at_12pct"`
	// AtBudget is at [Result].Budget tokens.
	AtBudget float64 `json:"at_budget"`
}

// SessionRecall is the share of questions for which one of the sessions with
// evidence, or all of them, are among the first.
type SessionRecall struct {
	Questions int     `json:"questions"`
	Any5      float64 `json:"any5"`
	Any10     float64 `json:"any10"`
	All5      float64 `json:"all5"`
	All10     float64 `json:"all10"`
}

// partOfText is the share of a conversation's text that At12Pct looks at.
const partOfText = 0.12

// add takes in the answer to one question.
func (r *Result) add(q *Question, found []Passage, s sizes) {
	found = s.units(found)
	ids := lists.Map(found, func(p Passage) string { return p.Turn })
	if len(q.Evidence) > 0 {
		r.Questions++
		one := Recall{
			Questions: 1,
			R5:        share(q.Evidence, first(ids, 5)),
			R10:       share(q.Evidence, first(ids, 10)),
			R25:       share(q.Evidence, first(ids, 25)),
			R50:       share(q.Evidence, first(ids, 50)),
			At12Pct:   share(q.Evidence, ids[:within(found, int(partOfText*float64(s.characters)), s.charactersOf)]),
			AtBudget:  share(q.Evidence, ids[:within(found, r.Budget, s.tokensOf)]),
		}
		category := r.ByCategory[q.Category]
		if category == nil {
			category = new(Recall)
			r.ByCategory[q.Category] = category
		}
		r.Overall.add(one)
		category.add(one)
	}
	if len(q.Sessions) > 0 {
		sessions := s.sessions(ids)
		five, ten := share(q.Sessions, first(sessions, 5)), share(q.Sessions, first(sessions, 10))
		r.Sessions.Questions++
		r.Sessions.Any5 += one(five > 0)
		r.Sessions.Any10 += one(ten > 0)
		r.Sessions.All5 += one(five == 1)
		r.Sessions.All10 += one(ten == 1)
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (r *Recall) figures() []*float64 {
	return []*float64{&r.R5, &r.R10, &r.R25, &r.R50, &r.At12Pct, &r.AtBudget}
}

func (r *Recall) add(o Recall) {
	r.Questions += o.Questions
	more := o.figures()
	for i, f := range r.figures() {
		*f += *more[i]
	}
}

// finish makes means of the sums.
func (r *Result) finish() {
	mean(r.Overall.Questions, r.Overall.figures()...)
	for _, c := range r.ByCategory {
		mean(c.Questions, c.figures()...)
	}
	s := &r.Sessions
	mean(s.Questions, &s.Any5, &s.Any10, &s.All5, &s.All10)
}

func mean(n int, sums ...*float64) {
	for _, s := range sums {
		*s /= float64(max(n, 1))
	}
}
