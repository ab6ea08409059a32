package hostile_test

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// Answers are guests whose answers are within their limit in bytes, and meant to cost
// who reads, counts or takes secrets out of them far more.
func Answers() []Guest {
	const nobody = `{"role":"user","kind":"%s","content":"x y"},`
	return []Guest{
		answer("a million messages and a number", "they are counted before one is built, and read once",
			abi.CodeBadOutput, `{"messages":[`, `{},`, `1]}`),
		answer("a million messages", "that are nobody's", abi.CodeBadOutput, `{"messages":[`, `{},`, `{}]}`),
		answer("300,000 references", "more than an answer may name", abi.CodeBadOutput, `{"messages":[`, `{"ref":"m1"},`,
			`{"ref":"m1"}]}`),
		answer("a million pins", "of messages that are not there", abi.CodeBadOutput, `{"always_keep":[`, `"",`, `""]}`),
		fewer("150,000 references", "each takes 20 times its length", abi.CodeMemory, 150_000,
			`{"messages":[`, `{"ref":"m1"},`, `{"ref":"m1"}]}`),
		fewer("50,000 messages of nobody", "the first is refused", abi.CodeBadOutput, 50_000, `{"messages":[`, `{},`, `{}]}`),
		answer("a million facts", "of nothing", abi.CodeMemory, `{"retain":[`, `"",`, `""]}`),
		answer("a million parts", "of one message", abi.CodeMemory, `{"messages":[{"ref":"m1","content":[`, `"",`, `""]}]}`),
		answer("a million tool calls", "of one message", abi.CodeMemory, `{"messages":[{"ref":"m1","tool_calls":[`, `{},`,
			`{}]}]}`),
		judged(answer("a million lists", "as arguments, which are written again", "",
			`{"messages":[{"ref":"m1","tool_calls":[{"arguments":[`, `[],`, `1]}]}]}`), abi.CodeUnknownID),
		numbered("half a million keys", "none of which may be there twice", `{"messages":[{"ref":"m1","meta":{`, `}}]}`),
		numbered("half a million unknown fields", "of which some are told", `{`, `}`),
		judged(fewer("30,000 injected messages", "there is room for a few", "", 30_000, `{"messages":[`,
			fmt.Sprintf(nobody, abi.KindInjected), `{"ref":"m00001"}]}`), abi.CodeUnknownID),
		judged(fewer("30,000 summaries", "which are one", "", 30_000, `{"messages":[`,
			fmt.Sprintf(nobody, abi.KindSummary), `{"ref":"m00001"}]}`), abi.CodeUnknownID),
		judged(answer("a summary of angles", "slow to count, and too long by its bytes alone", "", `{"summary":"`, `<`, `"}`),
			abi.CodeGrew),
		judged(answer("a summary of links", "slow to read", "", `{"summary":"`, `https://a.b/c?token=`, `"}`), abi.CodeGrew),
		judged(answer("a summary of secrets", "slow to take out", "", `{"summary":"`, `api_key=abcdefgh1 `, `"}`),
			abi.CodeGrew),
		judged(answer("a summary of escapes", "twice as long before they are read", "", `{"summary":"`, `\n`, `"}`),
			abi.CodeGrew),
		answer("an injection of angles", "cut by bytes before anything is counted", "", `{"inject":"`, `<`, `"}`),
		answer("an injection of links", "and before anything is taken out", "", `{"inject":"`, `https://a.b/c?token=`, `"}`),
		answer("a reason of markers", "cut before it is defused", "", `{"cancel":true,"reason":"`, `<|`, `"}`),
		fewer("190,000 pins", "of messages that are not there: some are told", "", 190_000, `{"always_keep":[`, `"m",`,
			`"m"]}`),
	}
}

// maxAnswer is the default limit of an answer.
const maxAnswer = 4 << 20

// answer is a guest whose answer repeats something as often as its limit allows.
func answer(name, why string, code abi.Code, begin, again, end string) Guest {
	return fewer(name, why, code, (maxAnswer-len(begin)-len(end))/len(again), begin, again, end)
}

// fewer is answer with a number of repetitions.
func fewer(name, why string, code abi.Code, n int, begin, again, end string) Guest {
	return answering(name, why, code, func() string { return begin + strings.Repeat(again, n) + end })
}

// numbered is a guest whose answer has as many different keys as fit.
func numbered(name, why, begin, end string) Guest {
	return answering(name, why, abi.CodeMemory, func() string {
		var b strings.Builder
		b.WriteString(begin)
		for i := 0; b.Len() < maxAnswer-32; i++ {
			fmt.Fprintf(&b, `"%x":1,`, i)
		}
		return b.String() + `"last":1` + end
	})
}

func answering(name, why string, code abi.Code, doc func() string) Guest {
	g := Guest{Name: "answer: " + name, Why: why, Code: code, Wasm: func() []byte { return wasmtest.Answer(Hook, doc()) }}
	if code != "" {
		g.Phase = abi.PhaseOutput
	}
	return g
}

// judged is a guest whose answer is none for a compaction.
func judged(g Guest, code abi.Code) Guest {
	g.Judged = code
	return g
}
