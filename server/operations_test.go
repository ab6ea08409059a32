package server_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/turnend"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// walker asks by the description of the API alone, and keeps what was asked.
type walker struct {
	*servetest.Server
	operations map[string]*operation
}

type operation struct {
	method, path string
	statuses     map[string]any
	good, bad    int
}

func walk(t *testing.T, s *servetest.Server) *walker {
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string         `json:"operationId"`
			Responses   map[string]any `json:"responses"`
		}
	}
	s.Must(200, "GET", "/openapi.json", nil, &doc)
	w := &walker{s, make(map[string]*operation)}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			w.operations[op.OperationID] = &operation{method: strings.ToUpper(method),
				path: strings.TrimPrefix(path, "/api/v1"), statuses: op.Responses}
		}
	}
	return w
}

// in fills the parameters of a path: names and values in turn, the query behind "?".
func (o *operation) in(params []string) string {
	path := o.path
	for i := 0; i+1 < len(params); i += 2 {
		if params[i] == "?" {
			path += "?" + params[i+1]
			continue
		}
		path = strings.ReplaceAll(path, "{"+params[i]+"}", url.PathEscape(params[i+1]))
	}
	return path
}

// ok asks for an operation that has to succeed.
func (w *walker) ok(id string, body, out any, params ...string) *servetest.Response {
	w.T.Helper()
	r := w.ask(id, body, params)
	if r.Status >= 300 {
		w.T.Fatalf("%s: %d: %.500s", id, r.Status, r.Body)
	}
	w.operations[id].good++
	if out != nil {
		if err := json.Unmarshal(r.Body, out); err != nil {
			w.T.Fatalf("%s: %v: %.500s", id, err, r.Body)
		}
	}
	return r
}

// no asks for an operation that has to fail in one way.
func (w *walker) no(status int, code abi.Code, id string, body any, params ...string) {
	w.T.Helper()
	r := w.ask(id, body, params)
	if r.Status != status || r.Code() != code {
		w.T.Errorf("%s %v: %d %s, want %d %s: %.500s", id, params, r.Status, r.Code(), status, code, r.Body)
	}
	if got := r.Header.Get("Content-Type"); got != "application/problem+json" {
		w.T.Errorf("%s: the problem is %s", id, got)
	}
	w.operations[id].bad++
}

func (w *walker) ask(id string, body any, params []string) *servetest.Response {
	w.T.Helper()
	o := w.operations[id]
	if o == nil {
		w.T.Fatalf("no operation %s is described", id)
	}
	var headers []string
	if n := len(params); n%2 == 1 {
		headers, params = params[n-1:], params[:n-1]
	}
	r := w.Do(o.method, o.in(params), body, headers...)
	if o.statuses[strconv.Itoa(r.Status)] == nil && o.statuses["default"] == nil {
		w.T.Errorf("%s: status %d is not described: %.300s", id, r.Status, r.Body)
	}
	return r
}

// knobbed is a plugin with a knob of each kind that matters here.
func knobbed() service.Plugin {
	return service.Plugin{Name: "keeper", Version: "1.0.0", Digest: "sha256:00", Roles: []abi.PluginRole{"observer"},
		Hooks: []abi.Hook{abi.HookPreCompact}, Agents: []string{""}, Grants: []abi.Capability{},
		Configured: abi.Config{"much": json.RawMessage("7")}, Breaker: service.Breaker{State: "closed"},
		Knobs: map[string]abi.Knob{
			"much":  {Type: abi.KnobIntRange, Min: 1, Max: 10, Default: json.RawMessage("3")},
			"alias": {Type: abi.KnobModelAlias, Default: json.RawMessage(`""`)},
		}}
}

// TestEveryOperation: each operation of the description does what it says, answers wrong
// input with a problem, and returns no status that is not described.
func TestEveryOperation(t *testing.T) {
	features.Proves(t, "K16")
	host := &servetest.Host{PluginList: []service.Plugin{knobbed()}, ModelList: []service.Model{{Alias: "fast"}}}
	w := walk(t, servetest.Start(t, host, service.Options{Recall: true}))
	walkSessions(t, w)
	walkImport(t, w)
	walkLoop(t, w)
	walkCompactions(t, w)
	walkHistory(t, w)
	walkOperator(t, w)
	walkCheckpoints(t, w)
	for id, o := range w.operations {
		wrong := strings.Contains(o.path, "{") ||
			strings.Contains("list-sessions list-audit watch compact-once import-session", id)
		if o.good == 0 || wrong && o.bad == 0 {
			t.Errorf("%s: asked %d times rightly, %d times wrongly", id, o.good, o.bad)
		}
	}
}

