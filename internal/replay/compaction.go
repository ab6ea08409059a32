package replay

import (
	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// Compaction is one compaction of a replay, with what it is measured by.
type Compaction struct {
	// Call is the number of the call that it was made for, or behind which the turn ended, Arrived how many
	// messages of the log had arrived by then.
	Call         int    `json:"call"`
	Arrived      int    `json:"arrived"`
	Strategy     string `json:"strategy"`
	TokensBefore int    `json:"tokens_before"`
	TokensAfter  int    `json:"tokens_after"`
	// Ratio is one over the other.
	Ratio float64 `json:"compression_ratio"`
	// CachedShare is how much of the next request stood at the beginning of the one before, to the byte; null where
	// none was sent.
	CachedShare *float64 `json:"cached_share"`
	WordsKept   float64  `json:"words_kept"`
	// Completeness is the share of the sections that a model was asked for; 1 where none wrote a summary.
	Completeness float64 `json:"completeness"`
	// Failed and Errors are as in [Stats].
	Failed Share `json:"failed_approach_retention"`
	Errors Share `json:"error_retention"`
	// Continued is whether the next call neither makes a call again that is gone nor names a file that is; null where
	// no call followed.
	Continued *bool `json:"continued"`
	// Needed is what was gone.
	Needed []Need `json:"needed,omitempty"`
}

// Need is what a call after a compaction needed, and the list did not hold.
type Need struct {
	// After counts the calls since the compaction: 1 is the next.
	After int `json:"after"`
	// Call is a call that was made before, with the same answer; the next [nextCalls] are looked at for such ones.
	Call string `json:"call,omitempty"`
	// File is a file that the next call names.
	File string `json:"file,omitempty"`
}

// compactions returns those of a step, without what is known later.
func compactions(step *Step) (list []*Compaction) {
	for _, result := range step.Results {
		if r := &result.Report; r.Compacted {
			list = append(list, compactionOf(step, r))
		}
	}
	return list
}

func compactionOf(step *Step, r *kagewasm.Report) *Compaction {
	return &Compaction{Call: step.Call, Arrived: step.At, Strategy: r.Strategy, TokensBefore: r.TokensBefore,
		TokensAfter: r.TokensAfter, Ratio: ratio(r.TokensBefore, r.TokensAfter), WordsKept: r.Metrics.WordsKept,
		Completeness: r.Metrics.Completeness}
}

// maxNeed is how many bytes of a call are told.
const maxNeed = 200

// needs returns what the calls of an answer need that the list does not hold: calls that they make again, and files
// that they name.
func (r *run) needs(calls []toolCall, v *view) (again, lost []Need) {
	for i := range calls {
		c := &calls[i]
		if r.repeats(c, v) {
			again = append(again, Need{Call: clip.Cut(c.name+" "+c.arguments, maxNeed, "…")})
		}
		for _, name := range r.namesLost(c, v) {
			lost = append(lost, Need{File: name})
		}
	}
	return again, lost
}
