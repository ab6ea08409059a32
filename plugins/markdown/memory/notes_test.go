package memory_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/kagewasm/kagewasm/abi"
)

const decided = "We decided to use sqlite for the cache: \"one\" file."

func TestNote(t *testing.T) {
	p := newPlugin()
	p.call(t, around("and now?", user(decided)))
	notes := keys(p, "facts/")
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "facts/decided-sqlite-cache-file-") || !strings.HasSuffix(notes[0], ".md") {
		t.Fatalf("notes: %q", notes)
	}
	front, body, ok := strings.Cut(strings.TrimPrefix(p.Host.KV[notes[0]], "---\n"), "\n---\n")
	if !ok || body != "\n"+decided+"\n" {
		t.Fatalf("the note is\n%s", p.Host.KV[notes[0]])
	}
	var fields struct {
		Title, Type, Permalink, Created, Session string
		Messages, Tags                           []string
	}
	if err := yaml.UnmarshalWithOptions([]byte(front), &fields, yaml.Strict()); err != nil {
		t.Fatalf("%v in\n%s", err, front)
	}
	if fields.Title != decided || fields.Type != "decision" || fields.Permalink+".md" != notes[0] || fields.Created != "2026-11-21T14:02:05Z" ||
		fields.Session != "s1" || !slices.Equal(fields.Messages, []string{"m00001"}) || fields.Tags[0] != "decision" {
		t.Errorf("front matter: %+v", fields)
	}
	if index := p.Host.KV["MEMORY.md"]; !strings.Contains(index, "- ["+decided+"]("+notes[0]+") decision\n") {
		t.Errorf("the index is\n%s", index)
	}
	journal := p.Host.KV["journal/2026-11-21.md"]
	if !strings.HasPrefix(journal, "# 2026-11-21\n") || !strings.Contains(journal, "## 14:02:05 s1\n") || !strings.Contains(journal, "(../"+notes[0]+")") {
		t.Errorf("the journal is\n%s", journal)
	}
}

// TestNotesBelongToThePerson: what was edited stays, what was deleted stays
// away, and a fact met again is not new.
func TestNotesBelongToThePerson(t *testing.T) {
	p, in := newPlugin(), around("what about the cache?", user(decided))
	p.call(t, in)
	note := keys(p, "facts/")[0]
	p.Host.KV[note] = "---\ntitle: Mine now\n---\n\nThe cache is in memory, says a person.\n"
	p.Host.KV["MEMORY.md"] = "# My own index\n- [x](" + note + ")\n"
	before := maps.Clone(p.Host.KV)
	out := p.call(t, in)
	if len(out.Retain) > 0 || !maps.Equal(p.Host.KV, before) {
		t.Errorf("a fact met again changed something: %q, %q", out.Retain, p.Host.KV)
	}
	if !strings.Contains(out.Inject, "The cache is in memory, says a person.") || strings.Contains(out.Inject, "decided to use") {
		t.Errorf("the edited note is not what is recalled: %q", out.Inject)
	}
	delete(p.Host.KV, note)
	if out := p.call(t, in); len(out.Retain) > 0 || len(keys(p, "facts/")) > 0 {
		t.Errorf("a deleted note came back: %q", out.Retain)
	}
	p.call(t, around("more", user("We always write tests first.")))
	if index := p.Host.KV["MEMORY.md"]; !strings.HasPrefix(index, "# My own index\n- [x]("+note+")\n- [We always write tests first.](facts/") {
		t.Errorf("the index is\n%s", index)
	}
}

// TestRecall: what is recalled bears on the work at hand, newer first where
// that is equal, wherever the note is from.
func TestRecall(t *testing.T) {
	p := newPlugin()
	for key, note := range map[string]string{
		"facts/a.md": "---\ntype: decision\ncreated: \"2026-01-01T00:00:00Z\"\nsession: old\n---\n\nThe tokenizer cache lives in internal/tok.\n",
		"facts/b.md": "---\ntype: decision\ncreated: \"2026-05-01T00:00:00Z\"\nsession: newer\n---\n\nThe tokenizer cache lives in internal/tok.\n",
		"facts/c.md": "---\ntype: preference\ncreated: \"2026-11-20T00:00:00Z\"\n---\n\nDeploy on Fridays only with approval.\n",
		"facts/d.md": "A note by hand about the Tokenizer.\r\n",
		"facts/e.md": "令牌缓存在磁盘上。",
		"facts/f.md": "",
	} {
		p.Host.KV[key] = note
	}
	lines := strings.Split(p.call(t, around("Why is the tokenizer cache so slow?")).Inject, "\n")
	want := []string{
		"Notes from memory that bear on the current work, with the file each is in:",
		"- [decision] The tokenizer cache lives in internal/tok. (facts/b.md, 2026-05-01, session newer)",
		"- [decision] The tokenizer cache lives in internal/tok. (facts/a.md, 2026-01-01, session old)",
		"- [note] A note by hand about the Tokenizer. (facts/d.md)",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("recalled %q", lines)
	}
	if got := p.call(t, around("令牌缓存为什么慢")).Inject; !strings.Contains(got, "facts/e.md") || strings.Contains(got, "facts/a.md") {
		t.Errorf("recalled %q", got)
	}
	if got := p.call(t, around("something else entirely")).Inject; got != "" {
		t.Errorf("recalled %q", got)
	}
}

