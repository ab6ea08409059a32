package ui_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// agent is a host with an observer that answers and one that fails, and a plugin with a
// knob of each type.
func agent() *servetest.Host {
	return &servetest.Host{
		Options: kagewasm.Options{Plugins: []hooks.Plugin{
			&hosttest.Plugin{Name: "watcher", Roles: []abi.PluginRole{abi.RoleObserver},
				Pre: hosttest.Answers(&abi.Output{Retain: []string{"the port is 4000"}, AlwaysKeep: []string{"nowhere"},
					Messages: []abi.OutputMessage{{Ref: "m1"}}})},
			&hosttest.Plugin{Name: "broken", Roles: []abi.PluginRole{abi.RoleObserver},
				Pre: func(*abi.Input) (*abi.Output, error) { return nil, errors.New("it broke on purpose") }},
		}},
		PluginList: []service.Plugin{{Name: "watcher", Version: "1.2.0", Digest: "sha256:0123456789abcdef",
			Roles: []abi.PluginRole{"observer"},
			Hooks: []abi.Hook{abi.HookPreCompact}, Agents: []string{""}, Breaker: service.Breaker{State: "open", Failures: 3,
				Until: "2026-01-01T00:00:00Z"},
			Knobs: map[string]abi.Knob{
				"share": {Type: abi.KnobRange, Label: "Share of the note", Description: "How much of the target.",
					Default: raw(0.2), Min: 0, Max: 1, Step: 0.1},
				"recent": {Type: abi.KnobIntRange, Default: raw(10), Min: 1, Max: 50},
				"style": {Type: abi.KnobEnum, Default: raw("plain"), Values: []string{"plain", "terse"},
					Labels: []string{"Plain words", "Few words"}},
				"title":   {Type: abi.KnobText, Default: raw("Notes"), MaxLength: 20},
				"rules":   {Type: abi.KnobMultiline, Default: raw("")},
				"enabled": {Type: abi.KnobBoolean, Default: raw(true)},
				"model":   {Type: abi.KnobModelAlias, Default: raw("")},
			}, Configured: abi.Config{"style": raw("terse")}}},
		ModelList: []service.Model{{Alias: "fast", Name: "small-1"}, {Alias: "best", Name: "large-1"}},
	}
}

// filled is a server with a session that was compacted, and the id of the compaction.
func filled(t *testing.T) (s *servetest.Server, cid string) {
	t.Helper()
	s = serve(t, agent())
	return s, fillUp(t, s)
}

// fillUp begins a session on a server, and compacts it.
func fillUp(t *testing.T, s *servetest.Server) (cid string) {
	t.Helper()
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 400}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	var out service.Compacted
	s.Must(200, "POST", "/sessions/a/compact", map[string]any{}, &out)
	if out.Record == nil {
		t.Fatalf("nothing was compacted: %+v", out.Report)
	}
	return out.Record.ID
}

// TestPages: every page is there without a script, and shows what the store holds.
func TestPages(t *testing.T) {
	features.Proves(t, "K13")
	s, cid := filled(t)
	walkPages(t, s, cid)
}

// TestSettingsBetweenSteps: a value on which a slider has no step is text, as a browser would send another one.
func TestSettingsBetweenSteps(t *testing.T) {
	features.Proves(t, "K13")
	s, _ := filled(t)
	const at = `id="set.compaction.upper_threshold" name="value" `
	for value, want := range map[string]string{
		"0.57":  `<input type="range" ` + at + `min="0.01" max="1" step="0.01" value="0.57">`,
		"0.725": `<input ` + at + `value="0.725">`,
	} {
		set := map[string]any{"values": map[string]string{"compaction.upper_threshold": value}}
		s.Must(200, "PUT", "/settings", set, nil)
		if _, body := get(t, s, "/settings"); !strings.Contains(body, want) {
			t.Errorf("there is no %s", want)
		}
	}
}

