package memory

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// A log of a day is appended to and never read back but for what a person
// wrote into it.

const (
	// maxDaily is how long a day's file gets before a second one, in bytes.
	maxDaily = 256 << 10
	maxParts = 99
)

// How a log's items begin; see isPointer.
const (
	loggedNoted   = "noted ["
	loggedAgain   = "again ["
	loggedChanged = "changed files"
)

// entry is what the log says of new notes, of facts that were met again, and of
// files that changed. Of nothing it says nothing.
func entry(in *abi.Input, n news, changed string) string {
	if len(n.fresh)+len(n.again) == 0 && changed == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s %s\n\n", clock(in.Time), sessionOf(in))
	for _, f := range n.fresh {
		fmt.Fprintf(&b, "- %s%s](%s) %s\n", loggedNoted, linkText(f.title), fromDaily(f.key), f.kind)
	}
	for _, r := range n.again {
		fmt.Fprintf(&b, "- %s%s](%s)\n", loggedAgain, linkText(r.title), fromDaily(r.key))
	}
	if changed != "" {
		fmt.Fprintf(&b, "- %s%s\n", loggedChanged, changed)
	}
	return b.String()
}

// fromDaily is the link to a note from a day's log.
func fromDaily(key string) string {
	if name, ok := strings.CutPrefix(key, notesPrefix); ok {
		return name
	}
	return "../" + key
}

// outcome is the log's line about a compaction.
func outcome(in *abi.Input) string {
	r, session := in.Record, sessionOf(in)
	if !r.Success {
		line := fmt.Sprintf("- %s %s: not compacted (%s)", clock(in.Time), session, r.ReasonCode)
		for _, f := range r.Failures {
			line += fmt.Sprintf("; %s: %s", f.Code, clip.Line(withoutSecrets(abi.Defuse(f.Message)), maxTitle))
		}
		return line + "\n"
	}
	return fmt.Sprintf("- %s %s: compacted by %s, %d to %d messages, %d to %d tokens\n",
		clock(in.Time), session, r.Strategy, r.MessagesBefore, r.MessagesAfter, r.TokensBefore, r.TokensAfter)
}

func sessionOf(in *abi.Input) string {
	return inContext(clip.Line(withoutSecrets(abi.Defuse(in.Session.ID)), maxTitle))
}

// clock is the time of day of an RFC 3339 time.
func clock(t string) string {
	if len(t) < 19 {
		return "--:--:--"
	}
	return t[11:19]
}

// writeDaily appends to the log of the day, whoever else does, and returns why it
// could not, or "".
func writeDaily(c *guest.Call, text string) (unstored string) {
	name := day(c.Input.Time)
	name = cmp.Or(name, "undated")
	for part := 1; part <= maxParts; part++ {
		key, full := notesPrefix+name+".md", false
		if part > 1 {
			key = fmt.Sprintf("%s%s-%d.md", notesPrefix, name, part)
		}
		err := update(c, key, func(old string) string {
			if full = old != "" && len(old)+len(text) > maxDaily; full {
				return old
			}
			old = cmp.Or(old, "# "+name+"\n")
			return withNewline(old) + text
		})
		switch {
		case err != nil && abi.CodeOf(err) != abi.CodeDenied:
			return err.Error()
		case !full || err != nil:
			return ""
		}
	}
	return "the log of the day is full"
}
