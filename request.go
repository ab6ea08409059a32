package kagewasm

import (
	"cmp"
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/toolname"
)

// Request is one session to look at before a model call.
type Request struct {
	// Session says whose messages these are: plugins are given it, and it names the model.
	// Session.ContextWindow is the model's window in tokens, nil where unknown: then 128,000 is used.
	Session abi.Session
	// Messages is the list the model would see, oldest first. Ids have to be
	// unique. A message without one gets one that the same list always gives it;
	// the result has it. The list itself is not changed.
	Messages []abi.Message
	// AppendOnly promises that nobody writes into a list that a request of this session gave as its
	// Messages: what arrives is appended, and any other change makes another list. Counts are then
	// found by position, so that a look at a long session costs only what is new in it. Where the
	// promise is broken, changed messages are counted as what stood in their places before. Default
	// false: each message is compared with what was counted.
	AppendOnly bool
	// Overhead is what the request costs beyond its messages, in tokens: tool
	// definitions and whatever else the caller sends.
	Overhead int
	// OutputReserve is a number of tokens that this request wants to have for the model's answer. It is
	// taken off the window beside the policy's.
	OutputReserve int
	// Reason is why the caller asks. Default abi.TriggerThreshold, or abi.TriggerManual with Force or Instructions:
	// somebody asked then. What is compacted for its size names the threshold, whatever else it gives.
	Reason abi.TriggerReason
	// Force compacts below the threshold too.
	Force bool
	// Target is the number of tokens to get down to. Nil is Lower times the window, and for a forced
	// compaction at most Lower times what there is. 0 leaves only what is pinned and the summary: the
	// current turn goes too, but for the newest message of a person after a provider's refusal.
	Target *int
	// Overrides change the policy for this one request.
	Overrides *Overrides
	// Exceeded is what a provider said of a request that it refused as too long; with the reason
	// abi.TriggerOverflow. Nil where it named no figures.
	Exceeded *abi.Exceeded
	// DryRun does everything except commit; plugins are told that it is one.
	DryRun bool
	// Instructions are what the caller wants kept in view.
	Instructions string
	// Release are the ids of messages that plugins pinned in earlier compactions, and that need not
	// stay any more. It takes effect with the compaction that this request leads to.
	Release []string
	// Recall says in one line how the model, or the person who runs it, can read and search what is
	// superseded: a tool, a command, a file. The note says it too. Default nothing.
	Recall string
	// Used is what the provider counted for the last request. Where a model's tokenizer is not public,
	// its [Scale] is corrected by that from then on. Default nothing.
	Used *Used
	// Search finds messages that earlier compactions superseded, for plugins that are
	// granted messages.search. Nil: they find nothing.
	Search abi.Search
	// Begin, if set, is called where a compaction is due and worth its price, before plugins and models
	// hear of it, except in a dry run. Where it returns an error the session stays as it was, nothing is
	// audited, and Compact returns that error: so a host puts a compaction off while a call of the
	// session is in flight. Default: every compaction begins.
	Begin func(context.Context) error
	// Commit, if set, stores the result before post_compact hooks hear of it. Where it returns an error
	// the compaction has failed, and the session is as it was.
	Commit func(context.Context, *Result) error
	// Asked, if set, is called with each compaction that a plugin asks for in pre_compact or post_compact
	// of this one, except in a dry run. Hold it until the turn is over, as [Turn].Wanted does: any
	// compaction before then answers it. It may be called after Compact has returned, for plugins that
	// were not waited for. Default: the report alone has them.
	Asked func(hooks.Wish)
	// Audit, if set, is called for this request in the place of Options.Audit, for
	// instance for a trial that belongs in no log.
	Audit func(Event)

	// QuietBelow is a size in tokens up to which the thresholds are not looked
	// at, for instance because a person rejected a compaction there. A session
	// over its window, a forced compaction and an overflow are looked at all
	// the same. Default 0: the thresholds always hold.
	QuietBelow int
	// Rejected says that a person rejected a compaction of this very list. With a strategy that asks a
	// person, only a forced compaction and an overflow are then looked at. Default false.
	Rejected bool
	// Sent is what the session's model was sent last. Reports say how much of it a provider's prompt
	// cache can still serve. An empty one says that nothing was sent yet. Default: what the same
	// Compactor returned last for the session.
	Sent *Sent
	// Cold says that the provider's cache holds nothing of the session any more. All that the model is
	// sent is then written to the cache again in any case, and a compaction costs nothing there.
	// Default false.
	Cold bool
	// Ongoing says that the last calls of the model may still be running. Those without results then
	// stay, since providers refuse a result without its call. Default false: a call without a result
	// will never get one.
	Ongoing bool
	// Original returns a message as it came to the session, before earlier prunings shortened it, or
	// nil for an id it does not know. The note is written from originals. Default: Messages are as they
	// came.
	Original func(id string) *abi.Message
}

