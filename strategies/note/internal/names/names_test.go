package names_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// counters count tokens in ways that have little in common.
var counters = map[string]func(string) int{
	"four runes":  sessiongen.Counter{}.Text,
	"every byte":  func(s string) int { return len(s) },
	"words":       func(s string) int { return len(strings.Fields(s)) },
	"words twice": func(s string) int { return 2*len(strings.Fields(s)) + strings.Count(s, "\n") },
	"whole dozen": func(s string) int { return (len(s) + 11) / 12 * 5 },
}

var byRune = counters["four runes"]

func user(text string) abi.Message { return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)} }
func said(text string) abi.Message {
	return abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text)}
}

// summary is a message as a compaction leaves it.
func summary(text string) abi.Message {
	return abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary,
		Content: abi.Text(abi.Fence(abi.KindSummary, "strategy:drop", "a note", text))}
}

// called is a call to a tool with one argument, and its result.
func called(tool, key, value, output string, failed bool) []abi.Message {
	args, err := json.Marshal(map[string]string{key: value})
	if err != nil {
		panic(err)
	}
	return []abi.Message{
		{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: tool, Arguments: string(args)}}},
		{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(output), IsError: failed},
	}
}

// build reads messages, of whatever harness ran their calls.
func build(msgs []abi.Message) *names.Names {
	goOn := func() bool { return true }
	return names.Build(context.Background(), msgs, nil, outcome.Harness{Marks: new(outcome.Known).Marks(msgs), GoOn: goOn},
		new(names.Found))
}

// lines returns what stands behind the headings of a rendered ledger; of lists
// of files the whole paths, without what is said of them.
func lines(text string) map[string]string {
	out := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		head, rest, ok := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "- ") &&
			strings.Contains("Modified in what went Read in what went Paths mentioned Packages and hosts", section):
			out[section] = strings.TrimSpace(out[section] + " " + strings.Join(wholePaths(line[2:]), " "))
		case strings.HasPrefix(line, "- ") && section != "":
			out[section] += line[2:] + "\n"
		case strings.HasSuffix(line, "newest last:"):
			section, _, _ = strings.Cut(line, " ")
		case strings.HasPrefix(line, "Paths are relative to "):
			root := strings.TrimPrefix(line, "Paths are relative to ")
			out["root"] = strings.TrimSuffix(root, ", or as written")
		case ok && rest == "":
			section = head
		case ok:
			section = ""
			out[head] = strings.TrimSpace(rest)
		}
	}
	return out
}

var aside = regexp.MustCompile(`×\d+| \([^)]*\)`)

// wholePaths are the paths in a line of a list of files.
func wholePaths(line string) []string {
	folder := ""
	var list []string
	for _, word := range strings.Fields(aside.ReplaceAllString(line, "")) {
		if f, ok := strings.CutSuffix(word, "/:"); ok {
			folder = strings.TrimPrefix(f+"/", "./")
			continue
		}
		list = append(list, folder+word)
	}
	return list
}

func TestRender(t *testing.T) {
	features.Proves(t, "N8")
	msgs := []abi.Message{user("The tests of /srv/kw fail in internal/store/lease_table.go, see PAR-2291 and port 8080.")}
	msgs = append(msgs, called("Read", "file_path", "/srv/kw/internal/store/lease_table.go", "func acquireLocked()",
		false)...)
	msgs = append(msgs, called("Edit", "file_path", "/srv/kw/internal/queue/bucket.go", "ok", false)...)
	msgs = append(msgs, called("Bash", "command", "cd /srv/kw && go test ./internal/store/...",
		"--- FAIL: TestLease (0.41s)\nExit code 1", true)...)
	got := lines(build(msgs).Render(1200, byRune))
	for head, want := range map[string]string{
		"root":                       "/srv/kw",
		"Tools called in what went":  "Bash(command)×1 Edit(file_path)×1 Read(file_path)×1",
		"Modified in what went":      "internal/queue/bucket.go",
		"Read in what went":          "internal/store/lease_table.go",
		"File names without folders": "",
		"Names":                      "PAR-2291 TestLease acquireLocked",
		"Numbers and ids":            "8080",
		"Other":                      "go test ./internal/store/... (failed)\n",
	} {
		t.Run(head, func(t *testing.T) {
			if got[head] != want {
				t.Errorf("%q, want %q", got[head], want)
			}
		})
	}
}

