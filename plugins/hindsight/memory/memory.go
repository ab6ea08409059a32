// Package memory is the plugin hindsight: an observer that retains what a
// session says and recalls what bears on the work at hand, and a compactor.
//
// Before a compaction, and at the end of turns, what people and the agent said
// goes into a bank: each message once, without secrets, and nothing that a
// harness, a summary or a memory said. Then those memories are recalled that
// have to do with the last request and do not stand in the context any more;
// each is one line that says when, who and where:
//
//   - [2023-05-08, Caroline, s3 m00012] I went to a support group yesterday
//
// As the compactor it keeps what is pinned, the current turn and the newest
// messages; see compact.
//
// Start with [Plugin]. It never fails a call: whatever its bank does is a line
// in the log. Where what goes could not be retained it says so in its answer, and
// the host makes the cut by other means. In a dry run nothing is retained.
package memory

import (
	"cmp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

// Plugin is the observer and compactor.
var Plugin = guest.Plugin{PreCompact: preCompact, TurnEnd: turnEnd}

func preCompact(c *guest.Call) (*abi.Output, error) {
	p := newPass(c)
	p.retain(p.in.Budget.TargetTokens == 0)
	out := &abi.Output{Inject: p.recall()}
	if p.set.compact && p.in.Compactor() {
		p.compact(out)
	}
	p.store.deliver()
	out.Unstored = p.unstored
	return out, nil
}

// turnEnd retains every so many turns, so that a session which never comes to
// a compaction, or crashes, is remembered all the same.
func turnEnd(c *guest.Call) (*abi.Output, error) {
	p := newPass(c)
	if p.turnIsDue() {
		p.retain(true)
		p.store.deliver()
	}
	return &abi.Output{Unstored: p.unstored}, nil
}

// pass is one call of the plugin.
type pass struct {
	*guest.Call
	in    *abi.Input
	set   settings
	msgs  []abi.Message // without bodies, see read
	texts []string
	store store
	// unstored is the first thing that could not be retained, and why.
	unstored string
}

func newPass(c *guest.Call) *pass {
	p := &pass{Call: c, in: c.Input, set: settingsOf(c.Input), msgs: c.Input.Plain()}
	p.store = p.open()
	return p
}

// lost says what is not remembered, and why. A storage that the operator denies is
// no loss.
func (p *pass) lost(what string, err error) {
	p.warn(what, err)
	if abi.CodeOf(err) != abi.CodeDenied {
		p.unstored = cmp.Or(p.unstored, what+": "+withHint(err))
	}
}

// warn says what went wrong and is survived.
func (p *pass) warn(what string, err error) {
	p.Log(abi.LogWarn, "%s: %s", what, withHint(err))
}

// withHint is an error with what to do about it: nobody sees more of it than that.
func withHint(err error) string {
	if hint := abi.AsError(err).Hint; hint != "" {
		return err.Error() + " (" + hint + ")"
	}
	return err.Error()
}
