package kagewasm_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/strategies"
)

// did is a call of a tool and its result.
func did(id, tool string, args map[string]any, output string, failed bool) []abi.Message {
	doc, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return []abi.Message{
		{ID: "a" + id, Role: abi.RoleAssistant,
			ToolCalls: []abi.ToolCall{{ID: "c" + id, Name: tool, Arguments: string(doc)}}},
		{ID: "t" + id, Role: abi.RoleTool, ToolCallID: "c" + id, Content: abi.Text(output), IsError: failed},
	}
}

const leaseError = "lease_test.go:40: got 2 parcels, want 1"

// workday is a session in which files were read and changed, a command failed,
// a list of tasks was kept and requirements were given, before much else.
func workday() []abi.Message {
	msgs := []abi.Message{
		{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are careful.")},
		{ID: "goal", Role: abi.RoleUser, Content: abi.Text("Make the tests pass.")},
		{ID: "more", Role: abi.RoleUser, Content: abi.Text(
			"Also:\n- [ ] no parcel is handed out twice\n- [x] a test shows it")},
	}
	msgs = append(msgs, did("read", "Read", map[string]any{"file_path": "docs/leases.md"}, "# leases", false)...)
	msgs = append(msgs, did("edit", "Edit", map[string]any{"file_path": "store/lease.go", "old_string": "a",
		"new_string": "b"}, "updated", false)...)
	msgs = append(msgs, did("fail", "Bash", map[string]any{"command": "go test -run TestLease ./store"},
		"Exit code 1\n"+leaseError, true)...)
	msgs = append(msgs, did("todo", "TodoWrite", map[string]any{"todos": []any{
		map[string]any{"content": "write the test", "status": "completed"},
		map[string]any{"content": "add the lock", "status": "in_progress"}}}, "ok", false)...)
	return append(msgs, renamed(long()[2:], "w")...)
}

// TestWhatModelsLose: below whatever a model or a plugin wrote, and
// without either, stand the tasks in their state and the failure word for word,
// where nobody wrote anything the checklist too, and the files, which the record and the report have as data; over a
// second compaction too.
func TestWhatModelsLose(t *testing.T) {
	features.Proves(t, "T7", "A6", "I4")
	for why, opts := range map[string]kagewasm.Options{
		"drop":    {},
		"a model": {Model: writes("all is well")},
		"a list": {Plugins: plugins(compactor(keepOnly("Short.", func(m *abi.InputMessage) bool {
			return m.Pinned || strings.HasSuffix(m.ID, "last")
		})))},
		"a summary": {Plugins: plugins(granted("obs", answers(&abi.Output{Summary: "Short."})))},
	} {
		t.Run(why, func(t *testing.T) {
			opts.Policy.Note.Tokens = 1500
			watch := &fakePlugin{Name: "watch", Post: answers(nil)}
			opts.Plugins = append(opts.Plugins, watch)
			c := newCompactor(t, opts)
			list := workday()
			read, modified := []string{"docs/leases.md"}, []string{"store/lease.go"}
			for k := range 2 {
				r := compact(t, c, request(longWindow, list))
				text := r.Messages[2].Text()
				want := map[string]string{
					"A6: a task under way": "- [-] add the lock", "A6: a task done": "- [x] write the test",
					"I4: the failed command": "go test -run TestLease ./store", "I4: its error": leaseError,
				}
				want["A6: the checklist"] = "> - [ ] no parcel is handed out twice\n> - [x] a test shows it"
				for row, part := range want {
					t.Run(fmt.Sprintf("compaction %d: %s", k, row), func(t *testing.T) {
						if !strings.Contains(text, part) {
							t.Errorf("%s, compaction %d: %s: no %q in %.900s", why, k, row, part, text)
						}
					})
				}
				for where, files := range map[string]*abi.Files{
					"report": r.Report.Files, "record": r.Record.Files,
					"post_compact": watch.Calls(abi.HookPostCompact)[k].Record.Files,
				} {
					t.Run(fmt.Sprintf("compaction %d: %s", k, where), func(t *testing.T) {
						if files == nil || !slices.Equal(files.Read, read) || !slices.Equal(files.Modified, modified) {
							t.Errorf("%s, compaction %d: T7: files %+v, want %v and %v", why, k, files, read, modified)
						}
					})
				}
				list = append(slices.Clip(r.Messages),
					did("x", "Read", map[string]any{"file_path": "go.mod"}, "module kw", false)...)
				list = append(list, did("y", "Write",
					map[string]any{"file_path": "store/lock.go", "content": "package store"}, "created", false)...)
				list = append(list, renamed(chat(310)[2:], "again")...)
				read, modified = append(read, "go.mod"), append(modified, "store/lock.go")
			}
		})
	}
}

// TestReported: the ratio, what a cache can serve, the failures kept and the
// sections there are figures of every compaction.
func TestReported(t *testing.T) {
	features.Proves(t, "I10")
	half := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		text := inForm(r, "all is well")
		return modeltest.Answer{Text: strings.Replace(text, "## Next Steps", "## Something Else", 1)}
	})
	for why, opts := range map[string]kagewasm.Options{
		"without a model":               {},
		"a model that forgets sections": {Model: half},
		"a model": {Model: writes("all is well"),
			Policy: kagewasm.Policy{Keep: strategies.KeepConfig{Messages: 10}}},
	} {
		t.Run(why, func(t *testing.T) {
			r := compact(t, newCompactor(t, opts), request(longWindow, workday())).Report
			m := r.Metrics
			if want := float64(r.TokensBefore) / float64(r.TokensAfter); m.CompressionRatio != want ||
				why == "a model" && want < 3 {
				t.Errorf("compression %v, want %v", m.CompressionRatio, want)
			}
			wantMissing := 0
			if strings.Contains(why, "forgets") {
				wantMissing = 1
			}
			if m.FailureRetention != 1 || m.FailuresTold != m.FailuresGone || m.FailuresGone == 0 || m.WordsKept != 1 {
				t.Errorf("failures kept %v, %d of %d, words %v", m.FailureRetention, m.FailuresTold, m.FailuresGone, m.WordsKept)
			}
			if len(m.MissingSections) != wantMissing || m.Completeness != 1-float64(wantMissing)/7 {
				t.Errorf("sections %v, missing %v: what the host marked is not the model's", m.Completeness, m.MissingSections)
			}
			if cache := m.Cache; cache.PreviousTokens != r.TokensBefore || cache.PrefixTokens == 0 ||
				cache.HitRate != float64(cache.PrefixTokens)/float64(r.TokensAfter) {
				t.Errorf("cache %+v", cache)
			}
		})
	}
	tight := compact(t, newCompactor(t, kagewasm.Options{
		Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: -1}}}), request(longWindow, workday())).Report.Metrics
	if tight.FailureRetention != 0 || tight.FailuresTold != 0 || tight.WordsKept != 0 {
		t.Errorf("with no note at all: %+v", tight)
	}
}
