package firewall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// TestLinear: an answer may name and add as much as it is allowed to, and the
// time to judge it grows no faster. All insertions say the same, and so would
// have one id.
func TestLinear(t *testing.T) {
	cost.Linear(t, 1_000, func(inserts int) func() {
		msgs := sessiongen.Long(2*inserts, 30)
		out := &abi.Output{}
		for _, id := range []string{"sys", "task"} {
			out.Messages = append(out.Messages, abi.OutputMessage{Ref: id})
		}
		for range inserts {
			out.Messages = append(out.Messages,
				abi.OutputMessage{Message: abi.Message{Role: abi.RoleUser, Kind: abi.KindInjected, Content: abi.Text("x")}})
		}
		out.Messages = append(out.Messages, abi.OutputMessage{Ref: "last"})
		return func() {
			plan, err := firewall.FromOutput(msgs, out, source)
			if err != nil {
				t.Fatal(err)
			}
			v, err := firewall.Apply(caseOf(msgs, 1<<30), plan)
			if err != nil || len(v.Inserted) != inserts {
				t.Fatal(err)
			}
		}
	})
}

// TestLongNames: an id is text like any other, and is not repeated at length.
func TestLongNames(t *testing.T) {
	msgs := session()
	msgs[6].ID = strings.Repeat("long", 1<<16)
	_, err := apply(t, caseOf(msgs, 10), abi.Plan{Supersede: []string{msgs[6].ID, fmt.Sprint(msgs[6].ID, "er")}})
	wantRefusal(t, "nobody is called that", err, abi.CodeUnknownID, "longlong")
	if n := len(abi.AsError(err).Message); n > 1000 {
		t.Errorf("a refusal of %d bytes", n)
	}
}