func walkSessions(t *testing.T, w *walker) {
	var one store.Session
	r := w.ok("create-session", map[string]any{"id": "a b/ü", "agent": "main/reviewer", "context_window": 300}, &one)
	at := r.Header.Get("Location")
	if one.Key != "a b/ü#main/reviewer" || at != "/api/v1/sessions/a%20b%2F%C3%BC%23main%2Freviewer" {
		t.Errorf("%+v at %s", one, at)
	}
	w.no(409, abi.CodeConflict, "create-session", map[string]any{"id": "a b/ü", "agent": "main/reviewer"})
	w.no(422, abi.CodeUsage, "create-session", map[string]any{"id": "a#b"})
	w.no(422, abi.CodeUsage, "create-session", map[string]any{"id": "a\u202eb"})
	w.no(422, "invalid", "create-session", map[string]any{"id": 7})
	w.no(422, "invalid", "create-session", map[string]any{"name": "unknown"})
	w.no(400, abi.CodeBadInput, "create-session", `{"id":"a","id":"b"}`)
	w.no(400, abi.CodeBadInput, "create-session", "nonsense")
	var made store.Session
	w.ok("create-session", map[string]any{}, &made)
	var list struct {
		Sessions []store.Session
		Next     string
	}
	w.ok("list-sessions", nil, &list, "?", "limit=1")
	if len(list.Sessions) != 1 || list.Sessions[0].ID != made.ID || list.Next == "" {
		t.Fatalf("%+v", list)
	}
	w.ok("list-sessions", nil, &list, "?", "limit=1&after="+url.QueryEscape(list.Next))
	if len(list.Sessions) != 1 || list.Sessions[0].Key != one.Key || list.Next != "" {
		t.Fatalf("%+v", list)
	}
	w.no(422, "invalid", "list-sessions", nil, "?", "limit=0")
	w.no(422, "invalid", "list-sessions", nil, "?", "limt=1")
	w.no(422, abi.CodeUsage, "list-sessions", nil, "?", "after=nonsense")

	added := w.ok("append-messages", map[string]any{"messages": servetest.Chat(2)}, nil, "session", one.Key)
	tag := added.Header.Get("ETag")
	var shown store.Session
	if r := w.ok("get-session", nil, &shown, "session", one.Key); r.Header.Get("ETag") != tag || shown.Messages != 6 {
		t.Errorf("%s and %s, %+v", r.Header.Get("ETag"), tag, shown)
	}
	if r := w.Do("GET", "/sessions/"+url.PathEscape(one.Key), nil, "If-None-Match: "+tag); r.Status != 304 ||
		len(r.Body) != 0 {
		t.Errorf("%d for a version that the client has", r.Status)
	}
	w.no(404, "not_found", "get-session", nil, "session", "nobody")
	walkMessages(t, w, one.Key, tag)
	w.ok("delete-session", nil, nil, "session", made.Key)
	w.no(404, "not_found", "delete-session", nil, "session", made.Key)
}

