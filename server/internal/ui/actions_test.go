package ui_test

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
)

// audited are the types of the events of a session, oldest first.
func audited(s *servetest.Server, key string) (types []string) {
	s.T.Helper()
	var out struct{ Entries []store.Audited }
	s.Must(200, "GET", "/audit?limit=1000&session="+key, nil, &out)
	for _, a := range out.Entries {
		var e store.AuditEntry
		if err := json.Unmarshal(a.Entry, &e); err != nil {
			s.T.Fatal(err)
		}
		types = append(types, string(e.Type))
	}
	return types
}

func has(types []string, want string) bool { return strings.Contains(strings.Join(types, " "), want) }

func state(s *servetest.Server, key string) *store.Session {
	s.T.Helper()
	var row store.Session
	s.Must(200, "GET", "/sessions/"+key, nil, &row)
	return &row
}

// TestDecision: an operator's click on approve applies exactly what the page showed; it is
// in the audit log, and the page of the compaction shows it. A click on reject leaves the
// session as it was.
func TestDecision(t *testing.T) {
	features.Proves(t, "K29")
	features.Proves(t, "K26")
	s := serve(t, agent())
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 400}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	b := openTab(t, s)
	b.at("/s/a/compact")
	b.run(chromedp.Click(`input[name=strategy][value=checkpoint] + span`))
	b.click(`button[formaction]`)
	b.wants("waits for your decision", "Apply it?", "Before", "After", "The note")
	b.shoot("checkpoint", 1280, false)
	b.accessible()
	before := state(s, "a")
	if before.Pending == "" || before.Messages != 62 {
		t.Fatalf("%+v", before)
	}
	b.at("/")
	b.wants("Waiting for you", "a compaction waits for approval")
	b.click(`.waits a`)
	b.run(chromedp.SendKeys(`textarea[name=notes]`, "not yet"))
	b.click(`button[value=reject]`)
	b.wants("Rejected")
	if row := state(s, "a"); row.Pending != "" || row.Messages != 62 || row.Compactions != 0 {
		t.Errorf("a rejected compaction left %+v", row)
	}

	var proposed service.Compacted
	s.Must(200, "POST", "/sessions/a/compact", map[string]any{"strategy": "checkpoint"}, &proposed)
	var shown struct {
		Messages []abi.Message
		Report   struct{ Kept, Superseded, Inserted []string }
	}
	s.Must(200, "GET", "/sessions/a/checkpoint", nil, &shown)
	b.at("/s/a/checkpoint")
	b.click(`button[value=approve]`)
	b.wants("Approved", "superseded", "Your judgement")
	if want := "/s/a/c/" + proposed.Pending; b.path() != want {
		t.Errorf("the click leads to %s, want %s", b.path(), want)
	}
	var now struct{ Messages []abi.Message }
	s.Must(200, "GET", "/sessions/a/messages", nil, &now)
	if len(now.Messages) != len(shown.Messages) {
		t.Fatalf("%d messages, %d were shown", len(now.Messages), len(shown.Messages))
	}
	for i := range now.Messages {
		if !now.Messages[i].Same(&shown.Messages[i]) {
			t.Errorf("message %d is not as it was shown", i)
		}
	}
	types := audited(s, "a")
	if types[len(types)-1] != "compaction.completed" {
		t.Errorf("the audit log ends with %v", types)
	}
	b.at("/audit?session=a")
	b.wants("compaction.completed", proposed.Pending[:12])
	b.at("/s/a")
	b.wants("Compacted", "undo")
	b.silent()
}