// Trigger returns why the caller asks: the reason that the request names, or the default.
func (r *Request) Trigger() abi.TriggerReason {
	switch {
	case r.Reason != "":
		return r.Reason
	case r.Force || r.Instructions != "":
		return abi.TriggerManual
	}
	return abi.TriggerThreshold
}

// Used is what a provider said that a request took. A model's [Scale] is corrected by it where its
// tokenizer is not public.
type Used struct {
	// Messages is how many messages from the beginning of Request.Messages the request held, as they
	// stand there now.
	Messages int `json:"messages"`
	// Tokens is the whole input that the provider counted, cached or not.
	Tokens int `json:"tokens"`
}

// Overrides are what one compaction does differently, whatever is
// configured. Zero values override nothing.
type Overrides struct {
	// Strategy is named by hand. Plugins are then not asked for a plan, unless it is delegate.
	Strategy string `json:"strategy,omitempty"`
	// Summarize switches the model on or off.
	Summarize *bool `json:"summarize,omitempty"`
	// Upper and Lower are fractions of the window. Where Upper alone is set and
	// Lower would not be below it, Lower comes down with it.
	Upper float64 `json:"upper_threshold,omitempty"`
	Lower float64 `json:"lower_threshold,omitempty"`
	// Prompt is the text of the summary's prompt.
	Prompt string `json:"prompt,omitempty"`
	// KeepLast is the most messages at the end that stay, beside what always does. With 0 none stays:
	// the current turn goes too, but for the newest message of a person after a provider's refusal.
	KeepLast *int `json:"keep_last,omitempty"`
	// NoPrune leaves old tool output as it is.
	NoPrune bool `json:"no_prune,omitempty"`
	// OnePiece lets nothing stay before something that goes, beside what always does: see
	// [strategies.KeepConfig].
	OnePiece bool `json:"one_piece,omitempty"`
}

// keepsLast reports whether the request says how many messages stay. The target then does not decide
// that.
func (o *Overrides) keepsLast() bool { return o != nil && o.KeepLast != nil }

// byHand reports whether the request names a strategy that is used instead of what plugins propose.
func (o *Overrides) byHand() bool {
	return o != nil && o.Strategy != "" && o.Strategy != StrategyDelegate
}

// apply returns the policy with the overrides in it.
func (o *Overrides) apply(p Policy) Policy {
	if o == nil {
		return p
	}
	if o.Strategy != "" {
		p.Strategy = o.Strategy
	}
	if o.Summarize != nil {
		p.Summarize.Off = !*o.Summarize
	}
	if o.Prompt != "" {
		p.Summarize.Prompt = o.Prompt
	}
	if o.KeepLast != nil {
		p.Keep.Messages, p.Keep.Tokens, p.Keep.Exchanges = *o.KeepLast, 0, 0
	}
	p.Prune.Off = p.Prune.Off || o.NoPrune
	p.Keep.OnePiece = p.Keep.OnePiece || o.OnePiece
	when := &p.When
	if o.Upper != 0 || o.Lower != 0 {
		when.MaxTokens, when.ReserveTokens = 0, 0
	}
	if o.Upper != 0 {
		if when.Lower >= o.Upper {
			when.Lower = 0
		}
		when.Upper = o.Upper
	}
	when.Lower = cmp.Or(o.Lower, when.Lower)
	return p
}

