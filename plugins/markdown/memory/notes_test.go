package memory_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/plugins/markdown/memory"
)

const decided = "We decided to use sqlite for the cache: \"one\" file."

func TestMarkdownNote(t *testing.T) {
	features.Proves(t, "K28")
	p := newPlugin()
	p.call(t, around("and now?", user(decided)))
	notes := noteKeys(p)
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "memory/decided-use-sqlite-cache-one-file-") ||
		!strings.HasSuffix(notes[0], ".md") {
		t.Fatalf("notes: %q", notes)
	}
	front, body, ok := strings.Cut(strings.TrimPrefix(p.Host.KV[notes[0]], "---\n"), "\n---\n")
	if !ok || body != "\n- [decision] "+decided+" (2026-11-21, session s1, m00001)\n" {
		t.Fatalf("the note is\n%s", p.Host.KV[notes[0]])
	}
	var fields struct {
		Name, Description      string   // what Claude Code looks for
		Title, Type, Permalink string   // what basic-memory does
		Tags                   []string // and both may show
		Created                string
	}
	if err := yaml.Load([]byte(front), &fields, yaml.WithKnownFields()); err != nil {
		t.Fatalf("%v in\n%s", err, front)
	}
	if fields.Title != decided || fields.Description != decided || fields.Type != "project" || fields.Permalink+
		".md" != notes[0] ||
		"memory/"+fields.Name != fields.Permalink || fields.Created != "2026-11-21T14:02:05Z" ||
		!slices.Equal(fields.Tags, []string{"decision"}) {
		t.Errorf("front matter: %+v", fields)
	}
	if index := p.Host.KV["MEMORY.md"]; !strings.HasSuffix(index, "\n## Noted\n\n- ["+decided+"]("+notes[0]+
		") — decision, 2026-11-21\n") {
		t.Errorf("the index is\n%s", index)
	}
	daily := p.Host.KV["memory/2026-11-21.md"]
	if !strings.HasPrefix(daily, "# 2026-11-21\n") || !strings.Contains(daily, "## 14:02:05 s1\n") ||
		!strings.Contains(daily, "]("+strings.TrimPrefix(notes[0], "memory/")+")") {
		t.Errorf("the log is\n%s", daily)
	}
	p.call(t, around("and now?", user("Always run the linter.")))
	if index := p.Host.KV["MEMORY.md"]; !strings.Contains(index, "## Noted\n\n- [Always run the linter.](") ||
		!strings.Contains(index, ") — preference, 2026-11-21\n- ["+decided) {
		t.Errorf("not the newest first:\n%s", index)
	}
	if note := p.Host.KV[noteKeys(p)[0]]; !strings.Contains(note, "type: feedback\n") {
		t.Errorf("what a person wants is feedback:\n%s", note)
	}
}

