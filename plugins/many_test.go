package plugins_test

import (
	"fmt"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// TestHindsightManyAtOnce: any number of short messages, up to what is read of a session, is retained in one call
// within the default memory, whether its garbage is collected just before or not.
func TestHindsightManyAtOnce(t *testing.T) {
	soak.Only(t, "tens of thousands of messages in a call")
	for n := 12_000; n <= 24_000; n += 1_500 {
		t.Run(fmt.Sprintf("%d messages", n), func(t *testing.T) {
			list, _ := turns(n)
			var msgs []abi.Message
			for i := range list {
				msgs = append(msgs, list[i].Message)
			}
			r := remember(t)
			r.knobs["backend"] = "embedded"
			_, stats := r.call(abi.HookPreCompact, "s", 0, msgs...)
			if stats.Unstored != nil {
				t.Error(stats.Unstored)
			}
			t.Logf("%.0f ms, %d MiB", stats.MS, stats.PeakMemoryBytes>>20)
		})
	}
}
