package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

func start(t *testing.T) *servetest.Server {
	return servetest.Start(t, &servetest.Host{}, service.Options{})
}

// TestLoop: the loop of an agent in any language: append, context, answer, usage; what
// went can be listed and undone.
func TestLoop(t *testing.T) {
	features.Proves(t, "K16")
	features.Proves(t, "K14")
	s := start(t)
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 300}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(20)}, nil)
	var look service.Look
	s.Must(200, "GET", "/sessions/a/context", nil, &look)
	if !look.Report.Compacted || len(look.Messages) >= 42 {
		t.Fatalf("%d messages: %s", len(look.Messages), look.Report.Reason)
	}
	s.Must(204, "POST", "/sessions/a/usage", map[string]any{"model": "gpt-4o", "input_tokens": 1000, "output_tokens": 10},
		nil)
	var stats store.Stats
	s.Must(200, "GET", "/sessions/a/stats", nil, &stats)
	if stats.Completed != 1 || len(stats.Costs) != 1 || stats.Costs[0].Spender != store.Primary ||
		stats.Costs[0].ModelUsage.Cost <= 0 {
		t.Errorf("%+v", stats)
	}
	var lost struct{ Lost []json.RawMessage }
	s.Must(200, "GET", "/sessions/a/lost", nil, &lost)
	if len(lost.Lost) == 0 {
		t.Error("nothing is lost")
	}
	var undone service.Restored
	s.Must(200, "POST", "/sessions/a/undo", nil, &undone)
	if undone.Messages != 42 || undone.Superseded != len(look.Report.Superseded) {
		t.Errorf("%+v", undone)
	}
	s.Must(200, "POST", "/sessions/a/redo", nil, &undone)
	if undone.Messages != len(look.Messages) {
		t.Errorf("%+v", undone)
	}
	var verified store.AuditReport
	s.Must(200, "GET", "/audit/verify", nil, &verified)
	if verified.Entries == 0 || len(verified.Problems) != 0 {
		t.Errorf("%+v", verified)
	}
}

// TestOpenAPI: the document describes the API in OpenAPI 3.1.
func TestOpenAPI(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	s := start(t)
	s.Must(200, "GET", "/openapi.json", nil, &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Paths) < 20 {
		t.Errorf("%s, %d paths", doc.OpenAPI, len(doc.Paths))
	}
	var schemas struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	s.Must(200, "GET", "/openapi.json", nil, &schemas)
	for _, of := range []string{"Record", "Report"} {
		if _, has := schemas.Components.Schemas[of].Properties["first_kept"]; !has {
			t.Errorf("%s has no first_kept", of)
		}
	}
}

