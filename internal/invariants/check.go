package invariants

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/internal/set"
)

// report is what the check needs of a compaction's report.
type report struct {
	Compacted    bool     `json:"compacted"`
	ReasonCode   string   `json:"reason_code"`
	Window       float64  `json:"window"`
	Upper        float64  `json:"upper"`
	Target       float64  `json:"target"`
	TokensBefore *int     `json:"tokens_before"`
	TokensAfter  *int     `json:"tokens_after"`
	Superseded   []string `json:"superseded"`
	Pinned       []string `json:"pinned"`
	Pruned       struct {
		IDs   []string `json:"ids"`
		Words []string `json:"words"`
	} `json:"pruned"`
}

// Check compares the session that went in with the one that came out, both
// neutral JSONL, and with the JSON report of the compaction. It returns what
// is wrong, a problem a line, nothing where all is well:
//
// pinned messages (system messages before the first message of a user, what the report lists,
// message, and those marked always_keep) are byte-identical; kept ones are too, but for tool results
// and arguments that the report lists as pruned, and for what a user or the agent said without a mark of which
// it says that beginning and end are left; the order is kept; nothing is
// gone without being superseded; what is inserted is role user with a declared
// kind; no call or result is orphaned that was not before, and no result parted from its call; the target is met,
// or the reason code is one that the figures bear out; a session over the
// threshold is compacted unless nothing could go.
func Check(in, out, rep []byte) []string { return run(check{}, in, out, rep) }

// CheckLive is Check for a session that goes on: the last calls of the model
// belong to its current turn while one of them is not answered.
func CheckLive(in, out, rep []byte) []string { return run(check{live: true}, in, out, rep) }

func run(c check, in, out, rep []byte) []string {
	var err error
	if c.in, err = load(in); err != nil {
		return []string{"in: " + err.Error()}
	}
	if c.out, err = load(out); err != nil {
		return []string{"out: " + err.Error()}
	}
	if err := json.Unmarshal(rep, &c.rep); err != nil {
		return []string{"report: " + err.Error()}
	}
	if c.rep.TokensBefore == nil || c.rep.TokensAfter == nil || c.rep.ReasonCode == "" {
		return []string{"report: tokens_before, tokens_after or reason_code is missing"}
	}
	c.prepare()
	c.decision()
	c.messages()
	c.pairs()
	c.figures()
	return c.bad
}

// check is one comparison on its way.
type check struct {
	in, out []message
	rep     report
	live    bool
	bad     []string

	pinned   map[int]bool
	place    map[string]int  // id -> index in in
	present  map[string]bool // ids in out
	gone     map[string]bool // superseded
	pruned   map[string]bool
	must     map[int]bool // pinned, with their units, and current turn
	perToken float64      // tokens for a character
	target   float64
}

func (c *check) problem(format string, args ...any) {
	c.bad = append(c.bad, fmt.Sprintf(format, args...))
}

// taskPinned reports whether a message in the role of the user is pinned.
func (c *check) taskPinned() bool {
	for i := range c.pinned {
		if c.in[i].str("role") == "user" {
			return true
		}
	}
	return false
}

func (c *check) prepare() {
	c.pinned = pins(c.in, c.rep.Pinned)
	if slices.ContainsFunc(c.in, message.isPerson) && !c.taskPinned() {
		c.problem("no message of a user is pinned")
	}
	c.must = turn(c.in)
	maps.Copy(c.must, withUnits(c.in, c.pinned))
	if c.live {
		maps.Copy(c.must, openCalls(c.in))
	}
	c.place, c.present = make(map[string]int), make(map[string]bool)
	for i, m := range c.in {
		c.place[m.str("id")] = i
	}
	for _, m := range c.out {
		c.present[m.str("id")] = true
	}
	c.gone, c.pruned = set.Of(c.rep.Superseded...), set.Of(c.rep.Pruned.IDs...)
	c.perToken = float64(*c.rep.TokensBefore) / float64(max(1, sizes(c.in)))
	if c.target = c.rep.Target; c.target == 0 {
		c.target = 0.60 * c.rep.Window
	}
	c.rep.Upper = cmp.Or(c.rep.Upper, 0.85)
}