func TestRenderNothing(t *testing.T) {
	features.Proves(t, "N8")
	if l := build(nil); !l.Empty() || l.Render(1000, byRune) != "" {
		t.Error("a ledger of nothing says something")
	}
	if l := build([]abi.Message{user("please go on")}); !l.Empty() {
		t.Error("plain words are no exact names")
	}
	l := build([]abi.Message{user("see foo_bar_baz")})
	for _, budget := range []int{-1, 0, 20} {
		t.Run(fmt.Sprintf("budget of %d", budget), func(t *testing.T) {
			if got := l.Render(budget, byRune); got != "" {
				t.Errorf("%d tokens hold %q", budget, got)
			}
		})
	}
	if got := l.Render(1<<40, byRune); !strings.Contains(got, "foo_bar_baz") {
		t.Errorf("no end of room holds %q", got)
	}
}

// TestBudgetAndOrder: whatever was said and however it is counted, the
// budget is kept, the same comes out again, and it is valid text.
func TestBudgetAndOrder(t *testing.T) {
	features.Proves(t, "N8")
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(40).Draw(t, "session")
		budget := rapid.IntRange(0, 1500).Draw(t, "budget")
		for name, count := range counters {
			text := build(msgs).Render(budget, count)
			if n := count(text); n > budget {
				t.Fatalf("%s: %d tokens of %d:\n%s", name, n, budget, text)
			}
			if again := build(msgs).Render(budget, count); again != text {
				t.Fatalf("%s: not the same again:\n%s\n\n%s", name, text, again)
			}
			if !utf8.ValidString(text) {
				t.Fatalf("%s: invalid utf-8: %q", name, text)
			}
		}
	})
}

// TestDeterministic: many files of one name, and absolute paths of them, are
// where an order of chance would show.
func TestDeterministic(t *testing.T) {
	features.Proves(t, "N8")
	var msgs []abi.Message
	for i := range 60 {
		msgs = append(msgs, said(fmt.Sprintf("see pkg%d/index.ts and /srv/kw/pkg%d/index.ts, /opt/x/pkg%d/index.ts", i,
			(i*7)%60, (i*11)%60)))
	}
	first := build(msgs).Render(600, byRune)
	for range 20 {
		if again := build(msgs).Render(600, byRune); again != first {
			t.Fatalf("not the same again:\n%s\n\n%s", first, again)
		}
	}
}

// TestRanking: who says it, how often and how long ago.
func TestRanking(t *testing.T) {
	features.Proves(t, "N8")
	var msgs []abi.Message
	msgs = append(msgs, user("person_says"), said("agent_says_"))
	msgs = append(msgs, called("Grep", "pattern", "call_says__", "output_says", false)...)
	got := lines(build(msgs).Render(400, byRune))["Names"]
	if got != "person_says call_says__ agent_says_ output_says" {
		t.Errorf("by who says it: %s", got)
	}
	msgs = []abi.Message{said("once_said, often_aside"), said("often_aside"), said("often_aside")}
	if got := lines(build(msgs).Render(400, byRune))["Names"]; got != "often_aside once_said" {
		t.Errorf("by how often: %s", got)
	}
	msgs = append([]abi.Message{said("long_ago_")}, sessiongen.Long(30, 1)...)
	msgs = append(msgs, said("just_now_"))
	if got := lines(build(msgs).Render(400, byRune))["Names"]; got != "just_now_ long_ago_" {
		t.Errorf("by how long ago: %s", got)
	}
	msgs = []abi.Message{said("many_times many_times many_times many_times"), said("in_two_msg"), said("in_two_msg")}
	if got := lines(build(msgs).Render(400, byRune))["Names"]; got != "in_two_msg many_times" {
		t.Errorf("a message counts once: %s", got)
	}
}

