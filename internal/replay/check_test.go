package replay_test

import (
	"bytes"
	"encoding/json"
	"slices"

	"pgregory.net/rapid"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/invariants"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/session"
)

// checker holds the steps of a replay to what has to be true of each.
type checker struct {
	t rapid.TB
	recording
	counter abi.Counter
	// unsendable logs hold what no provider takes, whatever becomes of them.
	unsendable bool
	// list is what the model has to be shown, by all that was said so far, and
	// at how much of the log is in it.
	list     []abi.Message
	at       int
	session  *session.Session
	problems int
}

func (c *checker) problem(format string, args ...any) {
	c.t.Helper()
	c.problems++
	c.t.Errorf(format, args...)
}

// step checks one look at the session.
func (c *checker) step(s replay.Step) {
	c.session = s.Session
	c.list = append(slices.Clip(c.list), c.Messages[c.at:s.At]...)
	c.at = s.At
	if !same(s.Before, c.list) {
		c.t.Fatalf("call %d: the list is not what the last look left and what arrived since", s.Call)
	}
	rewritten := false
	for _, r := range s.Results {
		rewritten = c.look(s.Call, r) || rewritten
	}
	if s.Err == nil && !same(s.After, c.list) {
		c.t.Fatalf("call %d: the model was sent something else than the report says", s.Call)
	}
	if len(s.Results) == 0 {
		return
	}
	last := s.Results[len(s.Results)-1].Report
	if s.Sent && last.TokensAfter > last.Window {
		c.problem("call %d: %d tokens were sent, in a window of %d", s.Call, last.TokensAfter, last.Window)
	}
	if c.list = s.After; !rewritten {
		return
	}
	if n := c.tokens(); n != last.TokensAfter {
		c.problem("call %d: the list has %d tokens, and the report says %d", s.Call, n, last.TokensAfter)
	}
	c.after(s.Call)
	if s.Sent && !c.unsendable {
		c.wire(s.Call)
	}
}

// tokens counts the list again.
func (c *checker) tokens() (n int) {
	for i := range c.list {
		n += c.counter.Message(&c.list[i])
	}
	return n
}

// look checks what one result made of the list, and reports whether it changed
// it.
func (c *checker) look(call int, r *kagewasm.Result) bool {
	if r.Pending != nil {
		return false // nothing was done yet
	}
	if !r.Report.Compacted && r.Report.Pruned.Count == 0 {
		if !same(r.Messages, c.list) {
			c.problem("call %d: %s, and the list changed", call, r.Report.ReasonCode)
		}
		return false
	}
	report, err := json.Marshal(r.Report)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, problem := range invariants.CheckLive(sessiongen.JSONL(c.list), sessiongen.JSONL(r.Messages), report) {
		c.problem("call %d: %s", call, problem)
	}
	for _, m := range r.Messages {
		if slices.Contains(r.Report.Inserted, m.ID) {
			c.inserted(call, &m)
		}
	}
	c.list = r.Messages
	return true
}

// inserted checks a message that a compaction inserted: nobody's but the
// host's, and marked as data.
func (c *checker) inserted(call int, m *abi.Message) {
	if _, framed := abi.Unfence(m.Text()); !framed || m.Role != abi.RoleUser ||
		m.Kind != abi.KindSummary && m.Kind != abi.KindInjected {
		c.problem("call %d: inserted %s: role %s, kind %s, framed %v", call, m.ID, m.Role, m.Kind, framed)
	}
}

// after checks a list that was rewritten against the log itself, however many
// compactions lie between.
func (c *checker) after(call int) {
	log := c.Messages[:c.at]
	calls, results := abi.Orphans(log)
	nowCalls, nowResults := abi.Orphans(c.list)
	for _, now := range []struct{ is, was map[string]bool }{{nowCalls, calls}, {nowResults, results}} {
		for key := range now.is {
			if !now.was[key] {
				c.problem("call %d: orphaned: %s", call, key)
			}
		}
	}
	at := make(map[string]int, len(c.list))
	for i := range c.list {
		at[c.list[i].ID] = i
	}
	for i, pinned := range abi.Pinned(log) {
		if !pinned {
			continue
		}
		k, ok := at[log[i].ID]
		if !ok || !bytes.Equal(sessiongen.JSONL(log[i:i+1]), sessiongen.JSONL(c.list[k:k+1])) {
			c.problem("call %d: pinned %s is not what it was", call, log[i].ID)
		}
	}
}

// end checks that the session still has every message that ever arrived, as it
// came and in order.
func (c *checker) end() {
	if c.session == nil {
		return // no call was made
	}
	stored := c.session.All()
	next := 0
	for i := range stored {
		if next < len(c.Messages) && stored[i].ID == c.Messages[next].ID {
			if !equal(&stored[i].Message, &c.Messages[next]) {
				c.problem("%s is not stored as it came", stored[i].ID)
			}
			next++
		}
	}
	if next < len(c.Messages) {
		c.problem("%d of %d messages are stored in order: %s is missing", next, len(c.Messages), c.Messages[next].ID)
	}
}

func same(a, b []abi.Message) bool {
	return slices.EqualFunc(a, b, func(x, y abi.Message) bool { return equal(&x, &y) })
}

// equal compares messages; those that share their texts cost nothing.
func equal(a, b *abi.Message) bool {
	return a.ID == b.ID && a.Role == b.Role && a.Kind == b.Kind && a.ToolCallID == b.ToolCallID &&
		a.IsError == b.IsError &&
		a.Timestamp == b.Timestamp && slices.Equal(a.ToolCalls, b.ToolCalls) && a.Content.Equal(b.Content)
}