// TestActions: preview, compact, judge, undo, redo, rollback, and compare, by clicks.
func TestActions(t *testing.T) {
	features.Proves(t, "K13")
	features.Proves(t, "K11")
	features.Proves(t, "K17")
	s := serve(t, agent())
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 400}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	b := openTab(t, s)
	b.at("/s/a")
	b.wants("No compaction yet", "a compaction is due before the next call")
	b.click(`.actions .main`)
	b.run(chromedp.SetValue(`input[name=target]`, "120"), chromedp.Click(`input[name=strategy][value=drop] + span`),
		chromedp.SetValue(`textarea[name=instructions]`, "keep port 4007"))
	b.click(`button.main`)
	b.wants("Nothing has changed", "drop", "down to 120 tokens", "What went where", "inserted")
	b.shoot("preview", 1280, false)
	b.click(`.actions a.button`)
	if v := ask[string](b, `document.querySelector("input[name=target]").value`); v != "120" {
		t.Errorf("the form forgot its target: %q", v)
	}
	b.click(`button.main`)
	if row := state(s, "a"); row.Compactions != 0 || row.Messages != 62 {
		t.Fatalf("a preview changed the session: %+v", row)
	}
	if types := audited(s, "a"); len(types) > 0 {
		t.Errorf("a preview is in the audit log: %v", types)
	}
	b.click(`.actions button.main`)
	b.wants("The session is compacted", "watcher", "broken", "it broke on purpose", "What went wrong on the way")
	row := state(s, "a")
	if row.Compactions != 1 {
		t.Fatalf("%+v", row)
	}
	compaction := b.path()
	b.at("/audit?session=a")
	b.wants("compaction.completed", "manual", "drop", "failure")
	b.at(compaction)

	b.run(chromedp.Click(`input[name=flag][value=bad] + span`), chromedp.SendKeys(`textarea[name=notes]`,
		`it lost <b>the port</b>`))
	b.click(`section:last-of-type form button`)
	b.wants("Your judgement is kept")
	var list struct{ Compactions []store.Record }
	s.Must(200, "GET", "/sessions/a/compactions", nil, &list)
	if r := list.Compactions[0]; r.Flag != "bad" || r.Notes != "it lost <b>the port</b>" {
		t.Errorf("%q, %q", r.Flag, r.Notes)
	}
	b.at("/s/a")
	b.wants("Judged", "bad", "superseded")
	b.click(`form[action$="/undo"] button`)
	b.wants("The last compaction is undone")
	if now := state(s, "a"); now.Messages != 62 || now.Compactions != 0 {
		t.Errorf("undone: %+v", now)
	}
	b.click(`form[action$="/redo"] button`)
	b.wants("What was undone holds again")
	if now := state(s, "a"); now.Messages != row.Messages || now.Compactions != 1 {
		t.Errorf("redone: %+v", now)
	}
	var all struct{ Messages []struct{ ID string } }
	s.Must(200, "GET", "/sessions/a/messages?include_superseded=true", nil, &all)
	b.at("/s/a/m/" + all.Messages[len(all.Messages)-5].ID)
	b.click(`form[action$="/rollback"] button`)
	b.wants("The session is back")
	if types := audited(s, "a"); !has(types, "session.rolled_back") || !has(types, "compaction.flagged") {
		t.Errorf("%v", types)
	}
	b.at(compaction)
	b.wants("undone")

	b.at("/s/a/compare")
	b.run(chromedp.SetValue(`input[name=b_target]`, "60"))
	b.click(`button.main`)
	b.wants("Tokens after", "Kept by this one alone", "Pays for itself", "down to 60 tokens")
	b.shoot("compare", 1280, false)
	b.accessible()
	b.shoot("compare-phone", 390, false)
	b.silent()
}

// TestStaleForm: a form that was made for another version of the session changes nothing.
func TestStaleForm(t *testing.T) {
	s, _ := filled(t)
	r := post(t, s, "/s/a/undo", map[string][]string{"version": {"1"}})
	if r.Status != 412 || !strings.Contains(string(r.Body), "read it again") ||
		!strings.Contains(string(r.Body), "changed since this page was made") || state(s, "a").Compactions != 1 {
		t.Errorf("%d: %.400s", r.Status, r.Body)
	}
}

// TestNotThere: the page of what is not there leads back to its session, where there is one.
func TestNotThere(t *testing.T) {
	s, _ := filled(t)
	for path, back := range map[string]bool{"/s/nobody": false, "/s/nobody/c/none": false, "/s/a/m/none": true,
		"/s/a/c/none": true, "/s/a/c/none/lost": true, "/s/a/checkpoint": true, "/plugins/none": false} {
		if status, page := get(t, s, path); status != 404 || strings.Contains(page, "Back to the session") != back {
			t.Errorf("%s: %d, with a link to a session: %t", path, status, !back)
		}
	}
}

// TestOtherOrigins: pages of other origins, and who has no cookie, change nothing.
func TestOtherOrigins(t *testing.T) {
	s, cid := filled(t)
	for _, path := range []string{"/s/a/undo", "/s/a/redo", "/s/a/rollback", "/s/a/compact", "/s/a/preview",
		"/s/a/compare",
		"/s/a/c/" + cid + "/judge", "/s/a/checkpoint/" + cid, "/plugins/watcher", "/plugins/watcher/reset",
		"/plugins/watcher/breaker", "/settings", "/settings/reset", "/import"} {
		for _, h := range []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site",
			"Sec-Fetch-Site: same-site"} {
			if r := post(t, s, path, nil, h); r.Status != 403 {
				t.Errorf("%s with %s: %d", path, h, r.Status)
			}
		}
	}
	s.Token = ""
	for _, path := range []string{"/", "/s/a", "/s/a/undo", "/static/app.css", "/plugins"} {
		if status, _ := get(t, s, path); status != 401 {
			t.Errorf("%s without a token: %d", path, status)
		}
	}
}

