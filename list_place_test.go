package kagewasm_test

import (
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestAnotherPlaceInAListIsTold: where a compactor's list has its summary behind other messages
// that stay, and the host puts it before them, the report says so; and nothing where it stands
// as in the list.
func TestAnotherPlaceInAListIsTold(t *testing.T) {
	features.Proves(t, "K30")
	inPlace := keepOnly("Forty steps went well.", fixed)
	behind := func(in *abi.Input) (*abi.Output, error) {
		out, err := inPlace(in)
		said := slices.IndexFunc(out.Messages, func(m abi.OutputMessage) bool { return m.Ref == "" })
		summary := out.Messages[said]
		out.Messages = append(slices.Delete(out.Messages, said, said+1), summary)
		return out, err
	}
	for want, pre := range map[string]func(*abi.Input) (*abi.Output, error){
		"": inPlace, "not where the list has them": behind} {
		r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(compactor(pre))}), request(400, chat(60))).Report
		if r.Strategy != "delegate" || len(r.Hooks) != 1 {
			t.Fatalf("by %s, %v", r.Strategy, r.Failures)
		}
		if got := strings.Join(r.Hooks[0].Warnings, " "); got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
