package turns_test

import (
	"errors"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/turns"
)

// TestAnswers: a compaction answers what was asked for before it, whoever wanted it, and so does a look for that which
// did not fail: with nothing that could go it is done. One that failed answers nothing.
func TestAnswers(t *testing.T) {
	features.Proves(t, "T2")
	full, fits := errors.New("no space left"), &abi.Error{Code: abi.CodeExceedsWindow}
	for _, c := range []struct {
		reason    abi.TriggerReason
		compacted bool
		err       error
		want      bool
	}{
		{abi.TriggerThreshold, true, nil, true}, {abi.TriggerThreshold, false, nil, false},
		{abi.TriggerPlugin, false, nil, true}, {abi.TriggerPlugin, false, full, false},
		{abi.TriggerAgent, false, fits, true}, {abi.TriggerAgent, false, full, false},
		{abi.TriggerManual, false, fits, false}, {abi.TriggerAgent, true, full, true},
	} {
		if got := turns.Answers(c.reason, c.compacted, c.err); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