// TestToken: nobody without the token learns anything.
func TestToken(t *testing.T) {
	s := start(t)
	s.Token = ""
	for _, path := range []string{"/sessions", "/openapi.json", "/../../metrics", "/nothing"} {
		if r := s.Do(http.MethodGet, path, nil); r.Status != http.StatusUnauthorized || r.Code() != "unauthorized" {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
}

// TestLookIsWhole: a context is written as its description says, field by field, also where
// messages hold what the fast writer refuses.
func TestLookIsWhole(t *testing.T) {
	deep := json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
	for _, msgs := range [][]abi.Message{nil, {}, servetest.Chat(3), {{ID: "a", Role: abi.RoleUser, Raw: deep}}} {
		look := service.Look{Session: "s", Version: 3, Call: "c", Messages: msgs,
			Report: &kagewasm.Report{Compacted: true, Kept: []string{"a"}, FirstKept: "a"}}
		got, err := look.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(look)
		if err != nil {
			t.Fatal(err)
		}
		var x, y map[string]any
		if err := errors.Join(json.Unmarshal(got, &x), json.Unmarshal(want, &y)); err != nil {
			t.Fatal(err)
		}
		if msgs == nil {
			y["messages"] = []any{}
		}
		if !reflect.DeepEqual(x, y) {
			t.Errorf("%.300s\n%.300s", got, want)
		}
	}
}

// TestAppendToClosed: a session that is not open takes messages without being read. Ids that
// it has, or had, are refused as by an open one, and messages without an id get one that
// nobody has.
func TestAppendToClosed(t *testing.T) {
	var answers [2][]string
	for i, open := range []bool{false, true} {
		s := servetest.Start(t, &servetest.Host{}, service.Options{MaxOpen: 1})
		s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 300}, nil)
		s.Must(201, "POST", "/sessions", map[string]any{"id": "b"}, nil)
		s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(20)}, nil)
		s.Must(200, "GET", "/sessions/a/context", nil, nil) // which compacts
		if !open {
			s.Must(200, "GET", "/sessions/b/context", nil, nil)
		}
		var all struct{ Messages []session.StoredMessage }
		s.Must(200, "GET", "/sessions/a/messages?include_superseded=true", nil, &all)
		gone := slices.IndexFunc(all.Messages, func(m session.StoredMessage) bool { return m.Superseded })
		for _, body := range []string{
			`{"messages":[{"role":"user","content":"x"},{"role":"user","content":"x"}]}`,
			`{"messages":[{"role":"user","content":"x"}]}`,
			`{"messages":[{"id":"` + all.Messages[gone].ID + `","role":"user","content":"x"}]}`,
			`{"messages":[{"id":"n","role":"user","content":"x"},{"id":"n","role":"user","content":"x"}]}`,
			`{"messages":[{"id":"n","role":"bot","content":"x"}]}`} {
			r := s.Do("POST", "/sessions/a/messages", body)
			answers[i] = append(answers[i], fmt.Sprint(r.Status, " ", string(r.Body)))
		}
	}
	if !slices.Equal(answers[0], answers[1]) {
		t.Errorf("closed: %q\nopen:   %q", answers[0], answers[1])
	}
	for i, status := range []string{"201", "201", "422", "422", "422"} {
		if !strings.HasPrefix(answers[0][i], status) {
			t.Errorf("%d: %s", i, answers[0][i])
		}
	}
}

// TestUnreadBodies: a body that no operation wants is read all the same. A connection that is closed with something
// unread in it would be reset, and the answer with it.
func TestUnreadBodies(t *testing.T) {
	s := start(t)
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a"}, nil)
	for _, tc := range []struct {
		path, token string
		want        string
	}{
		{"/api/v1/sessions/a/turns", s.Token, " 201 "},
		{"/api/v1/sessions/a/nothing", s.Token, " 404 "},
		{"/api/v1/sessions/a/turns", "wrong", " 401 "},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const size = 100 << 10
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", tc.path, tc.token, size, strings.Repeat(" ", size))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // a reset has come by then
		answer, err := io.ReadAll(conn)
		if head, _, _ := strings.Cut(string(answer), "\r\n"); err != nil || !strings.Contains(head, tc.want) {
			t.Errorf("%s: %q, %v", tc.path, head, err)
		}
	}
}

// TestSessionsThatShareAnId: where agents share the id of a session, the answer that it is not there has their keys.
func TestSessionsThatShareAnId(t *testing.T) {
	features.Proves(t, "K5")
	s := over(t, store.InMemory)
	for _, agent := range []string{"main", "main/reviewer"} {
		s.Must(201, "POST", "/sessions", map[string]any{"id": "p", "agent": agent}, nil)
	}
	for _, path := range []string{"", "/lost", "/context", "/messages", "/compactions"} {
		r := s.Must(404, "GET", "/sessions/p"+path, nil, nil)
		if said := string(r.Body); !strings.Contains(said, "p#main or p#main/reviewer") || !strings.Contains(said, "%23") {
			t.Errorf("%q: %s", path, said)
		}
	}
	if said := string(s.Must(404, "GET", "/sessions/q", nil, nil).Body); strings.Contains(said, "p#main") {
		t.Errorf("of another id: %s", said)
	}
}