// TestLinear: more text, more messages and more names take as much longer.
func TestLinear(t *testing.T) {
	features.Proves(t, "N8")
	distinct := func(n int) []abi.Message {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "name_%d /srv/p%d/index.ts p%d/index.ts\n", i, i%1000, i)
		}
		return []abi.Message{said(b.String())}
	}
	for _, tc := range []struct {
		why  string
		make func(n int) []abi.Message
		n    int
	}{
		{"one long message", func(n int) []abi.Message {
			return []abi.Message{user(strings.Repeat("see a/b_c.go and fooBar 12345 ", n))}
		}, 17_000},
		{"one long word", func(n int) []abi.Message { return []abi.Message{user(strings.Repeat("ab_C9", n))} }, 20_000},
		{"distinct names", distinct, 10_000},
		{"many turns", func(n int) []abi.Message { return sessiongen.Long(n, 10) }, 1_000},
		{"many errors", func(n int) []abi.Message {
			var msgs []abi.Message
			for i := range n {
				msgs = append(msgs, called("Bash", "command", fmt.Sprint("make target_", i),
					fmt.Sprintf("error: no rule for %d", i), true)...)
			}
			return msgs
		}, 1_000},
		{"one long command", func(n int) []abi.Message {
			return called("Bash", "command", strings.Repeat("echo a_b \\\n", n), strings.Repeat("error: x\n", n), true)
		}, 10_000},
	} {
		t.Run(tc.why, func(t *testing.T) {
			tc.n /= soak.Count(8, 1, 1)
			cost.Linear(t, tc.n, func(n int) func() {
				msgs := tc.make(n)
				return func() { build(msgs).Render(4000, byRune) }
			})
		})
	}
}

// TestTwoWordsAreAName: two words with a slash between them that several messages quote, or that a call is given as a
// path, are a name.
func TestTwoWordsAreAName(t *testing.T) {
	for why, msgs := range map[string][]abi.Message{
		"a branch":         {said("Go to `entire/sessions`."), said("It is on `entire/sessions`.")},
		"a path of a call": called("Glob", "path", "entire/sessions", "none", false),
	} {
		text := build(msgs).Render(400, byRune)
		if got := lines(text)["Paths mentioned"]; got != "entire/sessions" {
			t.Errorf("%s: %q in\n%s", why, got, text)
		}
	}
}

// TestWordsAreNoPath: words with slashes between them are no path, unless the session names something else below the
// same folder, or they begin with one that projects have.
func TestWordsAreNoPath(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct {
		why, text, want, packages string
	}{
		{"words", "It tracks modified/created/deleted files and/or folders, N/A here.", "", ""},
		{"names", "Call showError/showWarning/showNotice then.", "", ""},
		{"a folder of the project", "Look into src/modes/interactive first.", "src/modes/interactive", ""},
		{"a branch", "It is on origin/entire/sessions now.", "origin/entire/sessions", ""},
		{"others lie in its folder", "See entire/cli/strategy, and entire/cli/paths.go there.",
			"entire/cli/paths.go entire/cli/strategy", ""},
		{"others have it inside", "See entire/cli/strategy, and /srv/kw/entire/cli/strategy/git.go there.",
			"/srv/kw/entire/cli/strategy/git.go entire/cli/strategy", ""},
		{"two words in quotes", "The keys are \"up/k\" and `left/h`.", "", ""},
		{"two words with others in that folder", "Look into `entire/cli`, in entire/cli/strategy/git.go.",
			"entire/cli entire/cli/strategy/git.go", ""},
		{"two words of which the first is a folder of projects", "Look into `internal/store`.", "internal/store", ""},
		{"a file", "See modified/created/deleted.go there.", "modified/created/deleted.go", ""},
		{"a package that comes with the language", "Import \"path/filepath\".", "", "path/filepath"},
		{"packages of others", "Import github.com/go-git/go-git/v5 and golang.org/x/term, then npm i @acme/relay.", "",
			"@acme/relay github.com/go-git/go-git/v5 golang.org/x/term"},
		{"words with hyphens", "Kept by rebases/cherry-picks, for remote/server-side work, JSON-in/JSON-out.", "", ""},
		{"a branch with hyphens", "Push feat/lease-renew to it.", "feat/lease-renew", ""},
		{"a word and a version", "It is authorship/3.0.0 and HTTP/1.1 now.", "", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := said(tc.text)
			for round := range 3 {
				got := build([]abi.Message{text}).Lists(400, "", byRune)
				paths := strings.Fields(lines(got.Rest)["Paths mentioned"])
				list := strings.Fields(lines(got.Rest)["Packages and hosts"])
				slices.Sort(list)
				packages := strings.Join(list, " ")
				if tc.packages != packages {
					t.Errorf("round %d: packages %q, want %q", round, packages, tc.packages)
				}
				slices.Sort(paths)
				if strings.Join(paths, " ") != tc.want {
					t.Errorf("round %d: %q, want %q", round, paths, tc.want)
				}
				text = summary(got.Rest)
			}
		})
	}
}