// walkImport: a log comes in as the page takes it, in any form that a body has, and nothing is compacted.
func walkImport(t *testing.T, w *walker) {
	file, err := os.ReadFile("../testdata/demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	page, err := w.Service.Import(t.Context(), service.File{Name: "demo.jsonl", Data: file})
	if err != nil {
		t.Fatal(err)
	}
	var one store.Session
	r := w.ok("import-session", map[string]any{"messages": string(file), "name": "demo.jsonl", "id": "demo/1",
		"context_window": 3000}, &one)
	if at := r.Header.Get("Location"); r.Status != 201 || at != "/api/v1/sessions/demo%2F1" || one.Key != "demo/1" ||
		one.Window != 3000 || one.Source != "demo.jsonl" || one.Compactions != 0 || one.Messages != page.Messages ||
		one.Tokens != page.Tokens {
		t.Errorf("%d at %s: %+v, want what the page makes: %+v", r.Status, at, one, page)
	}
	chat := servetest.Chat(3)
	for i, messages := range []any{chat, chat, servetest.Chat(4)} { // once more, and a log that has grown
		w.ok("import-session", map[string]any{"messages": messages, "format": "neutral", "id": "chat"}, &one)
		if want := len(chat) + 2*(i/2); one.Key != "chat" || one.Messages != want || one.Version != 1+i/2 {
			t.Errorf("import %d: %d messages at version %d, want %d", i, one.Messages, one.Version, want)
		}
	}
	w.no(422, abi.CodeUsage, "import-session", map[string]any{})
	w.no(400, abi.CodeBadInput, "import-session", map[string]any{"messages": "{"})
	w.no(400, abi.CodeBadInput, "import-session", map[string]any{"messages": chat, "force": true})
	w.no(422, abi.CodeUsage, "import-session", map[string]any{"messages": chat, "format": "clay"})
	w.no(422, abi.CodeUsage, "import-session", map[string]any{"messages": chat, "format": "neutral", "id": "a#b"})
	w.no(422, abi.CodeUsage, "import-session", map[string]any{"messages": chat, "format": "neutral", "context_window": -1})
	for _, key := range []string{page.Key, "demo/1", "chat"} {
		w.ok("delete-session", nil, nil, "session", key)
	}
}

func walkMessages(t *testing.T, w *walker, key, tag string) {
	body := map[string]any{"messages": []abi.Message{{ID: "mine", Role: abi.RoleUser, Content: abi.Text("One more.")}}}
	var first, second service.Appended
	w.ok("append-messages", body, &first, "session", key, "Idempotency-Key: k1")
	w.ok("append-messages", body, &second, "session", key, "Idempotency-Key: k1")
	if !second.Replayed || first.Replayed || second.Version != first.Version || first.IDs[0] != "mine" ||
		second.IDs[0] != "mine" {
		t.Errorf("%+v, then %+v", first, second)
	}
	other := map[string]any{"messages": servetest.Chat(0)}
	w.no(422, abi.CodeUsage, "append-messages", other, "session", key, "Idempotency-Key: k1")
	w.no(422, abi.CodeUsage, "append-messages", body, "session", key) // the id is taken
	w.no(412, abi.CodeConflict, "append-messages", other, "session", key, "If-Match: "+tag)
	w.no(422, abi.CodeUsage, "append-messages", other, "session", key, "If-Match: x")
	w.no(404, "not_found", "append-messages", other, "session", "nobody")
	w.no(422, abi.CodeUsage, "append-messages", `{"messages":[]}`, "session", key)
	for _, wrong := range []string{`{"messages":[{"role":"user","content":"a","ID":"EVIL","id":"b"}]}`, `{"messages":7}`,
		`{"messages":[{"role":"user","content":"a"}]} x`, `{"messages":[{"role":"user","content":"a","what":1}]}`,
		`{"messages":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "{\"messages\":[{\"role\":\"\xff\"}]}"} {
		r := w.ask("append-messages", wrong, []string{"session", key})
		if r.Status != 400 && r.Status != 422 {
			t.Errorf("%.60s: %d", wrong, r.Status)
		}
	}
	w.no(422, abi.CodeUsage, "append-messages", `{"messages":[{"role":"boss","content":"a"}]}`, "session", key)
	var list struct {
		Messages []session.StoredMessage
		Next     string
	}
	var ids []string
	for more := true; more; more = list.Next != "" {
		w.ok("list-messages", nil, &list, "session", key, "?", "limit=3&after="+url.QueryEscape(list.Next))
		for _, m := range list.Messages {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) != 7 || ids[6] != "mine" {
		t.Errorf("pages of %v", ids)
	}
	w.no(404, "not_found", "list-messages", nil, "session", "nobody")
	w.no(422, "invalid", "list-messages", nil, "session", key, "?", "limit=-1")
}

func walkLoop(t *testing.T, w *walker) {
	w.ok("create-session", map[string]any{"id": "loop", "context_window": 300}, nil)
	w.ok("append-messages", map[string]any{"messages": servetest.Chat(3)}, nil, "session", "loop")
	var look service.Look
	w.ok("get-context", nil, &look, "session", "loop")
	if len(look.Messages) != 8 || look.Report == nil || look.Version != 1 {
		t.Errorf("%d messages at %d", len(look.Messages), look.Version)
	}
	w.no(404, "not_found", "get-context", nil, "session", "nobody")
	w.no(422, "invalid", "get-context", nil, "session", "loop", "?", "wait=-1")
	w.ok("begin-call", nil, &look, "session", "loop")
	w.no(409, abi.CodeBusy, "begin-call", nil, "session", "loop", "?", "wait=0")
	w.no(409, abi.CodeBusy, "get-context", nil, "session", "loop", "?", "wait=0")
	w.no(409, abi.CodeBusy, "compact-session", map[string]any{}, "session", "loop")
	w.no(404, "not_found", "begin-call", nil, "session", "nobody")
	answer := map[string]any{"messages": []abi.Message{{Role: abi.RoleAssistant, Content: abi.Text("Done.")}},
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 2}}
	w.no(404, "not_found", "end-call", answer, "session", "loop", "call", "another")
	w.no(400, abi.CodeBadInput, "end-call", `{"messages":7}`, "session", "loop", "call", look.Call)
	w.ok("end-call", answer, nil, "session", "loop", "call", look.Call)
	w.ok("begin-call", nil, &look, "session", "loop")
	if len(look.Messages) != 9 {
		t.Errorf("%d messages behind the answer", len(look.Messages))
	}
	w.no(404, "not_found", "abandon-call", nil, "session", "loop", "call", "another")
	w.ok("abandon-call", nil, nil, "session", "loop", "call", look.Call)
	w.ok("report-usage", map[string]any{"input_tokens": 10, "output_tokens": 2, "cost": 0.5}, nil, "session", "loop")
	w.no(422, "invalid", "report-usage", map[string]any{"input_tokens": -1, "output_tokens": 2}, "session", "loop")
	w.no(404, "not_found", "report-usage", map[string]any{"input_tokens": 1, "output_tokens": 2}, "session", "nobody")
	walkRefused(t, w)
	walkTurns(t, w)
}

func walkRefused(t *testing.T, w *walker) {
	w.ok("create-session", map[string]any{"id": "long", "context_window": 400}, nil)
	w.ok("append-messages", map[string]any{"messages": servetest.Chat(16)}, nil, "session", "long")
	var look, again service.Look
	w.ok("begin-call", nil, &look, "session", "long")
	refused := map[string]any{"error": "prompt is too long: 900 tokens > 300 maximum"}
	w.no(404, "not_found", "refuse-call", refused, "session", "long", "call", "another")
	w.no(422, "invalid", "refuse-call", map[string]any{}, "session", "long", "call", look.Call)
	w.ok("refuse-call", refused, &again, "session", "long", "call", look.Call)
	if len(again.Messages) >= len(look.Messages) || again.Call != look.Call {
		t.Errorf("%d messages, and %d before", len(again.Messages), len(look.Messages))
	}
	w.no(422, abi.CodeContextLength, "refuse-call", refused, "session", "long", "call", look.Call) // not twice
	w.no(404, "not_found", "refuse-call", refused, "session", "long", "call", look.Call)
}

func walkTurns(t *testing.T, w *walker) {
	var begun struct{ Turn string }
	w.ok("begin-turn", nil, &begun, "session", "loop")
	w.no(404, "not_found", "begin-turn", nil, "session", "nobody")
	w.no(409, abi.CodeBusy, "compact-session", map[string]any{}, "session", "loop")
	w.ok("get-context", nil, nil, "session", "loop") // the model is called in a turn
	w.ok("request-compaction", map[string]any{"instructions": "keep the ports"}, nil, "session", "loop")
	w.no(404, "not_found", "request-compaction", map[string]any{}, "session", "nobody")
	w.no(404, "not_found", "end-turn", nil, "session", "loop", "turn", "another")
	var ended service.Turn
	w.ok("end-turn", nil, &ended, "session", "loop", "turn", begun.Turn, "?", "wait=60")
	if ended.Report == nil || !ended.Report.Compacted {
		t.Errorf("what was asked for did not run: %+v", ended.Report)
	}
	w.no(404, "not_found", "end-turn", nil, "session", "loop", "turn", begun.Turn)
	w.ok("begin-turn", nil, &begun, "session", "loop")
	w.ok("end-turn", nil, nil, "session", "loop", "turn", begun.Turn, "?", "failed=true")
}

func walkCompactions(t *testing.T, w *walker) {
	w.ok("create-session", map[string]any{"id": "c", "context_window": 2000}, nil)
	w.ok("append-messages", map[string]any{"messages": servetest.Chat(10)}, nil, "session", "c")
	var dry, done service.Compacted
	w.ok("compact-session", map[string]any{"dry_run": true, "strategy": "drop"}, &dry, "session", "c")
	if !dry.Report.Compacted || dry.Record == nil || len(dry.Messages) >= 22 {
		t.Errorf("%+v", dry.Report)
	}
	w.no(412, abi.CodeConflict, "compact-session", map[string]any{}, "session", "c", `If-Match: "9"`)
	w.ok("compact-session", map[string]any{"strategy": "drop", "upper_threshold": 0.5, "lower_threshold": 0.1,
		"summarize": false, "prompt": "project:/p.md", "agent_path": "main/reviewer", "instructions": "the ports"}, &done,
		"session", "c", `If-Match: "1"`)
	if !done.Report.Compacted || done.Version != 2 {
		t.Fatalf("%+v", done)
	}
	w.no(422, abi.CodeUsage, "compact-session", map[string]any{"strategy": "magic"}, "session", "c")
	w.no(422, abi.CodeUsage, "compact-session", map[string]any{"prompt": "/etc/passwd"}, "session", "c")
	w.no(422, "invalid", "compact-session", map[string]any{"upper_threshold": 2}, "session", "c")
	w.no(422, "invalid", "compact-session", map[string]any{"uper_threshold": 0.2}, "session", "c")
	w.no(404, "not_found", "compact-session", map[string]any{}, "session", "nobody")
	var list struct{ Compactions []store.Record }
	w.ok("list-compactions", nil, &list, "session", "c")
	if len(list.Compactions) != 1 || list.Compactions[0].ID != done.Record.ID {
		t.Fatalf("%+v", list)
	}
	w.no(404, "not_found", "list-compactions", nil, "session", "nobody")
	id := done.Record.ID
	w.ok("get-compaction", nil, nil, "session", "c", "compaction", id)
	w.no(404, "not_found", "get-compaction", nil, "session", "c", "compaction", "none")
	var judged abi.Record
	w.ok("judge-compaction", map[string]any{"flag": "bad", "notes": "a port is gone"}, nil, "session", "c", "compaction",
		id)
	w.ok("judge-compaction", map[string]any{"flag": "good"}, &judged, "session", "c", "compaction", id)
	if judged.Flag != "good" || judged.Notes != "a port is gone" {
		t.Errorf("%+v", judged)
	}
	w.no(422, "invalid", "judge-compaction", map[string]any{"flag": "great"}, "session", "c", "compaction", id)
	w.no(404, "not_found", "judge-compaction", map[string]any{"flag": "good"}, "session", "c", "compaction", "none")
	once := map[string]any{"messages": []map[string]any{{"role": "user", "content": "Hello."}}, "context_window": 1000}
	w.ok("compact-once", once, nil)
	tried := maps.Clone(once)
	tried["dry_run"], tried["force"] = true, true
	var would service.Made
	w.ok("compact-once", tried, &would)
	if would.Record == nil || !would.Record.DryRun {
		t.Errorf("a dry run without a record: %+v", would.Record)
	}
	w.no(422, abi.CodeUsage, "compact-once", map[string]any{})
	w.no(400, abi.CodeBadInput, "compact-once", map[string]any{"messages": "{"})
	w.no(422, abi.CodeUsage, "compact-once", map[string]any{"messages": once["messages"], "format": "clay"})
	w.no(422, abi.CodeUsage, "compact-once", map[string]any{"messages": once["messages"], "reason": "boredom"})
	var told turnend.Ended
	w.ok("end-turn-once", once, &told)
	if told.Listening || told.Wanted != nil {
		t.Errorf("there is no plugin, and one listens: %+v", told)
	}
	w.no(400, abi.CodeBadInput, "end-turn-once", "nonsense")
	w.no(422, abi.CodeUsage, "end-turn-once", map[string]any{"messages": once["messages"], "reason": "boredom"})
}

func walkHistory(t *testing.T, w *walker) {
	w.no(412, abi.CodeConflict, "undo", nil, "session", "c", `If-Match: "7"`)
	var back service.Restored
	w.ok("undo", nil, &back, "session", "c")
	if back.Messages != 22 || back.Compaction == "" || back.Version != 3 {
		t.Errorf("%+v", back)
	}
	w.no(404, "not_found", "undo", nil, "session", "nobody")
	w.no(422, abi.CodeUsage, "undo", nil, "session", "c") // nothing is in force
	w.ok("redo", nil, nil, "session", "c", `If-Match: "3"`)
	w.no(422, abi.CodeUsage, "redo", nil, "session", "long")
	w.no(412, abi.CodeConflict, "redo", nil, "session", "c", `If-Match: "3"`)
	w.no(404, "not_found", "redo", nil, "session", "nobody")
	var lost struct{ Lost []session.Loss }
	w.ok("list-lost", nil, &lost, "session", "c", "?", "grep=port")
	if len(lost.Lost) == 0 {
		t.Error("nothing is lost")
	}
	w.no(422, abi.CodeUsage, "list-lost", nil, "session", "c", "?", "grep=%28")
	w.no(404, "not_found", "list-lost", nil, "session", "nobody")
	w.ok("list-lost", nil, &lost, "session", "c", "?", "compaction="+back.Compaction) // as undo calls it
	another := func(l session.Loss) bool { return l.Compaction != back.Compaction }
	if len(lost.Lost) == 0 || slices.ContainsFunc(lost.Lost, another) {
		t.Errorf("of one compaction: %+v", lost.Lost)
	}
	w.no(404, "not_found", "list-lost", nil, "session", "c", "?", "compaction=none")
	var found struct{ Found []session.Recalled }
	for _, id := range []string{"search-messages", "recall"} {
		w.ok(id, nil, &found, "session", "c", "?", "q=port+4001")
		if len(found.Found) == 0 {
			t.Errorf("%s finds nothing", id)
		}
		w.no(422, "invalid", id, nil, "session", "c")
		w.no(404, "not_found", id, nil, "session", "nobody", "?", "q=x")
	}
	w.ok("rollback", map[string]any{"to_version": 1}, &back, "session", "c")
	if back.Messages != 22 {
		t.Errorf("%+v", back)
	}
	w.ok("rollback", map[string]any{"to_version": 0}, &back, "session", "c")
	if back.Messages != 0 {
		t.Errorf("%+v", back)
	}
	w.no(422, abi.CodeUsage, "rollback", map[string]any{}, "session", "c")
	w.no(422, abi.CodeUsage, "rollback", map[string]any{"to_message": "none"}, "session", "c")
	w.no(422, abi.CodeUsage, "rollback", map[string]any{"to_version": 999}, "session", "c")
	w.no(404, "not_found", "rollback", map[string]any{"to_version": 0}, "session", "nobody")
}

func walkOperator(t *testing.T, w *walker) {
	var plugins struct{ Plugins []service.Plugin }
	w.ok("list-plugins", nil, &plugins)
	var settings struct{ Settings []service.Setting }
	w.ok("list-settings", nil, &settings)
	w.ok("set-settings", map[string]any{"values": map[string]string{"compaction.upper_threshold": "0.7"}}, &settings)
	if one := settings.Settings[0]; one.Value != 0.7 || one.Set != "0.7" {
		t.Errorf("%+v", one)
	}
	w.no(422, "usage", "set-settings", map[string]any{"values": map[string]string{"compaction.upper_threshold": "7"}})
	w.no(422, "usage", "set-settings", map[string]any{"values": map[string]string{"none": "1"}})
	w.no(422, "invalid", "set-settings", map[string]any{"values": map[string]any{"compaction.upper_threshold": 1}})
	w.no(422, "invalid", "list-settings", nil, "?", "agnet=x")
	w.no(404, "not_found", "reset-setting", nil, "setting", "none")
	settings.Settings = nil
	w.ok("set-settings", map[string]any{"values": map[string]string{"compaction.upper_threshold": "0.95",
		"compaction.lower_threshold": "0.9"}}, &settings)
	w.no(422, "usage", "reset-setting", nil, "setting", "compaction.upper_threshold") // the other one would exceed it
	w.ok("list-settings", nil, &settings)
	if one := settings.Settings[0]; one.Set != "0.95" {
		t.Errorf("what is refused was done: %+v", one)
	}
	w.ok("reset-setting", nil, &settings, "setting", "compaction.lower_threshold")
	w.ok("set-settings", map[string]any{"values": map[string]string{"compaction.lower_threshold": "0.9"}}, &settings,
		"?", "agent=main/reviewer")
	w.no(422, "usage", "reset-setting", nil, "setting", "compaction.upper_threshold") // one of an agent would
	w.no(422, "usage", "set-settings", map[string]any{"values": map[string]string{"compaction.upper_threshold": "0.8"}})
	w.ok("reset-setting", nil, &settings, "setting", "compaction.lower_threshold", "?", "agent=main/reviewer")
	settings.Settings = nil
	w.ok("reset-setting", nil, &settings, "setting", "compaction.upper_threshold")
	if one := settings.Settings[0]; one.Set != "" {
		t.Errorf("%+v", one)
	}
	w.ok("reset-breaker", nil, nil, "plugin", "keeper")
	w.no(404, "not_found", "reset-breaker", nil, "plugin", "none")
	if len(plugins.Plugins) != 1 || plugins.Plugins[0].Breaker.State != "closed" {
		t.Errorf("%+v", plugins)
	}
	var knobs struct{ Knobs []service.KnobValue }
	value := func(name string) string {
		for _, k := range knobs.Knobs {
			if k.Name == name {
				return string(k.Value) + " " + k.From
			}
		}
		return "none"
	}
	w.ok("list-knobs", nil, &knobs, "plugin", "keeper")
	if value("much") != "7 configuration" || value("alias") != `"" default` {
		t.Errorf("%+v", knobs)
	}
	w.no(404, "not_found", "list-knobs", nil, "plugin", "nobody")
	w.ok("set-knobs", map[string]any{"values": map[string]any{"much": 9, "alias": "fast"}}, &knobs, "plugin", "keeper")
	if value("much") != "9 operator" || value("alias") != `"fast" operator` {
		t.Errorf("%+v", knobs)
	}
	w.no(422, abi.CodeUsage, "set-knobs", map[string]any{"values": map[string]any{"much": 11}}, "plugin", "keeper")
	w.no(422, abi.CodeUsage, "set-knobs", map[string]any{"values": map[string]any{"alias": "slow"}}, "plugin", "keeper")
	w.no(404, "not_found", "set-knobs", map[string]any{"values": map[string]any{"more": 1}}, "plugin", "keeper")
	w.ok("reset-knob", nil, &knobs, "plugin", "keeper", "knob", "much")
	if value("much") != "7 configuration" {
		t.Errorf("%+v", knobs)
	}
	w.no(404, "not_found", "reset-knob", nil, "plugin", "keeper", "knob", "more")
	w.ok("list-models", nil, nil)
	var stats store.Stats
	w.ok("get-stats", nil, &stats)
	if stats.Completed < 2 || len(stats.Costs) == 0 {
		t.Errorf("%+v", stats)
	}
	w.ok("get-session-stats", nil, &stats, "session", "c")
	if stats.Completed != 1 || stats.RolledBack != 3 || stats.Redone != 1 { // the dry run is none
		t.Errorf("%+v", stats)
	}
	w.no(404, "not_found", "get-session-stats", nil, "session", "nobody")
	var log struct {
		Entries []store.Audited
		Next    int
	}
	n := 0
	for more := true; more; more = log.Next != 0 {
		w.ok("list-audit", nil, &log, "?", "session=c&limit=2&after="+strconv.Itoa(log.Next))
		n += len(log.Entries)
	}
	if n != 8 { // triggered, completed, two judgements, three rollbacks, a redo
		t.Errorf("%d entries", n)
	}
	w.no(422, "invalid", "list-audit", nil, "?", "limit=0")
	var verified store.AuditReport
	w.ok("verify-audit", nil, &verified)
	if len(verified.Problems) != 0 {
		t.Errorf("%+v", verified)
	}
	walkEvents(t, w)
}

func walkCheckpoints(t *testing.T, w *walker) {
	w.ok("create-session", map[string]any{"id": "p", "context_window": 2000}, nil)
	w.ok("append-messages", map[string]any{"messages": servetest.Chat(10)}, nil, "session", "p")
	w.no(404, "not_found", "get-checkpoint", nil, "session", "p")
	var waits, done service.Compacted
	w.ok("compact-session", map[string]any{"strategy": "checkpoint"}, &waits, "session", "p")
	if waits.Pending == "" {
		t.Fatalf("%+v", waits)
	}
	w.no(409, abi.CodeBusy, "get-context", nil, "session", "p")
	var cp session.Checkpoint
	w.ok("get-checkpoint", nil, &cp, "session", "p")
	w.no(404, "not_found", "reject-checkpoint", map[string]any{}, "session", "p", "compaction", "none")
	w.ok("reject-checkpoint", map[string]any{"notes": "too early"}, nil, "session", "p", "compaction", waits.Pending)
	w.ok("compact-session", map[string]any{"strategy": "checkpoint"}, &waits, "session", "p")
	w.ok("get-checkpoint", nil, &cp, "session", "p")
	w.no(404, "not_found", "approve-checkpoint", nil, "session", "p", "compaction", "none")
	w.ok("approve-checkpoint", nil, &done, "session", "p", "compaction", waits.Pending)
	var look service.Look
	w.ok("get-context", nil, &look, "session", "p")
	shown, _ := json.Marshal(cp.Messages)
	if got, _ := json.Marshal(look.Messages); string(got) != string(shown) {
		t.Errorf("applied is not what was shown:\n%s\n%s", got, shown)
	}
}

// TestRecallIsOff: agents may not search what went unless the operator allows it.
func TestRecallIsOff(t *testing.T) {
	features.Proves(t, "N9")
	s := start(t)
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a"}, nil)
	if r := s.Do("GET", "/sessions/a/recall?q=x", nil); r.Status != 403 || r.Code() != abi.CodeDenied {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// TestPluginsAtTheEndOfTurns: what a plugin asks for in a turn runs when it has ended.
func TestPluginsAtTheEndOfTurns(t *testing.T) {
	features.Proves(t, "T2")
	features.Proves(t, "T3")
	features.Proves(t, "O4")
	p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
		Turn: func(*abi.Input) (*abi.Output, error) {
			return &abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}}, nil
		}}
	s := servetest.Start(t, &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{p}}}, service.Options{})
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 2000}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(10)}, nil)
	var begun struct{ Turn string }
	s.Must(201, "POST", "/sessions/a/turns", nil, &begun)
	if r := s.Do("POST", "/sessions/a/compact", map[string]any{}); r.Status != 409 || r.Code() != abi.CodeBusy {
		t.Errorf("a person's compaction in a turn: %d %s", r.Status, r.Body)
	}
	var ended service.Turn
	s.Must(200, "DELETE", "/sessions/a/turns/"+begun.Turn+"?wait=60", nil, &ended)
	if ended.Report == nil || !ended.Report.Compacted || len(ended.Turn.Wishes) != 1 {
		t.Errorf("%+v", ended)
	}
	var stats store.Stats
	s.Must(200, "GET", "/sessions/a/stats", nil, &stats)
	if stats.Completed != 1 {
		t.Errorf("%+v", stats)
	}
}

// TestTurnsOfMessagesThatTheCallerKeeps: plugins hear of a turn whose messages an agent keeps, what one wants is told
// with its instructions and runs when the agent hands the messages over, and who asks on and on is not listened to.
// Where no plugin hears of turns the messages are not looked at.
func TestTurnsOfMessagesThatTheCallerKeeps(t *testing.T) {
	features.Proves(t, "T2", "O4")
	heard := 0
	p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
		Turn: func(in *abi.Input) (*abi.Output, error) {
			if heard++; len(in.Messages) != 22 || in.Session.ID != "talk" {
				t.Errorf("%d messages of %q", len(in.Messages), in.Session.ID)
			}
			return &abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}}, nil
		}}
	s := servetest.Start(t, &servetest.Host{Options: kagewasm.Options{Plugins: []hooks.Plugin{p}}}, service.Options{})
	lines, err := json.Marshal(servetest.Chat(10))
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"messages": json.RawMessage(lines), "format": "neutral", "id": "talk", "context_window": 2000,
		"record": true}
	for turn := range 5 {
		var told turnend.Ended
		s.Must(200, "POST", "/turn-end", body, &told)
		if !told.Listening || told.Turn == nil || heard != turn+1 {
			t.Fatalf("turn %d: %+v, the plugin heard of %d", turn, told, heard)
		}
		if turn > 2 { // it asked three turns in a row
			if told.Wanted != nil && told.Wanted.Reason == abi.TriggerPlugin || len(told.Wishes) != 0 {
				t.Errorf("turn %d: %+v", turn, told.Wanted)
			}
			continue
		}
		if w := told.Wanted; w == nil || w.Reason != abi.TriggerPlugin || w.Instructions != "asks: the ports" {
			t.Fatalf("turn %d: wanted %+v", turn, w)
		}
		var made service.Made
		asked := map[string]any{"force": true, "reason": told.Wanted.Reason, "instructions": told.Wanted.Instructions}
		maps.Copy(asked, body)
		s.Must(200, "POST", "/compact", asked, &made)
		if !made.Report.Compacted || made.Report.ReasonCode == "" {
			t.Errorf("turn %d: %+v", turn, made.Report)
		}
	}
	if r := s.Do("GET", "/audit?session=talk", nil); !strings.Contains(string(r.Body), `"trigger":"plugin"`) {
		t.Errorf("the audit log does not say that a plugin asked: %.2000s", r.Body)
	}

	silent := servetest.Start(t, &servetest.Host{}, service.Options{})
	var told turnend.Ended
	silent.Must(200, "POST", "/turn-end", map[string]any{"messages": "{", "format": "anthropic"}, &told)
	if told.Listening || told.Turn != nil {
		t.Errorf("nobody listens: %+v", told)
	}
}
