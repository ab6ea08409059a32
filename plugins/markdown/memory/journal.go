package memory

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// maxJournal is how long a day's file gets before a second one, in bytes.
	maxJournal = 256 << 10
	maxParts   = 99
)

// entry is the journal's entry about new notes.
func entry(in *abi.Input, fresh []fact) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s %s\n\n", clock(in.Time), clip(redact(in.Session.ID), maxTitle))
	for _, f := range fresh {
		fmt.Fprintf(&b, "- noted [%s](../%s) %s\n", linkText(f.title), f.key, f.kind)
	}
	return b.String()
}

// outcome is the journal's line about a compaction.
func outcome(in *abi.Input) string {
	r, session := in.Record, clip(redact(in.Session.ID), maxTitle)
	if !r.Success {
		line := fmt.Sprintf("- %s %s: not compacted (%s)", clock(in.Time), session, r.ReasonCode)
		for _, f := range r.Failures {
			line += fmt.Sprintf("; %s: %s", f.Code, clip(redact(abi.Defuse(f.Message)), maxTitle))
		}
		return line + "\n"
	}
	return fmt.Sprintf("- %s %s: compacted by %s, %d to %d messages, %d to %d tokens\n",
		clock(in.Time), session, r.Strategy, r.MessagesBefore, r.MessagesAfter, r.TokensBefore, r.TokensAfter)
}

// clock is the time of day of an RFC 3339 time.
func clock(t string) string {
	if len(t) < 19 {
		return "--:--:--"
	}
	return t[11:19]
}

// journal appends to the file of the day.
func (n *notes) journal(text string) {
	if n.off {
		return
	}
	day := "undated"
	if t := n.c.Input.Time; len(t) >= 10 {
		day = t[:10]
	}
	for part := 1; part <= maxParts; part++ {
		key := "journal/" + day + ".md"
		if part > 1 {
			key = fmt.Sprintf("journal/%s-%d.md", day, part)
		}
		old, _, err := n.c.KV().Get(key)
		if err == nil && len(old)+len(text) > maxJournal && old != "" {
			continue
		}
		if old == "" {
			old = "# " + day + "\n"
		}
		if err == nil {
			err = n.c.KV().Set(key, old+text)
		}
		if err != nil {
			n.c.Log(abi.LogWarn, "%s: %v", key, err)
		}
		return
	}
}
