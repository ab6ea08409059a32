package transcript_test

import (
	"bytes"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/transcript"
)

func FuzzNeutral(f *testing.F)         { fuzzFormat(f, transcript.Neutral) }
func FuzzOpenAI(f *testing.F)          { fuzzFormat(f, openAI) }
func FuzzOpenAIResponses(f *testing.F) { fuzzFormat(f, responses) }
func FuzzAnthropic(f *testing.F)       { fuzzFormat(f, anthropic) }
func FuzzGemini(f *testing.F)          { fuzzFormat(f, gemini) }
func FuzzGeminiCLI(f *testing.F)       { fuzzFormat(f, geminiCLI) }
func FuzzClaudeCode(f *testing.F)      { fuzzFormat(f, claudeCode) }
func FuzzCodex(f *testing.F)           { fuzzFormat(f, codex) }
func FuzzPi(f *testing.F)              { fuzzFormat(f, pi) }
func FuzzSWEAgent(f *testing.F)        { fuzzFormat(f, sweAgent) }
func FuzzOpenHands(f *testing.F)       { fuzzFormat(f, openHands) }

// FuzzDetect reads whatever it is given in whatever format it looks like.
func FuzzDetect(f *testing.F) { fuzzFormat(f, transcript.Auto) }

// fuzzFormat holds that nothing panics, that what loads is written back byte
// for byte, and that a part of it can be written, in every format, and read.
func fuzzFormat(f *testing.F, format transcript.Format) {
	for _, s := range samples(f) {
		if len(s.data) < 20_000 && (format == s.format || format == transcript.Auto) {
			f.Add(s.data, uint64(0x5a5a))
		}
	}
	for _, odd := range []string{"", "[", "{}", "[]", "null", `{"role":"user"}`, "\ufeff", "{\"role\":\"user\"}\n{",
		`{"tools":[]}`} {
		f.Add([]byte(odd), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, fate uint64) {
		source := bytes.Clone(data)
		s, err := transcript.Read("fuzz", data, format)
		if err != nil {
			if code := abi.CodeOf(err); code != abi.CodeBadInput {
				t.Fatalf("code %s: %v", code, err)
			}
			return
		}
		if out := encode(t, s, s.Messages, transcript.Same); !bytes.Equal(out, source) {
			t.Fatalf("differs from the source\n%q\n%q", out, source)
		}
		var some []abi.Message
		for i := range s.Messages {
			if fate>>(i%64)&1 == 1 {
				some = append(some, s.Messages[i])
			}
		}
		if len(some) == 0 {
			return
		}
		some = append(some, abi.Message{ID: "new", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("so far")})
		for _, to := range append(transcript.Formats(), transcript.Same) {
			out := encode(t, s, some, to)
			if to == transcript.Same {
				to = s.Format
			}
			if _, err := transcript.Read("again", out, to); err != nil && !tooDeep(data) {
				t.Fatalf("as %s: %v\n%q", to, err, out)
			}
		}
		if !bytes.Equal(data, source) {
			t.Fatal("the source was changed")
		}
	})
}

// tooDeep tells sources that are near the limit of nesting: another format may
// need a level more.
func tooDeep(data []byte) bool {
	depth, most := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most > strictjson.MaxDepth-10
}