// TestMarkdownFromTheFirstVersion: the folder of version 0.1.0 is read where
// it is, nothing in it changes, and what was deleted there stays away.
func TestMarkdownFromTheFirstVersion(t *testing.T) {
	features.Proves(t, "K28")
	const there, gone, head = "facts/decided-sqlite-cache-file-", "facts/never-push-main-",
		"# Memory\n\nOne line a note; the notes are in facts/.\n\n"
	p := newPlugin()
	p.call(t, around("and?", user(decided)))
	digest := strings.TrimSuffix(noteKeys(p)[0], ".md")[len("memory/decided-use-sqlite-cache-one-file-"):]
	p = newPlugin()
	p.call(t, around("and?", user("Never push to the main branch.")))
	goneDigest := strings.TrimSuffix(noteKeys(p)[0], ".md")[len("memory/never-push-main-branch-"):]

	old := map[string]string{
		there + digest + ".md": "---\ntitle: \"x\"\ntype: decision\npermalink: y\ncreated: " +
			"\"2026-01-02T03:04:05Z\"\nsession: \"s0\"\nmessages: [\"m1\"]\ntags: [\"decision\"]\n---\n\n" + decided + "\n",
		"MEMORY.md": head + "- [x](" + there + digest + ".md) decision\n- [y](" + gone + goneDigest +
			".md) preference\n",
		"journal/2026-01-02.md": "# 2026-01-02\n\n## 03:04:05 s0\n\n- noted [x](../" + there + digest + ".md) decision\n",
	}
	p = newPlugin()
	maps.Copy(p.Host.KV, old)
	out := p.call(t, around("what about the sqlite cache?", user(decided), user("Never push to the main branch."),
		user("Always run the linter.")))
	if !slices.Equal(out.Retain, []string{"Always run the linter."}) {
		t.Errorf("noted again: %q", out.Retain)
	}
	if !strings.Contains(out.Inject, "- [decision] "+decided+" ("+there+digest+".md, 2026-01-02, session s0)") {
		t.Errorf("recalled %q", out.Inject)
	}
	for key, value := range old {
		t.Run(key, func(t *testing.T) {
			if now := p.Host.KV[key]; key != "MEMORY.md" && now != value || !strings.HasPrefix(now, value) {
				t.Errorf("%s is now\n%s", key, now)
			}
		})
	}
	// The person tidies up: neither file nor line is left.
	delete(p.Host.KV, there+digest+".md")
	p.Host.KV["MEMORY.md"] = "# Mine\n"
	if out := p.call(t, around("and?", user(decided), user("Never push to the main branch."))); len(out.Retain) > 0 {
		t.Errorf("came back: %q", out.Retain)
	}
}

