package hooks_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// BenchmarkPre is what a dispatcher costs around one observer that does
// nothing, alone and with other sessions that share the breaker.
func BenchmarkPre(b *testing.B) {
	d, err := hooks.New([]hooks.Plugin{observer("a", says(nil))}, hooks.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Pre(b.Context(), input(abi.HookPreCompact), patient)
		}
	})
	b.Run("shared", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				d.Pre(b.Context(), input(abi.HookPreCompact), patient)
			}
		})
	})
}
