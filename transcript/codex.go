package transcript

import "github.com/kagewasm/kagewasm/abi"

// codex is the rollout of Codex CLI: one entry a line, with a timestamp, a
// type and a payload. Those of type response_item are what the model sees, in
// the items of the Responses API; event_msg entries are for the screen and
// turn_context entries for the program. The format has no ids.
//
// An answer is an assistant message and the calls that follow it up to a
// result, to other reasoning, or to the token count that closes each response.
// Reasoning belongs to the answer that follows it, and goes with it. The base
// instructions in session_meta are the first message, a system one.
//
// Of user messages those that Codex writes itself have a kind: instructions
// (AGENTS.md), meta (environment, skills), synthetic (an interruption), bash
// (a command the person ran). A kind that the text does not show stands in the
// key "kind" of the line, which Codex passes over.
//
// A compacted entry is Codex's own compaction, and the summary in it a
// compaction_summary. What was before it is superseded, but for what
// replacement_history repeats or, where there is none, for the instructions
// and the latest words of the person. A thread_rolled_back event supersedes
// the turns that it takes back.
//
// See codexDoc for what is written back.
type codex struct{}

func (codex) format() Format { return Codex }

func (codex) detect(src *source) string {
	if !src.lines {
		return "not one JSON object a line"
	}
	o := src.object(src.first, "the line")
	switch o.str("type") {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted":
		if o.is("payload", '{') {
			return ""
		}
	}
	return `the first line has no "payload"`
}

var (
	codexLineKeys    = []string{"timestamp", "type", "payload", "kind"}
	codexPayloadKeys = []string{"type", "role", "content", "name", "arguments", "input", "action", "call_id", "output",
		"id", "model", "base_instructions", "message", "replacement_history", "num_turns"}
	codexItemKeys = []string{"type", "role", "content"}
)

func (codex) decode(src *source) (*decoded, error) {
	doc := &codexDoc{recordDoc: recordDoc{src: src, layout: linesOf(src), arg: textArgument, result: responsesOutput}, meta: -1}
	doc.hold = make([]holding, len(doc.recs))
	doc.lines = make([]codexLine, len(doc.recs))
	r := &codexReader{doc: doc, d: &decoded{doc: doc}}
	for i, at := range doc.recs {
		if err := src.check(at); err != nil {
			return nil, err
		}
		o := src.object(at, "the line", codexLineKeys...)
		if r.line(i, o); o.err != nil {
			return nil, o.err
		}
	}
	r.close()
	r.d.gone = doc.supersede(r.d.messages)
	return r.d, nil
}

// codexLine is one entry of a rollout.
type codexLine struct {
	time string
	// of is the message that an entry which holds none belongs to, or -1.
	of int
	// rollback is how many turns of the person the entry takes back.
	rollback int
	// msgs is how many messages there are before the entry.
	msgs int
	// compacted is set for Codex's own compaction; replaced are the items that
	// took the place of all before, by codexKey, nil where it names none.
	compacted bool
	replaced  map[string]int
}

// codexKey is what a message and its repetition have in common.
func codexKey(role abi.Role, c abi.Content) string { return string(role) + "\x00" + c.Text() }