// TestMarkdownHandEdits: whatever a person does to notes and index, their
// bytes stay, what they deleted stays away, and what they wrote is recalled.
func TestMarkdownHandEdits(t *testing.T) {
	features.Proves(t, "K28")
	for _, c := range []struct {
		why  string
		edit func(kv map[string]string, note string)
		want string // recalled
	}{
		{"another body", func(kv map[string]string, note string) {
			kv[note] = "---\ntitle: Mine now\n---\n\nThe cache is in memory.\n"
		}, "[note] The cache is in memory."},
		{"a word of the body", func(kv map[string]string, note string) {
			kv[note] = strings.Replace(kv[note], "] We decided", "] We have decided", 1)
		}, "[decision] We have decided to use sqlite"},
		{"another field", func(kv map[string]string, note string) {
			kv[note] = strings.Replace(kv[note], "type: project\n", "type: project\naliases: [x]\nstatus: done\n", 1)
		}, "[decision] We decided"},
		{"no front matter", func(kv map[string]string, note string) {
			kv[note] = "The cache: in memory."
		}, "[note] The cache: in memory."},
		{"front matter without an end", func(kv map[string]string, note string) {
			kv[note] = "---\ntitle: cache\nThe cache is in memory."
		}, "The cache is in memory."},
		{"broken yaml", func(kv map[string]string, note string) {
			kv[note] = "---\ntitle: \"cache\n\t: [}\ntype: {\n---\nThe cache is in memory."
		}, "The cache is in memory."},
		{"lines of Windows, and a mark", func(kv map[string]string, note string) {
			kv[note] = "\ufeff---\r\ntype: reference\r\n---\r\nThe cache\r\nis in memory.\r\n"
		}, "[reference] The cache is in memory."},
		{"another name", func(kv map[string]string, note string) {
			kv["memory/cache.md"] = kv[note]
			delete(kv, note)
		}, "(memory/cache.md, 2026-11-21"},
		{"deleted", func(kv map[string]string, note string) { delete(kv, note) }, ""},
		{"deleted, and its line", func(kv map[string]string, note string) {
			delete(kv, note)
			kv["MEMORY.md"] = "# Memory\n"
		}, ""},
		{"deleted, with the index", func(kv map[string]string, note string) {
			delete(kv, note)
			delete(kv, "MEMORY.md")
		}, ""},
		{"a note of their own", func(kv map[string]string, _ string) {
			kv["people/jonas.md"] = "Jonas wants the cache on disk."
		}, "[note] Jonas wants the cache on disk. (people/jonas.md)"},
		{"a line in the index", func(kv map[string]string, _ string) {
			kv["MEMORY.md"] = "# Memory\r\n\r\nThe cache belongs to Jonas.\r\n" + kv["MEMORY.md"]
		}, "The cache belongs to Jonas. (MEMORY.md)"},
		{"the plugin's heading alone", func(kv map[string]string, note string) {
			kv["MEMORY.md"] = "# Mine\n\n## Noted"
		}, "[decision] We decided"},
		{"lines below the plugin's heading", func(kv map[string]string, note string) {
			kv["MEMORY.md"] = "## Noted\nMara keeps the cache.\n\n## Later\n\n- nothing yet\n"
		}, "Mara keeps the cache."},
		{"a note of Claude Code", func(kv map[string]string, _ string) {
			kv["cache.md"] = "---\nname: where\ndescription: where the cache lives\nmetadata:\n  type: " +
				"reference\n---\n\nIn internal/tok.\n"
		}, "[reference] In internal/tok. (cache.md)"},
		{"a note of basic-memory", func(kv map[string]string, _ string) {
			kv["Where things are.md"] = "---\ntitle: Where things are\ntags: [cache, disk]\n---\n\n# Where things " +
				"are\n\n- [place] internal/tok holds it #go\n- part_of [[Things]]\n"
		}, "- [place] internal/tok holds it #go"},
		{"a line in the log", func(kv map[string]string, _ string) {
			kv["memory/2026-11-20.md"] = "# 2026-11-20\n\n- the cache was slow all day\n"
		}, "the cache was slow all day (memory/2026-11-20.md)"},
	} {
		t.Run(c.why, func(t *testing.T) {
			p, in := newPlugin(), around("what about the cache?", user(decided))
			p.call(t, in)
			c.edit(p.Host.KV, noteKeys(p)[0])
			before := maps.Clone(p.Host.KV)
			in.Session.ID = "another"
			out := p.call(t, in)
			if len(out.Retain) > 0 || c.want != "" && !strings.Contains(out.Inject, c.want) {
				t.Errorf("retained %q, recalled %q", out.Retain, out.Inject)
			}
			out = p.call(t, around("more", user("Never push to the main branch.")))
			if len(out.Retain) != 1 {
				t.Errorf("retained %q", out.Retain)
			}
			for key, value := range before {
				switch now := p.Host.KV[key]; {
				case now == value || key == "seen.txt" || key == "memory/2026-11-21.md" || strings.HasPrefix(now, value):
				case key == "MEMORY.md":
					for line := range strings.Lines(value) { // the others, in their order
						_, rest, found := strings.Cut(now, line)
						if now = rest; !found {
							t.Errorf("the line %q is gone from\n%s", line, p.Host.KV[key])
						}
					}
				default:
					t.Errorf("%s is now\n%s", key, now)
				}
			}
		})
	}
}

