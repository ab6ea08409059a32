package strategies_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// limited is a provider that takes so many tokens, those of the answer included where whole is set, and says so.
func limited(most int, whole bool) *fake {
	return &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
		n := requestTokens(r)
		if whole {
			n += r.MaxTokens
		}
		if n > most {
			return abi.ModelResponse{}, &abi.Error{Code: abi.CodeContextLength, Message: "prompt is too long",
				Err: refused{abi.Exceeded{Tokens: n, Limit: most}}}
		}
		return answer(r, "fine"), nil
	}}
}

// refused is an error with the provider's figures.
type refused struct{ by abi.Exceeded }

func (refused) Error() string            { return "it is too long" }
func (r refused) Exceeded() abi.Exceeded { return r.by }

// tries are the attempts of a summary as "CHARACTERSxREQUESTS", one for each try.
func tries(r strategies.Written) string {
	var out []string
	for _, a := range r.Attempts {
		what, level, _ := strings.Cut(a.What, ", ")
		level = strings.TrimSuffix(level, " characters of a result")
		part, of := 1, 1
		if _, numbers, ok := strings.Cut(what, "prefix "); ok {
			_, _ = fmt.Sscanf(numbers, "%d/%d", &part, &of)
		}
		if part == 1 {
			out = append(out, fmt.Sprintf("%sx%d", level, of))
		}
	}
	return strings.Join(out, " ")
}

// TestRetryWithinAStatedLimit: where the refusal says what the model takes, the next try shows as much of the results
// as fits that in as many requests, down to none. There are more requests only where that is too much without any.
func TestRetryWithinAStatedLimit(t *testing.T) {
	features.Proves(t, "A10", "complaint 4")
	words := turns(0)
	for i := range 60 {
		words = append(words, abi.Message{ID: fmt.Sprintf("t%d", i), Role: abi.RoleAssistant,
			Content: abi.Text(fmt.Sprintf("thought %d: ", i) + distinct(40))})
	}
	for _, tc := range []struct {
		why    string
		msgs   []abi.Message
		chunks int
		most   int
		whole  bool
		want   string
	}{
		{"it fits", turns(60), 1, 6000, true, "200x1"},
		{"150 fit", turns(60), 1, 5300, true, "200x1 150x1"},
		{"100 fit", turns(60), 1, 4500, true, "200x1 100x1"},
		{"50 fit", turns(60), 1, 3800, true, "200x1 50x1"},
		{"none fit", turns(60), 1, 2900, true, "200x1 0x1"},
		{"of three parts each fits with 50", turns(60), 3, 2800, true, "200x3 50x3"},
		{"without any it is too much", turns(60), 1, 2600, true, "200x1 150x9"},
		{"there are no results", words, 1, 2900, true, "200x1 150x4"},
		{"the answer does not count: 150 fit", turns(60), 1, 4800, false, "200x1 150x1"},
		{"the answer does not count: of three parts each fits with 50", turns(60), 3, 2300, false, "200x3 50x3"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			cfg := strategies.Config{MaxSummaryTokens: 500, PreserveRecent: 2, Chunks: tc.chunks}
			f := limited(tc.most, tc.whole)
			r := mustRun(t, f, mustPrepare(t, tc.msgs, 100, cfg), cfg)
			if got := tries(r); got != tc.want {
				t.Errorf("tried %s, want %s", got, tc.want)
			}
			if n := f.requests[len(f.requests)-1].MaxTokens; n > max(1, tc.most/4) && len(r.Attempts) > 1 {
				t.Errorf("an answer may have %d tokens of %d", n, tc.most)
			}
		})
	}
}

// TestTheLastLevelInParts: where results are left out altogether and the provider refuses that too, though it said that
// it takes it, the same is read in more requests before the summary is given up.
func TestTheLastLevelInParts(t *testing.T) {
	features.Proves(t, "A10", "complaint 4")
	cfg := strategies.Config{MaxSummaryTokens: 500, PreserveRecent: 2}
	f := &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
		if n := requestTokens(r); n > 1800 {
			return abi.ModelResponse{}, &abi.Error{Code: abi.CodeContextLength, Message: "prompt is too long",
				Err: refused{abi.Exceeded{Tokens: n, Limit: 2600}}}
		}
		return answer(r, "fine"), nil
	}}
	r := mustRun(t, f, mustPrepare(t, turns(60), 100, cfg), cfg)
	if got := tries(r); !strings.HasPrefix(got, "200x1 0x1 0x") || r.Chunks < 2 {
		t.Errorf("tried %s", got)
	}
}
