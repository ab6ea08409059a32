// Package proxy stands between an agent and its provider, and keeps the agent's
// conversations in the model's window. The agent changes its base URL and nothing else.
//
// [New] makes a [Proxy], an http.Handler. It knows chat completions and Responses of OpenAI,
// Messages of Anthropic, generateContent of Gemini and Ollama's own chat, streamed and not. All
// other requests, and all it does not understand in these, are passed on as they came. A request
// to Ollama is given the window that is configured for its model (ollama.go), where it names
// none; where none is configured Ollama is asked for it (loads.go).
//
// # What it does to a request
//
//   - body.go, document.go: the body is read, and its messages are found without decoding
//     them.
//   - family.go: the conversation is known by the session that the agent names in a header,
//     and in it by what its messages say. What was edited or forked is a conversation of its
//     own.
//   - plan.go: what compactions made of the conversation's beginning is put in its place, the
//     same bytes each time. The rest, and all that is no message, stays byte for byte.
//   - exchange.go: where the request may be too long the compactor looks at it (look.go), and
//     what it does is stored (stored.go) before the request goes on.
//   - flight.go: a request that has to be compacted waits until no other one of the conversation is
//     being answered.
//   - send.go, recover.go: where the provider refuses the request as too long it is compacted and
//     sent once more, or with fewer messages each time, by the policy's recovery. Any other
//     answer, and the last refusal, is the client's as it is.
//   - tap.go: what the answer says of its cost is noted while it passes.
//
// # When it compacts
//
// A rewritten beginning costs the provider's cache. So a compaction takes place where the
// window is reached, where the cache has nothing any more as the conversation was idle for
// longer than it lasts, or where the compactor's own gate finds that it pays within few
// calls: [Policy] sets that.
//
// # What can go wrong
//
// Whatever fails, a request goes on as it came, and the response's header [Header] says so.
// Keys pass through; none is stored or logged.
package proxy

import (
	"cmp"

	kagewasm "github.com/kagewasm/kagewasm"
)

// fewCalls is after how many calls a compaction below the window has to pay, where a policy
// does not say.
const fewCalls = 3

// Policy is a policy for conversations that pass here: one that does not say after how many
// calls a compaction has to pay says 3.
func Policy(p kagewasm.Policy) kagewasm.Policy {
	p.When.PaybackCalls = cmp.Or(p.When.PaybackCalls, fewCalls)
	return p
}
