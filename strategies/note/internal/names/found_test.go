package names_test

import (
	"context"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// TestFound: a text is looked through once, whichever messages go.
func TestFound(t *testing.T) {
	msgs := []abi.Message{
		{ID: "a", Role: abi.RoleUser, Content: abi.Text("see store_lease.go and HTTPServer")},
		{ID: "b", Role: abi.RoleAssistant, Content: abi.Text("see internal/store/lease_test.go")},
	}
	found := new(names.Found)
	for n := range len(msgs) + 1 {
		harness := outcome.Harness{GoOn: func() bool { return true }}
		l := names.Build(context.Background(), msgs[:n], nil, harness, found)
		l.Beside(context.Background(), msgs[n:], harness, found)
	}
	if n := found.Texts(); n != len(msgs) {
		t.Errorf("%d texts were looked through, of %d", n, len(msgs))
	}
}