// TestKnobs: a form made of a plugin's schema takes values by their rules, says what is
// wrong with others, and gives them back.
func TestKnobs(t *testing.T) {
	features.Proves(t, "K27")
	host := agent()
	s := serve(t, host)
	b := openTab(t, s)
	b.at("/plugins/watcher")
	b.wants("Share of the note", "configured", "default", "in quarantine")
	b.accessible()
	b.shoot("knobs", 1280, false)
	b.run(chromedp.Focus(`[name="knob.recent"]`), chromedp.KeyEvent(kb.ArrowRight))
	if shown := ask[string](b, `document.querySelector('output[for="knob.recent"]').textContent`); shown != "11" {
		t.Errorf("the slider shows %q", shown)
	}
	b.run(chromedp.SetValue(`[name="knob.title"]`, "Ledger"), chromedp.SetValue(`[name="knob.style"]`, "plain"),
		chromedp.SetValue(`[name="knob.model"]`, "best"), chromedp.SetValue(`[name="knob.share"]`, "0.7"),
		chromedp.SetValue(`[name="knob.rules"]`, "one\ntwo"), chromedp.Click(`.toggle span`))
	b.click(`#knobs button.main`)
	b.wants("The values hold", "set here")
	var set struct{ Knobs []service.KnobValue }
	s.Must(200, "GET", "/plugins/watcher/knobs", nil, &set)
	got := make(map[string]string)
	for _, k := range set.Knobs {
		got[k.Name] = string(k.Value)
		if k.From != "operator" {
			t.Errorf("%s is %s's", k.Name, k.From)
		}
	}
	for name, want := range map[string]string{"recent": "11", "title": `"Ledger"`, "style": `"plain"`, "model": `"best"`,
		"share": "0.7", "rules": `"one\r\ntwo"`, "enabled": "false"} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
	if host.Changed == 0 {
		t.Error("the host does not know")
	}
	b.click(`button[name=knob][value=style]`)
	b.wants("The knob is back")
	if shown := ask[string](b, `document.querySelector('[name="knob.style"]').value`); shown != "terse" {
		t.Errorf("reset to %q", shown)
	}
	for field, value := range map[string]string{"knob.recent": "51", "knob.share": "0.15", "knob.style": "rude",
		"knob.model": "none", "knob.title": strings.Repeat("x", 21)} {
		form := map[string][]string{field: {value}, "knob.enabled": {"true"}}
		if r := post(t, s, "/plugins/watcher", form); r.Status != 422 || !strings.Contains(string(r.Body), `role="alert"`) {
			t.Errorf("%s = %s: %d", field, value, r.Status)
		}
	}
	b.silent()
}

// TestSettings: a setting of the engine is set and taken back with a click, for all agents or
// one; what it does not take is said, and changes nothing.
func TestSettings(t *testing.T) {
	host := agent()
	s := serve(t, host)
	b := openTab(t, s)
	b.at("/settings?agent=main/reviewer")
	b.wants("compaction.upper_threshold", "default")
	b.accessible()
	b.run(chromedp.SetValue(`input[name=value]`, "0.7"))
	b.click(`form[action="/settings"] button`)
	b.wants("The value holds", "set here")
	of := func(agent string) service.Setting {
		var list struct{ Settings []service.Setting }
		s.Must(200, "GET", "/settings?agent="+agent, nil, &list)
		return list.Settings[0]
	}
	if one := of("main/reviewer"); one.Set != "0.7" || of("").Set != "" || host.Changed != 1 {
		t.Errorf("%+v, %+v, told %d times", one, of(""), host.Changed)
	}
	b.click(`button[formaction]`)
	b.wants("The setting is back", "default")
	if one := of("main/reviewer"); one.Set != "" {
		t.Errorf("%+v", one)
	}
	for name, value := range map[string]string{"compaction.upper_threshold": "7", "none": "1"} {
		r := post(t, s, "/settings", map[string][]string{"setting": {name}, "value": {value}})
		if r.Status != 422 || !strings.Contains(string(r.Body), `role="alert"`) || of("").Set != "" {
			t.Errorf("%s: %d, %+v", name, r.Status, of(""))
		}
	}
	if r := post(t, s, "/settings/reset", map[string][]string{"setting": {"none"}}); r.Status != 404 {
		t.Errorf("%d", r.Status)
	}
	if r := post(t, s, "/settings", nil); r.Status != 422 || !strings.Contains(string(r.Body), "name a setting") {
		t.Errorf("a form without a field: %d, %.400s", r.Status, r.Body)
	}
	b.silent()
}