// Given is what a compaction was made of, beside its messages and plugins, as the audit log keeps it.
// With the answers of models the compaction can be made again.
type Given struct {
	// Policy is the configured policy without the predicates of Keep.Always. Always are the ids of the
	// messages for which those reported true.
	Policy    Policy     `json:"policy"`
	Always    []string   `json:"always,omitempty"`
	Overrides *Overrides `json:"overrides,omitempty"`
	// Messages is how many messages the session had.
	Messages      int           `json:"messages"`
	Overhead      int           `json:"overhead,omitempty"`
	OutputReserve int           `json:"output_reserve,omitempty"`
	Force         bool          `json:"force,omitempty"`
	Target        *int          `json:"target,omitempty"`
	Exceeded      *abi.Exceeded `json:"exceeded,omitempty"`
	Instructions  string        `json:"instructions,omitempty"`
	Release       []string      `json:"release,omitempty"`
	Recall        string        `json:"recall,omitempty"`
	Ongoing       bool          `json:"ongoing,omitempty"`
	// Plugins are the digests of the plugins that could take part, by name.
	Plugins map[string]string `json:"plugins,omitempty"`
}

// givenTo returns what a look was made of.
func givenTo(l *look) *Given {
	r := &l.req
	g := &Given{Policy: l.opts.Policy, Overrides: r.Overrides, Messages: len(r.Messages), Overhead: r.Overhead,
		OutputReserve: r.OutputReserve, Force: r.Force, Target: r.Target, Exceeded: r.Exceeded,
		Instructions: l.instructions, Release: r.Release, Recall: r.Recall, Ongoing: r.Ongoing}
	if l.opts.Live != nil {
		g.Policy = l.opts.Live(r.Session)
	}
	for i, asked := range askedFor(r.Messages, g.Policy.Keep.Always) {
		if asked {
			g.Always = append(g.Always, r.Messages[i].ID)
		}
	}
	g.Policy.Keep.Always = nil // which are code
	for _, p := range l.opts.Plugins {
		if g.Plugins == nil {
			g.Plugins = make(map[string]string)
		}
		g.Plugins[p.Manifest().Name] = p.Digest()
	}
	return g
}

// Sent is a list of messages as a model was given it, and its cost in tokens, without the request's
// overhead.
type Sent struct {
	Messages []abi.Message
	Tokens   int
}

// Result is what to send to the model, and what was done for it.
type Result struct {
	// Messages is the new list. Where nothing was done it is the request's.
	Messages []abi.Message
	// Report says what was done, and to what.
	Report Report
	// Record is the compaction to store; nil where none took place. A dry run has one all the same.
	Record *abi.Record
	// Pending is the compaction that waits for the operator, with the strategy checkpoint, where one is
	// due. Messages is the session as it was then. [Compactor.Commit] applies it, [Compactor.Reject]
	// drops it.
	Pending *Result
	// Heard and Said are the answers of models and plugins in a compaction that waits, for
	// the event of its end; see [Event].
	Heard, Said []Heard

	// late is what plugins answer that were not waited for, observing their calls before the
	// compaction.
	late      []*late
	observing *hooks.Late
}

// askedFor marks the messages that an operator wants kept. It returns nil where there are no
// predicates.
func askedFor(msgs []abi.Message, always []func(*abi.Message) bool) (asked []bool) {
	if len(always) == 0 {
		return nil
	}
	named := toolname.Fill(msgs)
	for i := range named {
		asked = append(asked, isAskedFor(&named[i], always))
	}
	return asked
}

// isAskedFor reports whether an operator wants a message kept.
func isAskedFor(m *abi.Message, always []func(*abi.Message) bool) bool {
	return slices.ContainsFunc(always, func(keep func(*abi.Message) bool) bool { return keep(m) })
}
