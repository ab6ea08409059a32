package memory_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
)

// FuzzAnyText: whatever people and models write, and whatever lies in the
// memory, a call is answered within its rules, and a second one notes nothing
// new.
func FuzzAnyText(f *testing.F) {
	for _, s := range []string{"", "We decided to use **sqlite**: always.", "- [ ] never\n1. do this and that",
		"```\ncode", "<a>\n</a>\n<b", "**x**: y z w a b c", "\x00\u2028 must 👩‍👩‍👧", "---\ntitle: \"\n---\n",
		"永远不要。永远不要", strings.Repeat("always ", 2000),
		"---\nname: x\n---\n\n- [decision] We decided it. (2026-11-21, session s1, m1)\n- may_contradict " +
			"[[memory/y]]\n", "## Noted\r\n\r\n- [x](memory/x.md)", "- 12:34:56 "} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, said, stored string) {
		said, stored = strings.ToValidUTF8(said, "?"), strings.ToValidUTF8(stored, "?")
		p := newPlugin()
		for _, key := range []string{"facts/there.md", "memory/there.md", "memory/2026-11-20.md", "MEMORY.md", "seen.txt"} {
			p.Host.KV[key] = stored
		}
		in := around(said, user(said), assistant(said), user("ok then"))
		in.Messages[2].ToolCalls = []abi.ToolCall{{ID: "a", Name: "edit", Arguments: said}}
		out := p.call(t, in)
		if err := abitest.CheckOutput(manifest(), in, out); err != nil {
			t.Fatal(err)
		}
		for k, v := range p.Host.KV {
			if err := abi.CheckKey(k); err != nil {
				t.Fatalf("%v: %q", err, v)
			}
		}
		if again := p.call(t, in); len(again.Retain) > 0 {
			t.Fatalf("new again: %q", again.Retain)
		}
	})
}
