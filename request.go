package kagewasm

import (
	"cmp"
	"context"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// Request is one session to look at before a model call.
type Request struct {
	// Session identifies it to plugins. Session.ContextWindow is the model's
	// window in tokens, nil where unknown: then 128,000 is used.
	Session abi.Session
	// Messages is the list the model would see, oldest first. Ids have to be
	// unique. A message without one gets one that the same list always gives it;
	// the result has it. The list itself is not changed.
	Messages []abi.Message
	// Overhead is what the request costs beyond its messages, in tokens: tool
	// definitions and whatever else the caller sends.
	Overhead int
	// Reason is why the caller asks. Default abi.TriggerThreshold, or
	// abi.TriggerManual with Force.
	Reason abi.TriggerReason
	// Force compacts below the threshold too.
	Force bool
	// Target is the number of tokens to get down to. Nil is lower x window, and
	// for a forced compaction at most lower x what there is. 0 leaves only what
	// is pinned and the summary: the current turn goes too.
	Target *int
	// Overrides change the policy for this one request.
	Overrides *Overrides
	// Exceeded is what a provider said of a request it refused as too long;
	// with the reason abi.TriggerOverflow. Nil where it said no figures.
	Exceeded *abi.Exceeded
	// DryRun does everything but commit; plugins are told.
	DryRun bool
	// Instructions are what the caller wants kept in view.
	Instructions string
	// Release are ids of messages that plugins pinned in earlier compactions, and
	// that need not stay any more. It holds with the compaction that comes of it.
	Release []string
	// Recall says in one line how the model, or who runs it, can read and search
	// what goes: a tool, a command, a file. The note tells it. Default nothing.
	Recall string
	// Search finds messages that earlier compactions superseded, for plugins that are
	// granted messages.search. Nil: they find nothing.
	Search abi.Search
	// Commit, if set, stores the result before post_compact hooks hear of it.
	// Where it fails the compaction failed, and the session is as it was.
	Commit func(context.Context, *Result) error

	// QuietBelow is a size in tokens up to which the thresholds are not looked
	// at, for instance because a person rejected a compaction there. A session
	// over its window, a forced compaction and an overflow are looked at all
	// the same. Default 0: the thresholds always hold.
	QuietBelow int
	// Sent is what the session's model was sent last; reports compare against
	// it what a provider's prompt cache can still serve. An empty one says that
	// nothing was sent yet. Default what the same Compactor returned for the
	// session last.
	Sent *Sent
	// Ongoing says that the last calls of the model may be in execution: those
	// without results stay, since providers refuse a result without its call.
	// Default false: what is not answered never will be.
	Ongoing bool
	// Cancelled is how many compactions of the session plugins cancelled last, for
	// hosts that do not live from one to the next. Default 0: the Compactor counts
	// those that it was asked for.
	Cancelled int
	// Original returns a message as it came to the session, before earlier
	// prunings shortened it, or nil where it does not know it; the note is
	// written from originals. Default: Messages are as they came.
	Original func(id string) *abi.Message
}

// Overrides are what one compaction does differently, whatever is
// configured. Zero values override nothing.
type Overrides struct {
	// Strategy is named by hand: what plugins propose is not asked for, unless it
	// is delegate.
	Strategy string `json:"strategy,omitempty"`
	// Summarize switches the model on or off.
	Summarize *bool `json:"summarize,omitempty"`
	// Upper and Lower are fractions of the window. An upper one alone takes the
	// lower one along where that would not be below it.
	Upper float64 `json:"upper_threshold,omitempty"`
	Lower float64 `json:"lower_threshold,omitempty"`
	// Prompt is the text of the summary's prompt.
	Prompt string `json:"prompt,omitempty"`
	// KeepLast is the most messages at the end that stay, beside what always does. 0 is
	// none: the current turn goes too.
	KeepLast *int `json:"keep_last,omitempty"`
}

// keepsLast reports whether somebody says how many messages stay, which the target then
// does not say.
func (o *Overrides) keepsLast() bool { return o != nil && o.KeepLast != nil }

// byHand reports whether somebody named a strategy that goes before what plugins
// propose.
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

// Sent is a list of messages as a model was given it, and what they cost in
// tokens, without the request's overhead.
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
	// Record is the compaction to store; nil where none took place, but for a
	// dry run.
	Record *abi.Record
	// Pending is the compaction that waits for the operator: with the strategy
	// checkpoint, where one is due. Messages is the session as it was then.
	// [Compactor.Commit] applies what is pending, [Compactor.Reject] drops it.
	Pending *Result

	// late is what comes of plugins that were not waited for, observing their calls before
	// the compaction.
	late      []*late
	observing *hooks.Late
}
