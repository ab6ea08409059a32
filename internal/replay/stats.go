package replay

import (
	"math"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// Result is what a replay came to: in sum, and each compaction, in order.
type Result struct {
	Stats
	Points []*Compaction `json:"points,omitempty"`
}

// Stats is what a replay came to in sum. Those of several replays can be added.
type Stats struct {
	// Calls of the model, Unsent those of them that it was spared because the
	// session did not fit its window, or waited for the operator.
	Calls  int `json:"calls"`
	Unsent int `json:"unsent"`
	// InputTokens of all requests, and CachedTokens those of them that stood at
	// the beginning of the request before, to the byte. ReportedTokens are the
	// same by the reports of the compactor; of the first call, which has no
	// request before it, they count nothing.
	InputTokens    int     `json:"input_tokens"`
	CachedTokens   int     `json:"cached_tokens"`
	ReportedTokens int     `json:"reported_cached_tokens"`
	CachedShare    float64 `json:"cached_share"`
	OutputTokens   int     `json:"output_tokens"`
	// LargestRequest is the request with the most tokens.
	LargestRequest int `json:"largest_request"`
	// OverWindow are requests that were larger than the window: nothing compacts, and a provider would
	// refuse them.
	OverWindow int `json:"over_window"`

	Compactions int `json:"compactions"`
	// Per100Calls is compactions per 100 calls.
	Per100Calls float64 `json:"compactions_per_100_calls"`
	// Prunings are looks at the session that only shortened old tool output.
	Prunings int `json:"prunings"`
	// TokensBefore and TokensAfter are sums over the compactions, and Ratio is
	// one over the other.
	TokensBefore int     `json:"tokens_before"`
	TokensAfter  int     `json:"tokens_after"`
	Ratio        float64 `json:"compression_ratio"`
	// Superseded counts messages.
	Superseded int `json:"superseded_messages"`
	// Fallbacks are compactions that somebody else was to make, and Failures
	// what went wrong, by code. Reasons and Strategies count how compactions
	// ended and who made them.
	Fallbacks  int                    `json:"fallbacks"`
	Failures   map[abi.Code]int       `json:"failures,omitempty"`
	Reasons    map[abi.ReasonCode]int `json:"reasons,omitempty"`
	Strategies map[string]int         `json:"strategies,omitempty"`

	// WordsKept is the mean of what the reports of the compactions say: the share of persons'
	// words in what went that the note has as they were written; 1 where nothing went.
	WordsKept float64 `json:"words_kept"`
	wordsKept float64 // in sum
	// Summaries that have all their sections. They are counted only where Options.Missing says what these are.
	Summaries Share `json:"summary_completeness,omitzero"`
	// Failed are failed approaches still named after a compaction: of all calls
	// that failed and are gone from view, those whose command or subject the
	// list still holds word for word.
	Failed Share `json:"failed_approach_retention"`
	// Errors are the texts of the same failures, up to 200 characters each.
	Errors Share `json:"error_retention"`
	// Continuation says how the log goes on after compactions.
	Continuation Continuation `json:"task_continuation"`
	// NamesListed are the names in the lists of all notes, and NamesUsed those of them
	// that the agent used in the next messages of the log.
	NamesListed int `json:"names_listed"`
	NamesUsed   int `json:"names_used"`

	Cost Cost `json:"cost"`
}

// Share is so many of so many.
type Share struct {
	Of    int `json:"of"`
	Whole int `json:"whole"`
}

func (s *Share) add(whole bool) {
	s.Of++
	if whole {
		s.Whole++
	}
}

func (s *Share) plus(o Share) { s.Of, s.Whole = s.Of+o.Of, s.Whole+o.Whole }

// Percent is Whole of Of; 100 where there is nothing.
func (s Share) Percent() float64 {
	if s.Of == 0 {
		return 100
	}
	return 100 * float64(s.Whole) / float64(s.Of)
}

// Cost is in US dollars.
type Cost struct {
	// Compactor is what summaries cost, Primary the agent's own calls, with a
	// cache that never forgets.
	Compactor float64 `json:"compactor"`
	Primary   float64 `json:"primary"`
	// Unknown is set where the price of either is not known.
	Unknown bool `json:"unknown,omitempty"`
}

// sent takes in a call that was made. A counted token is so many of the model's, which it is paid for.
func (s *Stats) sent(r request, output int, prices *tokens.Prices, scale float64) {
	of := func(counted int) int { return int(math.Round(float64(counted) * scale)) }
	s.InputTokens += r.input
	s.LargestRequest = max(s.LargestRequest, r.input)
	s.CachedTokens += r.cached
	s.OutputTokens += output
	s.Cost.Unknown = s.Cost.Unknown || prices == nil
	s.Cost.Primary += prices.Cost(tokens.Usage{CacheRead: of(r.cached), CacheWrite: of(r.input - r.cached),
		Output: of(output)})
}

// took takes in a look at the session.
func (s *Stats) took(r *kagewasm.Report) {
	if !r.Compacted {
		if r.Pruned.Count > 0 {
			s.Prunings++
		}
		return
	}
	s.Compactions++
	s.TokensBefore += r.TokensBefore
	s.TokensAfter += r.TokensAfter
	s.Superseded += len(r.Superseded)
	s.wordsKept += r.Metrics.WordsKept
	s.Cost.Compactor += r.Cost.Compactor
	s.Cost.Unknown = s.Cost.Unknown || r.Cost.PriceUnknown
	if r.Fallback {
		s.Fallbacks++
	}
	for _, f := range r.Failures {
		count(&s.Failures, f.Code, 1)
	}
	count(&s.Reasons, r.ReasonCode, 1)
	count(&s.Strategies, r.Strategy, 1)
}

func count[K comparable](m *map[K]int, key K, n int) {
	if *m == nil {
		*m = make(map[K]int)
	}
	(*m)[key] += n
}

// Add adds the figures of another replay.
func (s *Stats) Add(o Stats) {
	for _, f := range []struct {
		to *int
		n  int
	}{
		{&s.Calls, o.Calls}, {&s.Unsent, o.Unsent}, {&s.OverWindow, o.OverWindow},
		{&s.InputTokens, o.InputTokens}, {&s.CachedTokens, o.CachedTokens},
		{&s.ReportedTokens, o.ReportedTokens}, {&s.OutputTokens, o.OutputTokens}, {&s.Compactions, o.Compactions},
		{&s.Prunings, o.Prunings}, {&s.TokensBefore, o.TokensBefore}, {&s.TokensAfter, o.TokensAfter},
		{&s.Superseded, o.Superseded}, {&s.Fallbacks, o.Fallbacks},
		{&s.Continuation.Compactions, o.Continuation.Compactions},
		{&s.Continuation.Continued, o.Continuation.Continued},
		{&s.Continuation.Reread, o.Continuation.Reread}, {&s.Continuation.Lost, o.Continuation.Lost},
		{&s.NamesListed, o.NamesListed}, {&s.NamesUsed, o.NamesUsed},
	} {
		*f.to += f.n
	}
	for _, f := range []struct {
		to *Share
		n  Share
	}{{&s.Summaries, o.Summaries}, {&s.Failed, o.Failed}, {&s.Errors, o.Errors}} {
		f.to.plus(f.n)
	}
	merge(&s.Failures, o.Failures)
	merge(&s.Reasons, o.Reasons)
	merge(&s.Strategies, o.Strategies)
	s.LargestRequest = max(s.LargestRequest, o.LargestRequest)
	s.wordsKept += o.wordsKept
	s.Cost.Compactor += o.Cost.Compactor
	s.Cost.Primary += o.Cost.Primary
	s.Cost.Unknown = s.Cost.Unknown || o.Cost.Unknown
	s.ratios()
}

func merge[K comparable](to *map[K]int, from map[K]int) {
	for k, n := range from {
		count(to, k, n)
	}
}

// ratios fills in what follows from the sums.
func (s *Stats) ratios() {
	s.CachedShare = ratio(s.CachedTokens, s.InputTokens)
	s.Per100Calls = 100 * ratio(s.Compactions, s.Calls)
	s.Ratio = ratio(s.TokensBefore, s.TokensAfter)
	if s.WordsKept = 1; s.Compactions > 0 {
		s.WordsKept = s.wordsKept / float64(s.Compactions)
	}
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (r *run) figures() Result {
	r.stats.ratios()
	return Result{r.stats, r.points}
}