// TestJustNoted: what a compaction takes away is recalled by the same
// compaction.
func TestJustNoted(t *testing.T) {
	out := newPlugin().call(t, around("go on with the rest", user("Never push to main without a review.")))
	if !strings.Contains(out.Inject, "Never push to main without a review.") {
		t.Errorf("injected %q", out.Inject)
	}
}

func TestDryRunStoresNothing(t *testing.T) {
	p, in := newPlugin(), around("and now?", user(decided))
	in.Trigger.DryRun = true
	dry := p.call(t, in)
	if len(p.Host.KV) > 0 {
		t.Errorf("stored %v", p.Host.KV)
	}
	in.Trigger.DryRun = false
	wet := p.call(t, in)
	a, _ := json.Marshal(dry)
	if b, _ := json.Marshal(wet); string(a) != string(b) {
		t.Errorf("a dry run says\n%s\nand a real one\n%s", a, b)
	}
}

func TestWithoutStorage(t *testing.T) {
	p := newPlugin()
	denied := &abi.Error{Code: abi.CodeDenied, Message: "kv is not granted"}
	p.Host.Fail = map[abi.Op]*abi.Error{abi.OpKVGet: denied, abi.OpKVSet: denied, abi.OpKVList: denied, abi.OpTokensCount: denied}
	out := p.call(t, around("the cache?", user(decided)))
	if !slices.Equal(out.Retain, []string{decided}) || !strings.Contains(out.Inject, decided) {
		t.Errorf("answered %+v", out)
	}
	if len(p.Host.Logs) == 0 || !strings.Contains(p.Host.Logs[0].Message, "no storage") {
		t.Errorf("logged %v", p.Host.Logs)
	}
}

func TestFullStorage(t *testing.T) {
	p := newPlugin()
	p.Host.Fail = map[abi.Op]*abi.Error{abi.OpKVSet: {Code: abi.CodeQuota, Message: "full"}}
	if out := p.call(t, around("the cache?", user(decided))); !slices.Equal(out.Retain, []string{decided}) {
		t.Errorf("answered %+v", out)
	}
}

func TestJournal(t *testing.T) {
	p, in := newPlugin(), around("go on")
	in.Hook = abi.HookPostCompact
	in.Record = &abi.Record{Success: true, Strategy: "drop", MessagesBefore: 90, MessagesAfter: 30, TokensBefore: 9000, TokensAfter: 3000}
	p.call(t, in)
	in.Record = &abi.Record{ReasonCode: abi.ReasonCancelled, Failures: []*abi.Error{{Code: abi.CodeModel, Message: "no answer\x1b[31m"}}}
	p.call(t, in)
	in.Record = &abi.Record{Success: true, DryRun: true}
	p.call(t, in)
	in.Config["journal"] = json.RawMessage("false")
	in.Record = &abi.Record{Success: true}
	p.call(t, in)
	want := "# 2026-11-21\n- 14:02:05 s1: compacted by drop, 90 to 30 messages, 9000 to 3000 tokens\n- 14:02:05 s1: not compacted (cancelled); model: no answer[31m\n"
	if got := p.Host.KV["journal/2026-11-21.md"]; got != want {
		t.Errorf("the journal is\n%s", got)
	}
	p.Host.KV["journal/2026-11-21.md"] = strings.Repeat("x", 256<<10)
	in.Config["journal"] = json.RawMessage("true")
	p.call(t, in)
	if got := p.Host.KV["journal/2026-11-21-2.md"]; !strings.HasPrefix(got, "# 2026-11-21\n- ") {
		t.Errorf("a long day goes on in\n%s", got)
	}
}