// TestAgentsOfSettings: an agent that the configuration has not is none to set anything for; what it was given while it
// was there can be looked at and taken back.
func TestAgentsOfSettings(t *testing.T) {
	s, _ := filled(t)
	form := map[string][]string{"agent": {"nope"}, "setting": {"compaction.upper_threshold"}, "value": {"0.7"}}
	for path, form := range map[string]map[string][]string{
		"/settings": form, "/plugins/watcher": {"agent": {"nope"}, "knob.title": {"Ledger"}},
		"/s/a/preview": {"agent": {"nope"}},
	} {
		if r := post(t, s, path, form); r.Status != 422 || !strings.Contains(string(r.Body), "there is no agent") {
			t.Errorf("%s: %d, %.400s", path, r.Status, r.Body)
		}
	}
	if status, _ := get(t, s, "/settings?agent=nope"); status != 422 {
		t.Errorf("its settings: %d", status)
	}
	one := store.Kept{Kind: store.KeptSetting, Owner: "nope", Name: "compaction.upper_threshold", Value: []byte(`"0.7"`)}
	if err := s.Store.Update(t.Context(), func(tx *store.Tx) error { return one.Keep(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	if status, page := get(t, s, "/settings?agent=nope"); status != 200 || !strings.Contains(page, ">nope</option>") {
		t.Errorf("of an agent that went: %d", status)
	}
	r := post(t, s, "/settings/reset", form)
	if r.Status != 200 || !strings.Contains(string(r.Body), "The setting is back") {
		t.Errorf("taken back: %d, %.400s", r.Status, r.Body)
	}
	if _, page := get(t, s, "/settings"); strings.Contains(page, ">nope</option>") {
		t.Error("it is listed still")
	}
}

// TestBreaker: a plugin that is left alone is called again at a click; one that is well has
// no such button.
func TestBreaker(t *testing.T) {
	s := serve(t, agent())
	b := openTab(t, s)
	b.at("/plugins/watcher")
	b.wants("in quarantine", "3 failures in a row")
	b.click(`form[action="/plugins/watcher/breaker"] button`)
	b.wants("The plugin is called again", "healthy")
	if _, page := get(t, s, "/plugins/watcher"); strings.Contains(page, "/breaker") {
		t.Error("a plugin that is well can be reset")
	}
	if r := post(t, s, "/plugins/none/breaker", nil); r.Status != 404 {
		t.Errorf("%d", r.Status)
	}
	b.silent()
}

// TestImport: a log that is dropped on any page, or chosen, becomes a session as it is; one
// that is none is refused in words.
func TestImport(t *testing.T) {
	s := serve(t, agent())
	b := openTab(t, s)
	b.wants("No session yet", "Drop a log")
	b.accessible()
	b.shoot("empty", 1280, false)
	data, err := os.ReadFile("../../../testdata/demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(string(data))
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Evaluate(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([`+string(text)+`], "the log.jsonl"));
		for (const kind of ["dragenter", "dragover", "drop"]) document.body.dispatchEvent(
			new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
	})()`, nil)); err != nil {
		t.Fatal(err)
	}
	b.wants("The file is imported", "the log.jsonl", "No compaction yet")
	if !strings.HasPrefix(b.path(), "/s/") {
		t.Errorf("the drop leads to %s", b.path())
	}
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("<script>alert(1)</script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.at("/import")
	b.run(chromedp.SetUploadFiles(`input[type=file]`, []string{bad}))
	b.click(`#import button`)
	b.wants("bad.jsonl")
	if strings.Contains(b.path(), "/s/") {
		t.Errorf("it was taken: %s", b.path())
	}
	b.silent()
}

// TestLive: an open page follows what happens, by itself.
func TestLive(t *testing.T) {
	s := serve(t, agent())
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 400}, nil)
	b := openTab(t, s)
	b.at("/s/a")
	b.until(`document.getElementById("live").textContent === "live"`)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
	b.until(`document.querySelector("#overview").innerText.includes("62 messages")`)
	s.Must(200, "GET", "/sessions/a/context", nil, nil)
	b.until(`document.querySelector("#overview .events") !== null`)
	b.wants("Compacted", "threshold")
	if n := ask[int](b, `document.querySelectorAll(".story a").length`); n != 1 {
		t.Errorf("%d compactions on the chart", n)
	}
	b.silent()
}

// TestManyMessages: a long list comes as the reader gets there, and without a script by links.
func TestManyMessages(t *testing.T) {
	s := serve(t, agent())
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a"}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(80)}, nil)
	path, seen := "/s/a", 0
	for path != "" {
		_, body := get(t, s, path)
		seen += strings.Count(body, `<li class="msg `)
		path = ""
		if next := regexp.MustCompile(`href="(/s/a\?from=[^"#]*)`).FindStringSubmatch(body); next != nil {
			path = html.UnescapeString(next[1])
			seen-- // the next page begins with the last one
		}
	}
	if seen != 162 {
		t.Errorf("%d messages by links", seen)
	}
	b := openTab(t, s)
	b.at("/s/a")
	for range 4 {
		b.run(chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil), chromedp.Sleep(150*time.Millisecond))
	}
	b.until(`document.querySelectorAll(".msg").length === 162`)
	b.silent()
}