// TestPagesOnPostgreSQL: the pages, and what their forms do, are the same over the other
// database.
func TestPagesOnPostgreSQL(t *testing.T) {
	db, err := store.Open(t.Context(), pgtest.Database(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := servetest.StartOver(t, db, agent(), service.Options{})
	cid := fillUp(t, s)
	walkPages(t, s, cid)
	s.Must(200, "PUT", "/plugins/watcher/knobs", map[string]any{"values": map[string]any{"title": "Ledger"}}, nil)
	for _, c := range []struct {
		path, want string
		form       url.Values
	}{
		{"/s/a/c/" + cid + "/judge", "Your judgement is kept", url.Values{"flag": {"good"}, "notes": {"as it should be"}}},
		{"/s/a/undo", "The last compaction is undone", nil},
		{"/s/a/redo", "What was undone holds again", nil},
		{"/s/a/preview", "Nothing has changed", url.Values{"target": {"60"}}},
		{"/s/a/compare", "Only", url.Values{"b.target": {"60"}}},
		{"/s/a/undo", "The last compaction is undone", nil},
		{"/s/a/compact", "waits for your decision", url.Values{"strategy": {"checkpoint"}}},
		{"/s/a/checkpoint/" + cid, "Approved", url.Values{"decision": {"approve"}}},
		{"/plugins/watcher/reset", "The knob is back", url.Values{"knob": {"title"}}},
		{"/settings", "The value holds", url.Values{"setting": {"compaction.upper_threshold"}, "value": {"0.7"}}},
		{"/settings/reset", "The setting is back", url.Values{"setting": {"compaction.upper_threshold"}}},
		{"/plugins/watcher/breaker", "The plugin is called again", nil},
	} {
		if c.path == "/s/a/checkpoint/"+cid {
			c.path = "/s/a/checkpoint/" + state(s, "a").Pending
		}
		if r := post(t, s, c.path, c.form); r.Status != http.StatusOK || !strings.Contains(string(r.Body), c.want) {
			t.Errorf("%s: %d, no %q in %.3000s", c.path, r.Status, c.want, r.Body)
		}
	}
}

// walkPages looks at every page.
func walkPages(t *testing.T, s *servetest.Server, cid string) {
	t.Helper()
	for _, c := range []struct {
		path  string
		wants []string
	}{
		{"/", []string{"Tokens freed", ">a<", "in quarantine", "3 failures", "primary: $0.00, compactor: $0.00"}},
		{"/s/a", []string{"compacts at 340", "down to 240", "Compacted", "superseded", "pinned",
			"Mend the parser of the ledger.", "tokens"}},
		{"/s/a/overview", []string{"compacts at 340"}},
		{"/s/a?show=live", []string{"Mend the parser of the ledger."}},
		{"/s/a/c/" + cid, []string{"Before", "After", "superseded", "inserted", "The note", "linked to the message",
			"What was lost", "watcher", "until it has paid for itself", "Keep the judgement", "the port is 4000",
			"there is no such message", "nowhere", "an observer&#39;s messages, summary or cancel are not taken"}},
		{"/s/a/c/" + cid + "/note", []string{"The note", "linked to the message"}},
		{"/s/a/c/" + cid + "/lost", []string{"What was lost", "keep port"}},
		{"/s/a/compact", []string{"Preview", "drop", "summarize", "delegate", "checkpoint", "Prompt of the summary"}},
		{"/s/a/compare", []string{"Compare two ways"}},
		{"/plugins", []string{"watcher"}},
		{"/plugins/watcher", []string{"Share of the note", "Plain words", "fast (small-1)", `type="range"`, `role="switch"`,
			"<textarea"}},
		{"/settings", []string{"compaction.upper_threshold", "0.85", "A share of the window", "main/reviewer",
			`<input type="range" id="set.compaction.upper_threshold" name="value" min="0.01" max="1" step="0.01" value="0.85">`,
			`<select id="set.compaction.strategy" name="value"><option selected>drop</option><option>delegate</option></select>`,
			`<option value="fast" selected>fast (small-1)</option>`, `<option selected>true</option><option>false</option>`,
			`<input id="set.compaction.max_tokens" name="value" value="0">`,
			`<input id="set.compaction.prune.protect_percent" name="value" value="-1">`}},
		{"/audit", []string{"compaction.completed"}},
		{"/audit?verify=1", []string{"all as they were written"}},
		{"/import", []string{"claude-code"}},
	} {
		status, body := get(t, s, c.path)
		if status != http.StatusOK {
			t.Errorf("%s: %d\n%.300s", c.path, status, body)
		}
		for _, w := range c.wants {
			if !strings.Contains(body, w) {
				t.Errorf("%s has no %q", c.path, w)
			}
		}
		if bad := regexp.MustCompile(`(?i)<script(?: [^>]*)?>[^<]|\son[a-z]+=|\sstyle=|javascript:`).FindString(body); bad != "" {
			t.Errorf("%s: the policy allows no %q", c.path, bad)
		}
	}
	for path, want := range map[string]int{"/s/none": 404, "/s/a/c/none": 404, "/s/a/c/none/note": 404,
		"/s/none/c/none/note": 404, "/s/a/m/none": 404, "/plugins/none": 404,
		"/nothing": 404, "/s/a/checkpoint": 404, "/static/none.js": 404} {
		if status, body := get(t, s, path); status != want {
			t.Errorf("%s: %d, want %d\n%.300s", path, status, want, body)
		}
	}
}

// hostile are texts of a session that would like to be more than that.
var hostile = []string{
	`<script>document.title = "owned"</script><img src=x onerror="document.title='owned'">`,
	`"><svg onload=alert(1)>`, "'-alert(1)-'", "{{.Data}} ${7*7} </pre></li></ol></main>",
	"\u202edesrever si siht\u202c \u2066isolated\u2069 zero\u200bwidth \u00ad soft",
	"bell \a escape \x1b[31mred\x1b[0m null \x00 c1 \u0085\u009b31m back\bspace",
	`<a href="javascript:alert(1)" hx-get="/s/a/undo" hx-trigger="load" sse-connect="https://evil.example">x</a>`,
	"<style>body{display:none}</style><base href=https://evil.example><meta http-equiv=refresh content=0>",
}

func attack(t *testing.T) *servetest.Server {
	t.Helper()
	s := serve(t, agent())
	s.Must(201, "POST", "/sessions", map[string]any{"id": "h<b>&\"", "context_window": 1000,
		"source": `<script>alert("source")</script>`}, nil)
	msgs := []abi.Message{{Role: abi.RoleUser, Content: abi.Text("Look at this.")}}
	for i, text := range hostile {
		msgs = append(msgs, abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text), ToolCalls: []abi.ToolCall{
			{ID: fmt.Sprint("c", i), Name: text, Arguments: string(raw(text))}}},
			abi.Message{Role: abi.RoleTool, ToolCallID: fmt.Sprint("c", i), Name: text, Content: abi.Text(text)})
	}
	msgs = append(msgs, abi.Message{Role: abi.RoleUser, Content: abi.Text(strings.Repeat("x", 1<<20))},
		abi.Message{Role: abi.RoleAssistant, Content: abi.Text("seen")}, abi.Message{Role: abi.RoleUser,
			Content: abi.Text("go on")})
	s.Must(201, "POST", "/sessions/"+url.PathEscape("h<b>&\"")+"/messages", map[string]any{"messages": msgs}, nil)
	s.Must(200, "POST", "/sessions/"+url.PathEscape("h<b>&\"")+"/compact", map[string]any{"target_tokens": 20}, nil)
	return s
}

// TestHostileText: what a session says is text on every page: no element, no control
// character, nothing that turns the direction of text around.
func TestHostileText(t *testing.T) {
	s := attack(t)
	key := "/s/" + url.PathEscape("h<b>&\"")
	var list struct{ Compactions []abi.Record }
	s.Must(200, "GET", "/sessions/"+url.PathEscape("h<b>&\"")+"/compactions", nil, &list)
	for _, path := range []string{"/", key, key + "/c/" + list.Compactions[0].ID, key + "/compact", "/audit", key +
		"/m/none"} {
		_, body := get(t, s, path)
		for _, bad := range []string{"<script>", "<img", "onerror=\"", "<style>", "<base", "<svg onload", `href="javascript`,
			"<meta http-equiv", `hx-trigger="load"`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		for i, r := range body {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
				t.Errorf("%s holds %U: %q", path, r, body[max(0, i-60):i])
				break
			}
		}
		if len(body) > 1<<20 {
			t.Errorf("%s is %d bytes long", path, len(body))
		}
	}
}
