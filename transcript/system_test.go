package transcript_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestSystemPromptBehindThePerson: "the system prompt" stands apart where a format has a place for it, and where it is in
// others; what the system says later does not.
func TestSystemPromptBehindThePerson(t *testing.T) {
	features.Proves(t, "K10")
	s := read(t, []byte(`{"id":"u","role":"user","content":"Build it."}
{"id":"s","role":"system","content":"Be careful."}
{"id":"a","role":"assistant","content":"Done."}
{"id":"t","role":"system","content":"It is late."}
{"id":"v","role":"user","content":"And?"}
`), transcript.Neutral)
	apart := []string{"system Be careful.", "user Build it.", "assistant Done.", "user It is late.", "user And?"}
	inPlace := []string{"user Build it.", "system Be careful.", "assistant Done.", "system It is late.", "user And?"}
	for _, to := range transcript.Formats() {
		t.Run(string(to), func(t *testing.T) {
			out := encode(t, s, s.Messages, to)
			if check := providers[to]; check != nil {
				if faults := check(out); len(faults) > 0 {
					t.Errorf("%q\n%s", faults, out)
				}
			}
			again := read(t, out, to)
			var got []string
			for i := range again.Messages {
				got = append(got, string(again.Messages[i].Role)+" "+again.Messages[i].Text())
			}
			want := inPlace
			if to == anthropic || to == gemini {
				want = apart
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			prompt := slices.IndexFunc(again.Messages, func(m abi.Message) bool { return m.Text() == "Be careful." })
			if !abi.Pinned(again.Messages)[prompt] {
				t.Error("it is not pinned any more")
			}
		})
	}
}
