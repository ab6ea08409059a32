package transcript_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
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

// TestReadContext: reading a session ends once its context is done, and what was read
// before is not affected by that.
func TestReadContext(t *testing.T) {
	message := `{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}`
	for name, doc := range map[string]string{
		"one a line":     strings.Repeat(message+"\n", 500),
		"a list":         `[` + strings.Repeat(message+",", 500) + message + `]`,
		"a request body": `{"model":"m","messages":[` + strings.Repeat(message+",", 500) + message + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			all := &lookedAt{Context: t.Context(), until: 1 << 30}
			s, err := transcript.ReadContext(all, "x", []byte(doc), transcript.Auto)
			if err != nil || len(s.Messages) < 500 {
				t.Fatal(err)
			}
			if all.looks < 500 {
				t.Errorf("it looked %d times", all.looks)
			}
			all.until = 0 // it is done now, and the session goes on
			if _, err := s.Encode(s.Messages, transcript.Same); err != nil {
				t.Error(err)
			}
			for _, until := range []int{1, all.looks / 2, all.looks} {
				ctx := &lookedAt{Context: t.Context(), until: until}
				_, err := transcript.ReadContext(ctx, "x", []byte(doc), transcript.Auto)
				if abi.CodeOf(err) != abi.CodeCanceled || ctx.looks > until+1 {
					t.Errorf("done at look %d of %d: %v, after %d looks", until, all.looks, err, ctx.looks)
				}
			}
		})
	}
}