// decision looks at whether it had to run.
func (c *check) decision() {
	r := &c.rep
	if !(0.15 < c.perToken && c.perToken < 0.8) {
		c.problem("tokens_before %d for %d characters", *r.TokensBefore, sizes(c.in))
	}
	free, n := 0, 0
	for i, m := range c.in {
		if !c.must[i] {
			n, free = n+1, free+m.size()
		}
	}
	if !r.Compacted && r.ReasonCode != "below_threshold" && float64(free)*c.perToken > 0.05*r.Window {
		c.problem("not compacted (%s) though %d messages could go", r.ReasonCode, n)
	}
	if r.ReasonCode == "below_threshold" && float64(*r.TokensAfter) > r.Upper*r.Window {
		c.problem("below_threshold at %d of %v", *r.TokensAfter, r.Window)
	}
}

// messages looks at each message of the result, and for those that are not
// there.
func (c *check) messages() {
	last := -1
	for _, m := range c.out {
		id := m.str("id")
		i, ok := c.place[id]
		if !ok {
			if k := m.str("kind"); m.str("role") != "user" || k != "compaction_summary" && k != "injected" {
				c.problem("inserted %s: role %s kind %s", id, m.str("role"), k)
			}
			continue
		}
		if i <= last {
			c.problem("order broken at %s", id)
		}
		last = i
		c.compare(i, m)
	}
	var gone []string
	for i, m := range c.in {
		id := m.str("id")
		if c.pinned[i] && !c.present[id] {
			c.problem("pinned %s is gone", id)
		}
		if !c.present[id] && !c.gone[id] && !c.pruned[id] {
			gone = append(gone, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.gone)) {
		if c.present[id] {
			c.problem("superseded and still there: %s", id)
		}
	}
	if len(gone) > 0 {
		c.problem("gone without being superseded: %v", gone[:min(3, len(gone))])
	}
}

func (c *check) compare(i int, m message) {
	id := m.str("id")
	switch {
	case bytes.Equal(c.in[i].raw, m.raw):
	case slices.Contains(c.rep.Pruned.Words, id):
		if !isExcerpt(c.in[i], m) {
			c.problem("%s: more than the middle of what was said is gone", id)
		}
	case c.pinned[i]:
		c.problem("pinned %s is not byte-identical", id)
	case !c.pruned[id]:
		c.problem("%s changed and not reported as pruned", id)
	case !sameButPrunable(c.in[i], m) && !isExcerpt(c.in[i], m):
		c.problem("%s: more than tool output or arguments changed", id)
	}
}

// pairs looks for calls and results that lost their counterpart.
func (c *check) pairs() {
	calls, results := orphans(c.in)
	calls2, results2 := orphans(c.out)
	for _, x := range slices.Sorted(maps.Keys(calls2)) {
		if !calls[x] {
			c.problem("call orphaned: %s", x)
		}
	}
	for _, x := range slices.Sorted(maps.Keys(results2)) {
		if !results[x] {
			c.problem("result orphaned: %s", x)
		}
	}
	groups, _ := units(c.in)
	for _, u := range groups {
		for _, i := range u[1:] {
			if first, id := c.in[u[0]].str("id"), c.in[i].str("id"); c.gone[first] != c.gone[id] {
				c.problem("unit parted: %s from %s", first, id)
			}
		}
	}
}

// figures looks at the numbers of the report.
func (c *check) figures() {
	r := &c.rep
	if !r.Compacted {
		if len(c.gone) > 0 {
			c.problem("superseded something, compacted is false")
		}
		sameLine := func(x, y message) bool { return bytes.Equal(x.raw, y.raw) }
		if len(c.pruned) == 0 && !slices.EqualFunc(c.in, c.out, sameLine) {
			c.problem("not compacted, yet the output differs")
		}
		return
	}
	after := float64(sizes(c.out)) * c.perToken
	if q := (float64(*r.TokensAfter) + 200) / (after + 200); !(0.5 < q && q < 2) {
		c.problem("tokens_after %d, about %.0f by size", *r.TokensAfter, after)
	}
	if *r.TokensAfter >= *r.TokensBefore {
		c.problem("grew: %d -> %d", *r.TokensBefore, *r.TokensAfter)
	}
	if float64(*r.TokensAfter) <= c.target+1 {
		return
	}
	free, n := 0, 0
	for i, m := range c.in {
		if c.present[m.str("id")] && !c.must[i] {
			n, free = n+1, free+m.size()
		}
	}
	switch {
	case r.ReasonCode == "compacted":
		c.problem("tokens_after %d over target %.0f, code compacted", *r.TokensAfter, c.target)
	case float64(free)*c.perToken > 0.1*c.target:
		c.problem("over target while %d messages that could go are kept", n)
	}
}

func sizes(ms []message) int {
	n := 0
	for _, m := range ms {
		n += m.size()
	}
	return n
}
