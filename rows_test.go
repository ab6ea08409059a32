package kagewasm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// words are n words, each of them another.
func words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("fact%d", i)
	}
	return strings.Join(list, " ")
}

// modelWith answers every request with a whole response.
type modelWith func(context.Context, abi.ModelRequest) (abi.ModelResponse, error)

func (m modelWith) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	return m(ctx, r)
}

// whole holds a list to what every compaction has to leave: the head of the
// session as it was, no call or result alone, and each inserted message framed
// by the host.
func whole(t *testing.T, why string, before []abi.Message, r *kagewasm.Result) {
	t.Helper()
	for i, m := range before[:2] {
		if r.Messages[i].ID != m.ID || r.Messages[i].Text() != m.Text() {
			t.Errorf("%s: the list begins %s", why, ids(r.Messages[:2]))
		}
	}
	if calls, results := abi.Orphans(r.Messages); len(calls)+len(results) > 0 {
		t.Errorf("%s: orphans %v %v", why, calls, results)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if !strings.Contains(" "+strings.Join(r.Report.Inserted, " ")+" ", " "+m.ID+" ") {
			continue
		}
		if _, ok := abi.Unfence(m.Text()); !ok || m.Role != abi.RoleUser ||
			m.Kind != abi.KindSummary && m.Kind != abi.KindInjected {
			t.Errorf("%s: inserted without a frame: %+v", why, m)
		}
	}
}