// TestHostileBrowser: a session that attacks runs nothing, asks nobody, and stays within its
// place on the page.
func TestHostileBrowser(t *testing.T) {
	s := attack(t)
	b := openTab(t, s)
	for _, width := range []int{1280, 390} {
		b.run(chromedp.EmulateViewport(int64(width), 900))
		for _, path := range []string{"/", "/s/h%3Cb%3E&%22", "/s/h%3Cb%3E&%22?show=live"} {
			b.at(path)
			if ask[bool](b, `document.documentElement.scrollWidth > innerWidth + 1`) {
				t.Errorf("%s is wider than %d", path, width)
			}
			if title := ask[string](b, `document.title`); strings.Contains(title, "owned") {
				t.Errorf("%s: a script ran", path)
			}
			foreign := ask[int](b, `document.querySelectorAll("main script, main img, main style, main base, main [onload], main [hx-trigger=load]").length`)
			if foreign > 0 {
				t.Errorf("%s: %d elements are a session's", path, foreign)
			}
		}
	}
	asked := ask[[]string](b, `performance.getEntriesByType("resource").map(e => new URL(e.name).origin).filter(o => o !== location.origin)`)
	if len(asked) > 0 {
		t.Errorf("the page asked %v", asked)
	}
	b.shoot("hostile-phone", 390, false)
	b.silent()
}

// TestAccessible: no page has a fault that axe-core finds, light, dark and on a phone.
func TestAccessible(t *testing.T) {
	soak.Only(t, "each page is rendered three times")
	s, cid := filled(t)
	b := openTab(t, s)
	for name, path := range map[string]string{"sessions": "/", "session": "/s/a", "compaction": "/s/a/c/" + cid,
		"compact": "/s/a/compact", "plugins": "/plugins", "plugin": "/plugins/watcher", "audit": "/audit?verify=1",
		"import": "/import", "problem": "/s/none"} {
		b.at(path)
		for _, look := range []struct {
			suffix string
			width  int
			dark   bool
		}{{"", 1280, false}, {"-dark", 1280, true}, {"-phone", 390, false}} {
			b.shoot(name+look.suffix, look.width, look.dark)
			b.accessible()
			if ask[bool](b, `document.documentElement.scrollWidth > innerWidth + 1`) {
				t.Errorf("%s is wider than %d", path, look.width)
			}
		}
	}
	b.silent()
}

// TestKeyboard: whatever can be clicked can be reached with the keyboard, and is seen when
// it is.
func TestKeyboard(t *testing.T) {
	soak.Only(t, "each page is walked with the tab key")
	s, cid := filled(t)
	b := openTab(t, s)
	for _, path := range []string{"/", "/s/a", "/s/a/c/" + cid, "/s/a/compact", "/plugins/watcher"} {
		b.at(path)
		want := ask[int](b, `(window.reach = new Set([...document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary")].filter(
			e => e.checkVisibility() && (e.type !== "radio" || e.checked)))).size`)
		if want < 8 {
			t.Errorf("%s has %d things to reach", path, want)
		}
		// The link to more messages makes room for them as it comes into view: how many steps it
		// takes is not known before.
		const unreached = `[...reach].filter(e => e.isConnected)`
		for range 20 * want {
			b.run(chromedp.KeyEvent("\t"))
			if ask[bool](b, `reach.delete(document.activeElement), `+unreached+`.length === 0`) {
				break
			}
		}
		if left := ask[[]string](b, unreached+`.map(e => e.outerHTML.slice(0, 120))`); len(left) > 0 {
			t.Errorf("%s: not reached: %s", path, strings.Join(left, "\n"))
		}
	}
}
