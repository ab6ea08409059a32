package kagewasm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// bytesOf returns what messages add to the body of a request.
func bytesOf(msgs []abi.Message) (n int) {
	for i := range msgs {
		n += strategies.Bytes(&msgs[i])
	}
	return n
}

// picture is a message with an image of so many bytes: few tokens, however large it is.
func picture(id string, bytes int) abi.Message {
	return abi.Message{ID: id, Role: abi.RoleUser, Content: abi.Parts(abi.TextPart("look at this"),
		abi.RawPart("image", []byte(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+
			strings.Repeat("A", bytes)+`"}}`)))}
}

// TestBytesWithAModel: with a summary by a model too no more stays than the byte budget holds, and what fits is
// not compacted again.
func TestBytesWithAModel(t *testing.T) {
	features.Proves(t, "complaint 6")
	const most = 200_000
	msgs := chat(4)
	for i := range 12 {
		msgs = append(msgs, picture(fmt.Sprint("shot", i), 40_000), abi.Message{ID: fmt.Sprint("seen", i),
			Role: abi.RoleAssistant, Content: abi.Text(strings.Repeat("It shows the lock of the store. ", 8))})
	}
	m := writes("all is well")
	c := newCompactor(t, kagewasm.Options{Model: m, Policy: kagewasm.Policy{When: kagewasm.When{MaxBytes: most}}})
	r := compact(t, c, request(1_000_000, msgs))
	if n := bytesOf(r.Messages); !r.Report.Compacted || r.Report.Strategy != "summarize" || n > most*60/85 {
		t.Errorf("%s: %d bytes, %d were to be left: %s", r.Report.Strategy, n, most*60/85, r.Report.Reason)
	}
	asked := len(m.Requests())
	if again := compact(t, c, request(1_000_000, r.Messages)); again.Report.Compacted || len(m.Requests()) != asked {
		t.Errorf("it is compacted again: %s", again.Report.Reason)
	}
}

// TestBytesThatStay: where what has to stay exceeds the byte budget, that is said, and nothing is lost for it.
func TestBytesThatStay(t *testing.T) {
	features.Proves(t, "complaint 6")
	pins := []abi.Message{picture("task", 90_000), {ID: "a0", Role: abi.RoleAssistant, Content: abi.Text("I see.")},
		{ID: "u1", Role: abi.RoleUser, Content: abi.Text("And?")}}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{MaxBytes: 50_000}}})
	r := compact(t, c, request(1_000_000, pins))
	if !strings.Contains(r.Report.Warning, "where a request may have 50000 (max_bytes)") || r.Report.Compacted ||
		!slices.EqualFunc(r.Messages, pins, func(a, b abi.Message) bool { return a.ID == b.ID }) {
		t.Errorf("compacted %v, %q: %s", r.Report.Compacted, r.Report.Warning, r.Report.Reason)
	}
}

// TestBoundsHoldWhateverTheyCost: a bound in tokens or bytes holds also where a compaction would not earn back its
// cost.
func TestBoundsHoldWhateverTheyCost(t *testing.T) {
	features.Proves(t, "A2", "complaint 6")
	msgs, total := chat(60), 0
	for i := range msgs {
		total += wordCounter{}.Message(&msgs[i])
	}
	for _, tc := range []struct {
		why    string
		when   kagewasm.When
		window int
		code   abi.ReasonCode
	}{
		{"max_tokens", kagewasm.When{MaxTokens: total - 5}, 1_000_000, abi.ReasonCompacted},
		{"max_bytes", kagewasm.When{MaxBytes: bytesOf(msgs) - 100}, 1_000_000, abi.ReasonCompacted},
		{"a share of the window", kagewasm.When{}, total * 10 / 9, abi.ReasonNotWorthIt},
	} {
		t.Run(tc.why, func(t *testing.T) {
			tc.when.PaybackCalls, tc.when.Upper, tc.when.Lower = 3, 0.8, 0.79
			c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: tc.when}})
			req := request(tc.window, msgs)
			if tc.code == abi.ReasonCompacted {
				req.QuietBelow = 2 * total
			}
			if r := compact(t, c, req); r.Report.ReasonCode != tc.code {
				t.Errorf("%d tokens: %s %s", r.Report.TokensBefore, r.Report.ReasonCode, r.Report.Reason)
			}
		})
	}
}