// TestMarkdownDeduplicates: a fact in other words is a line of its note, and
// one that may contradict another says so and stands before it.
func TestMarkdownDeduplicates(t *testing.T) {
	features.Proves(t, "K28")
	for _, c := range []struct{ why, first, second, want string }{
		{"the same", "Always run the linter before a commit.", "Always run the linter before a commit.", "same"},
		{"case and punctuation", "Always run the linter before a commit.", "ALWAYS RUN THE LINTER, before a commit!", "same"},
		{"another order", "Always run the linter before a commit.", "Before a commit always run the linter.", "same"},
		{"other endings", "Always run the linters before commits.", "Always run the linter before committing.", "same"},
		{"a word more", "Always run the linter before a commit.",
			"Please always run the linter before each small commit.", "same"},
		{"in German", "Vor jedem Commit immer den Linter laufen lassen.",
			"Immer den Linter laufen lassen, vor jedem Commit!", "same"},
		{"in Russian", "Всегда запускай линтер перед коммитом.", "Перед коммитом всегда запускай линтер!", "same"},
		{"in Chinese", "提交之前必须运行代码检查。", "必须在提交之前运行代码检查！", "same"},
		{"in Japanese", "コミットの前に必ずリンターを実行すること。", "必ずコミットの前にリンターを実行すること", "same"},
		{"in Arabic", "يجب تشغيل الاختبارات قبل كل إصدار", "قبل كل إصدار يجب تشغيل الاختبارات", "same"},
		{"in Hindi", "हर बदलाव से पहले हमेशा परीक्षण चलाओ", "हमेशा परीक्षण चलाओ हर बदलाव से पहले", "same"},
		{"the opposite", "Always run the linter before a commit.", "Never run the linter before a commit.", "opposed"},
		{"the opposite in French", "Lance toujours le linter avant un commit.",
			"Ne lance jamais le linter avant un commit.", "opposed"},
		{"the opposite in Thai", "ต้องเขียนเทสต์ก่อนแก้โค้ด", "ไม่ต้องเขียนเทสต์ก่อนแก้โค้ด", "opposed"},
		{"another thing in its place", "We decided to use sqlite for the cache.",
			"We decided to use redis for the cache.", "opposed"},
		{"another number", "The default lease must be 30s for workers.", "The default lease must be 60s for workers.",
			"opposed"},
		{"the other way round", "Use tabs instead of spaces here.", "Use spaces instead of tabs here.", "opposed"},
		{"something else", "Always run the linter before a commit.", "We decided to use redis for the cache.", "different"},
		{"a common word", "Never touch the vendor folder.", "Never touch production on a Friday.", "different"},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := newPlugin()
			p.call(t, around("and?", user(c.first)))
			first := noteKeys(p)
			if len(first) != 1 {
				t.Fatalf("noted %q", p.Host.KV)
			}
			in := around("the linter, the cache, the lease, tabs?", user(c.second))
			in.Session.ID, in.Time = "s2", "2026-11-22T09:00:00Z"
			out := p.call(t, in)
			note, got := p.Host.KV[first[0]], "different"
			switch all := noteKeys(p); {
			case len(all) == 1:
				got = "same"
				if line := "- [preference] " + c.second + " (2026-11-22, session s2, m00001)\n"; !strings.HasSuffix(
					strings.Replace(note, "[decision]", "[preference]", -1), line) {
					t.Errorf("the note does not say where else it was said:\n%s", note)
				}
			case strings.Contains(p.Host.KV[slices.DeleteFunc(all, func(k string) bool {
				return k == first[0]
			})[0]], "- may_contradict [["+strings.TrimSuffix(first[0], ".md")+"]]\n"):
				got = "opposed"
			}
			if got != c.want {
				t.Errorf("%s, want %s: %v", got, c.want, p.Host.KV)
			}
			if (len(out.Retain) == 0) != (got == "same") {
				t.Errorf("retained %q", out.Retain)
			}
			before := maps.Clone(p.Host.KV)
			if p.call(t, in); !maps.Equal(before, p.Host.KV) {
				t.Errorf("the same compaction again says more")
			}
		})
	}
}

