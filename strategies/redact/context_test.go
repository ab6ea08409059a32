package redact_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// lookedAt is a context that is done from a look on.
type lookedAt struct {
	context.Context
	looks, until int
}

// Err implements context.Context.
func (l *lookedAt) Err() error {
	if l.looks++; l.looks >= l.until {
		return context.Canceled
	}
	return nil
}

// TestRedactContext: a long text is read until the context is done, and then there is
// no text: half of it would still have its secrets.
func TestRedactContext(t *testing.T) {
	r, err := redact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, unit := range map[string]string{
		"secrets": "api_key=abcdefgh1 ", "nothing": "lorem ipsum ", "beginnings": "bearer ", "links": "https://a.b/c?token=",
	} {
		t.Run(name, func(t *testing.T) {
			size := soak.Count(1<<17, 1<<20, 1<<20)
			text := strings.Repeat(unit, size/len(unit))
			all := &lookedAt{Context: t.Context(), until: 1 << 30}
			want, n := r.Redact(text)
			if got, m, err := r.RedactContext(all, text); got != want || m != n || err != nil {
				t.Fatalf("%d secrets, %v, want %d", m, err, n)
			}
			if all.looks < size>>16 {
				t.Errorf("it looked %d times in %d bytes", all.looks, size)
			}
			for _, until := range []int{1, all.looks / 2, all.looks} {
				ctx := &lookedAt{Context: t.Context(), until: until}
				if got, m, err := r.RedactContext(ctx, text); got != "" || m != 0 || !errors.Is(err, context.Canceled) {
					t.Errorf("done at look %d: %d bytes, %d secrets, %v", until, len(got), m, err)
				}
				if ctx.looks > until+len(redact.Defaults()) {
					t.Errorf("done at look %d, it went on to look %d", until, ctx.looks)
				}
			}
		})
	}
}
