package names_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/survival"
)

// BenchmarkBuild reads two million tokens of real sessions, or a generated one
// where there are none.
func BenchmarkBuild(b *testing.B) {
	var msgs []abi.Message
	for _, path := range shared.With(b, nil) {
		msgs = append(msgs, shared.Messages(b, path)...)
	}
	if len(msgs) == 0 {
		msgs = sessiongen.Long(3000, 400)
	}
	n := 0
	for i := range msgs {
		n += len(survival.Text(&msgs[i]))
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		build(msgs)
	}
}