func TestMarkdownNewestFirst(t *testing.T) {
	features.Proves(t, "K28")
	p := newPlugin()
	p.call(t, around("and?", user("We decided to use sqlite for the cache of the parser.")))
	in := around("which cache does the sqlite parser use?", user("We decided to use redis for the cache of the parser."))
	in.Time = "2026-11-22T09:00:00Z"
	lines := strings.Split(p.call(t, in).Inject, "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], "redis") || !strings.Contains(lines[2], "sqlite") ||
		!strings.Contains(lines[2], "a newer note may contradict it)") {
		t.Errorf("recalled %q", lines)
	}
}

// TestRecall: what is recalled bears on the work at hand, newer first where
// that is equal, wherever the note is from.
func TestMarkdownRecall(t *testing.T) {
	features.Proves(t, "K28")
	p := newPlugin()
	maps.Copy(p.Host.KV, map[string]string{
		"facts/a.md": "---\ntype: decision\ncreated: \"2026-01-01T00:00:00Z\"\nsession: old\n---\n\nThe " +
			"tokenizer cache lives in internal/tok.\n",
		"facts/b.md": "---\ntype: decision\ncreated: \"2026-05-01T00:00:00Z\"\nsession: newer\n---\n\nThe " +
			"tokenizer cache lives in internal/tok.\n",
		"facts/c.md": "---\ntype: preference\ncreated: \"2026-11-20T00:00:00Z\"\n---\n\nDeploy on Fridays only " +
			"with approval.\n",
		"facts/d.md": "A note by hand about the Tokenizer.\r\n",
		"facts/e.md": "令牌缓存在磁盘上。",
		"facts/f.md": "",
		"memory/long.md": strings.Repeat("Filler about nothing at all. ", 40) + "The parser of dates is in pkg/when. " +
			strings.Repeat("Filler about nothing at all. ", 40),
	})
	lines := strings.Split(p.call(t, around("Why is the tokenizer cache so slow?")).Inject, "\n")
	want := []string{
		"Notes from memory, of any project of this agent, with the file each is in:",
		"- [decision] The tokenizer cache lives in internal/tok. (facts/b.md, 2026-05-01, session newer)",
		"- [decision] The tokenizer cache lives in internal/tok. (facts/a.md, 2026-01-01, session old)",
		"- [note] A note by hand about the Tokenizer. (facts/d.md)",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("recalled %q", lines)
	}
	if got := p.call(t, around("令牌缓存为什么慢")).Inject; !strings.Contains(got, "facts/e.md") ||
		strings.Contains(got, "facts/a.md") {
		t.Errorf("recalled %q", got)
	}
	if got := p.call(t, around("where is the parser of dates?")).Inject; !strings.Contains(got, "pkg/when") ||
		len(got) > 700 {
		t.Errorf("of a long note recalled %q", got)
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
	p.Host.Fail = map[abi.Op]*abi.Error{abi.OpKVGet: denied, abi.OpKVSet: denied, abi.OpKVList: denied,
		abi.OpTokensCount: denied}
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

func TestDaily(t *testing.T) {
	p, in := newPlugin(), around("go on")
	in.Hook = abi.HookPostCompact
	in.Record = &abi.Record{Success: true, Strategy: "drop", MessagesBefore: 90, MessagesAfter: 30, TokensBefore: 9000,
		TokensAfter: 3000}
	p.call(t, in)
	in.Record = &abi.Record{ReasonCode: abi.ReasonCancelled,
		Failures: []*abi.Error{{Code: abi.CodeModel, Message: "no answer\x1b[31m"}}}
	p.call(t, in)
	in.Record = &abi.Record{Success: true, DryRun: true}
	p.call(t, in)
	in.Config["journal"] = json.RawMessage("false")
	in.Record = &abi.Record{Success: true}
	p.call(t, in)
	want := "# 2026-11-21\n- 14:02:05 s1: compacted by drop, 90 to 30 messages, 9000 to 3000 tokens\n- 14:02:05 s1: " +
		"not compacted (cancelled); model: no answer[31m\n"
	if got := p.Host.KV["memory/2026-11-21.md"]; got != want {
		t.Errorf("the journal is\n%s", got)
	}
	p.Host.KV["memory/2026-11-21.md"] = strings.Repeat("x", 256<<10)
	in.Config["journal"] = json.RawMessage("true")
	p.call(t, in)
	if got := p.Host.KV["memory/2026-11-21-2.md"]; !strings.HasPrefix(got, "# 2026-11-21\n- ") {
		t.Errorf("a long day goes on in\n%s", got)
	}
}

// TestMarkdownInjectionIsCapped: never over the budget, in the tokens of the
// host, even one that counts more of a text joined than of its parts.
func TestMarkdownInjectionIsCapped(t *testing.T) {
	features.Proves(t, "K28")
	p := newPlugin()
	for i := range 200 {
		p.Host.KV[fmt.Sprintf("memory/n%d.md", i)] = fmt.Sprintf(
			"The tokenizer cache number %d lives in internal/tok%d.", i, i)
	}
	for name, count := range map[string]func(string) int{
		"bytes": func(s string) int {
			return len(s) / 4
		}, "more when joined": func(s string) int { return len(s)/4 + strings.Count(s, "\n")*strings.Count(s, "\n") },
	} {
		t.Run(name, func(t *testing.T) {
			for _, budget := range []int{1, 30, 50, 120, 600, 4000} {
				t.Run(fmt.Sprintf("budget of %d", budget), func(t *testing.T) {
					p.Host.Count = count
					in := around("Why is the tokenizer cache so slow?")
					in.Config["max_inject_tokens"] = json.RawMessage(fmt.Sprint(budget))
					got := p.call(t, in).Inject
					if n := count(got); n > min(budget, in.Budget.SummaryTokens) {
						t.Errorf("%d tokens of %d:\n%s", n, budget, got)
					}
					if budget >= 120 && got == "" {
						t.Errorf("nothing fits %d tokens", budget)
					}
				})
			}
		})
	}
}

// TestMarkdownSessionsAtOnce: sessions that note at the same time lose none
// of each other's lines.
func TestMarkdownSessionsAtOnce(t *testing.T) {
	features.Proves(t, "K28")
	host := &interleaved{Host: guesttest.Host{KV: make(map[string]string)}}
	host.between = func() {
		in := around("and?", user("Never push to the main branch."))
		in.Session.ID = "other"
		if _, err := memory.Plugin.PreCompact(guest.NewCall(in, &host.Host)); err != nil {
			t.Error(err)
		}
	}
	if _, err := memory.Plugin.PreCompact(
		guest.NewCall(around("and?", user("Always run the linter.")), host)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"MEMORY.md", "memory/2026-11-21.md", "seen.txt"} {
		t.Run(key, func(t *testing.T) {
			if v := strings.ToLower(host.KV[key]); strings.Count(v, "always-run-linter") != 1 ||
				strings.Count(v, "never-push-main") != 1 {
				t.Errorf("%s says\n%s", key, v)
			}
		})
	}
}

// interleaved runs another call right before the first value that is set.
type interleaved struct {
	guesttest.Host
	between func()
	done    bool
}

func (h *interleaved) HostCall(op abi.Op, request []byte) []byte {
	if op == abi.OpKVSet && !h.done {
		h.done = true
		h.between()
	}
	return h.Host.HostCall(op, request)
}

// noteKeys are the keys of notes: the markdown in memory/ that is no log.
func noteKeys(p *plugin) []string {
	return slices.DeleteFunc(keys(p, "memory/"), func(k string) bool { return strings.HasPrefix(k, "memory/2026-") })
}

// TestMarkdownUnstored: what could not be written down is said in the answer, of a
// note and of the log of the day, and what is known is recalled all the same.
func TestMarkdownUnstored(t *testing.T) {
	p := newPlugin()
	p.call(t, around("the cache?", user(decided)))
	p.Host.Fail = map[abi.Op]*abi.Error{abi.OpKVSet: {Code: abi.CodeInternal, Message: "no space left on device"}}
	out := p.call(t, around("the cache?", user("We decided to use postgres for the queue, not redis.")))
	if !strings.Contains(out.Unstored, "no space left") || !strings.Contains(out.Inject, decided) {
		t.Errorf("answered %+v", out)
	}
	in := around("go on")
	in.Hook, in.Record = abi.HookPostCompact, &abi.Record{Success: true, Strategy: "drop"}
	if out := p.call(t, in); !strings.Contains(out.Unstored, "memory/2026-11-21.md") {
		t.Errorf("of the log: %+v", out)
	}
	p.Host.Fail = map[abi.Op]*abi.Error{abi.OpKVList: {Code: abi.CodeState, Message: "nobody can tell whose it is"}}
	if out := p.call(t, around("the cache?")); !strings.Contains(out.Unstored, "whose it is") {
		t.Errorf("of a storage that cannot be read: %+v", out)
	}
}
