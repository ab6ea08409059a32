package proxy

import (
	"cmp"
	"fmt"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/learned"
)

// extent is how long the request of an exchange may be, found in less time than counting it takes.
type extent struct{ *exchange }

// reaches reports whether the request may have so many tokens.
func (e extent) reaches(tokens int) bool {
	if e.estimate() < tokens {
		return false
	}
	_, _, reported := e.reported()
	return reported || e.sampled() >= tokens
}

// leastTokenBytes is how many bytes a token has at least in what clients send, but for a few
// characters here and there: who counts by it finds too many. Usually it has more.
const leastTokenBytes, usualTokenBytes = 2, 4

// half reports whether the request may take half of its model's window. The lock of the family is not held.
func (e extent) half() bool {
	e.family.mu.Lock()
	defer e.family.mu.Unlock()
	return e.estimate() >= e.engine.Model.Window()/2
}

// estimate is how many tokens the request has at most, as far as what is known of its model goes: what an earlier one
// had, by its provider or by the last look, and the bytes that came since.
func (e extent) estimate() int {
	if n, rest, ok := e.reported(); ok {
		return n + rest/leastTokenBytes
	}
	if rest, ok := e.since(e.branch.counted); ok {
		return int(float64(e.branch.counted.tokens)*e.scale()) + rest/leastTokenBytes
	}
	return e.size() / leastTokenBytes
}

// reported is what the provider said of the last request, and how many bytes came since. It is not ok where that is not
// to be believed.
func (e extent) reported() (tokens, rest int, ok bool) {
	b := e.branch
	if rest, ok = e.since(b.reported); !ok {
		return 0, 0, false
	}
	counted := (e.size() - rest) / usualTokenBytes
	if more, ok := e.since(b.counted); ok {
		counted = b.counted.tokens + max(0, more-rest)/usualTokenBytes
	}
	tokens, ok = learned.Took(cmp.Or(e.engine.Model.TokenScale, 1), counted, b.reported.tokens)
	return tokens, rest, ok
}

// since is how many bytes came since a request of which something is known. It is not ok where that says nothing of
// this one.
func (e extent) since(m measured) (bytes int, ok bool) {
	els := e.doc.els[e.doc.lead:]
	if m.tokens == 0 || m.under != e.plan || m.elements > len(els) {
		return 0, false
	}
	if rest := els[m.elements:]; len(rest) > 0 {
		bytes = rest[len(rest)-1].end - rest[0].start
	}
	return bytes, true
}

// size is how many bytes are to be sent.
func (e extent) size() int {
	if e.plan == nil {
		return len(e.doc.doc)
	}
	els := e.doc.els[e.doc.lead:]
	n := len(e.doc.doc) - (els[e.plan.elements-1].end - els[0].start)
	for _, pc := range e.plan.pieces {
		n += len(pc.text)
		if pc.text == nil {
			n += els[pc.to-1].end - els[pc.from].start
		}
	}
	return n
}

// messageBytes is how many bytes of what is to be sent are messages, the system's among them.
func (e extent) messageBytes() int {
	n := e.size() - len(e.doc.doc) + e.doc.list.end - e.doc.list.start
	for _, key := range []string{"system", "instructions", "systemInstruction", "system_instruction"} {
		at := e.doc.fields[key]
		n += at.end - at.start
	}
	return n
}

// A conversation has to grow by a quarter of what the last look left, and by so many tokens, before a bound holds again
// that the look could not get well below.
const (
	heldShare  = 0.25
	heldTokens = 1000
)

// held reports whether a bound is out of reach, and the conversation has hardly grown since a look found that: another
// one would cost a compaction, and the provider's cache, for next to nothing.
func (e extent) held() bool {
	last := e.branch.counted
	rest, ok := e.since(last)
	grown := max(int(heldShare*float64(last.tokens)), heldTokens)
	return ok && e.branch.over && rest/usualTokenBytes < min(grown, e.window()/50)
}

// hold notes whether a bound of the policy is out of reach: the last look left so much that the next messages pass it.
func (e extent) hold(found abi.ReasonCode) {
	e.branch.over = false
	policy, err := e.policy()
	if err != nil || found == abi.ReasonBelowThreshold { // which is what the compactor says of it, by counts of its own
		return
	}
	over := func(left, most int) bool { return most > 0 && float64(left)*(1+heldShare) > float64(most) }
	tokens, size := int(float64(e.branch.counted.tokens)*e.scale()), e.messageBytes()
	if !over(tokens, policy.When.MaxTokens) && !over(size, policy.When.MaxBytes) {
		return
	}
	e.branch.over = true
	e.p.opts.Log(fmt.Sprintf("proxy: %d tokens in %d bytes have to stay: max_tokens or max_bytes is out of reach, and "+
		"holds again once the conversation has grown", tokens, size))
}

// A sample of the body says nearly how many tokens it has, in a hundredth of the time that
// counting takes.
const (
	samples     = 64
	sampleBytes = 512
	sampleError = 1.2 // how far the whole may be beyond it
)

// sampled is how many tokens the request has at most, by a sample of it.
func (e extent) sampled() int {
	doc, step := e.doc.doc, len(e.doc.doc)/samples
	if step < sampleBytes {
		return e.size()
	}
	n := 0
	for i := range samples {
		n += e.engine.Counter.Text(string(doc[i*step : i*step+sampleBytes]))
	}
	return int(float64(n) / (samples * sampleBytes) * float64(e.size()) * sampleError * e.scale())
}

// scale is how many tokens of the model stand for one that is counted, and never less than one: what any
// conversation's look found, else what is published.
func (e extent) scale() float64 {
	found, ok := e.p.scales.Load(e.engine.Model.Name())
	if !ok {
		found = e.engine.Model.TokenScale
	}
	return max(1, found.(float64))
}

// learn notes the scale that a look went by: providers have corrected it, where they said what requests took.
func (e extent) learn(scale *kagewasm.Scale) {
	factor := 1.0
	if scale != nil {
		factor = scale.Factor
	}
	e.p.scales.Store(e.engine.Model.Name(), factor)
}
