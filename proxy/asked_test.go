package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// item is what a client keeps of a compaction.
type item struct {
	Type             string `json:"type"`
	ID               string `json:"id"`
	EncryptedContent string `json:"encrypted_content"`
}

const trigger = `{"type":"compaction_trigger"}`

// asked sends a conversation with a trigger at its end, and returns the one item of the
// answer.
func (s *setup) asked(t testing.TB, d dialect, els []string, headers ...string) (one string) {
	t.Helper()
	d.head = strings.Replace(d.head, `"store":false`, `"stream":true,"store":false`, 1)
	answer, status, says := s.post(t, d.path, d.body(append(slices.Clone(els), trigger)), headers...)
	if status != 200 {
		t.Fatalf("status %d, %s: %s; %s", status, says, answer, s.logs)
	}
	var types []string
	for line := range strings.Lines(string(answer)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var event struct {
			Type     string
			Item     json.RawMessage
			Response struct {
				Output []json.RawMessage
				Usage  *struct {
					Input *int `json:"input_tokens"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		types = append(types, event.Type)
		if event.Type == "response.output_item.done" {
			one = string(event.Item)
		}
		if event.Type == "response.completed" && (len(event.Response.Output) != 1 || event.Response.Usage.Input == nil) {
			t.Errorf("completed: %s", data)
		}
	}
	if want := []string{"response.created", "response.in_progress", "response.output_item.added",
		"response.output_item.done",
		"response.completed"}; !slices.Equal(types, want) {
		t.Fatalf("events %v", types)
	}
	var got item
	if err := json.Unmarshal([]byte(one), &got); err != nil || got.Type != "compaction" || !strings.HasPrefix(got.ID,
		"cmp_") ||
		got.EncryptedContent == "" {
		t.Fatalf("%s, %v", one, err)
	}
	return one
}

// TestTrigger: a client that asks for a compaction by its last item gets one item, and no
// provider is asked. What it repeats beside the item later does not come twice, what it says
// again stays, and the provider is shown messages it knows.
func TestTrigger(t *testing.T) {
	features.Proves(t, "N12")
	d := dialects[2]
	u, st := newUpstream(t), memory(t)
	with := func(o *proxy.Options) { o.Store, o.Key = st, []byte("a key of the state's folder") }
	s := start(t, u, 200_000, with)
	els := d.conversation(60)
	before := len(d.body(els))
	one := s.asked(t, d, els, "Session-Id", "s1")
	if n := len(u.requests()); n != 0 {
		t.Fatalf("%d requests went to the provider", n)
	}
	if strings.Contains(one, "undefined") || strings.Contains(one, "vendor") {
		t.Error("the item can be read")
	}
	fresh := `{"type":"message","role":"user","id":"msg_new","content":[{"type":"input_text","text":"<environment_context>now</environment_context>"}]}`
	kept := []string{els[0], els[1], fresh, one} // Codex keeps what persons said
	for k := range 3 {
		kept = append(kept, d.user(fmt.Sprint("and then? ", k)))
		_, _, says := s.post(t, d.path, d.body(kept), "Session-Id", "s1")
		got := u.last(t)
		sent, _ := d.elements(t, got.body)
		if sent[0] != els[0] || sent[1] != fresh || sent[2] != els[1] || !strings.HasSuffix(string(got.body),
			kept[len(kept)-1]+d.tail) {
			t.Fatalf("%s: %s", says, got.body)
		}
		if strings.Count(string(got.body), "Never touch the folder vendor/") > 2 || bytes.Contains(got.body,
			[]byte("encrypted_content")) {
			t.Errorf("what was covered is there twice: %s", got.body)
		}
		if n := len(got.body); n > before*45/100 {
			t.Errorf("%d bytes of %d are left", n, before)
		}
		d.whole(t, got.body)
	}
	// Another process with the key of the same folder reads it too, and one without does not.
	again := start(t, u, 200_000, with)
	again.post(t, d.path, d.body(kept), "Session-Id", "s1")
	if bytes.Contains(u.last(t).body, []byte("encrypted_content")) {
		t.Error("not opened after a restart")
	}
	other := start(t, u, 200_000)
	body := d.body(kept)
	if other.post(t, d.path, body, "Session-Id", "s1"); !bytes.Equal(u.last(t).body, body) {
		t.Error("the item of somebody else is not passed on as it is")
	}
	// A second compaction stands for the first.
	for k := range 40 {
		kept = append(kept, d.step(k+500, output(k+500))...)
	}
	two := s.asked(t, d, kept, "Session-Id", "s1")
	s.post(t, d.path, d.body([]string{els[0], els[1], kept[4], two, d.user("on")}), "Session-Id", "s1")
	if got := u.last(t).body; bytes.Contains(got, []byte("encrypted_content")) || len(got) > before {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	d.whole(t, u.last(t).body)
}

// TestForeignItems: items of the provider, and ones that somebody changed, are the provider's
// to read.
func TestForeignItems(t *testing.T) {
	d := dialects[2]
	u := newUpstream(t)
	s := start(t, u, 200_000)
	one := s.asked(t, d, d.conversation(30))
	for name, foreign := range map[string]string{
		"the provider's": `{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAAABo"}`,
		"another prefix": strings.Replace(one, "kagewasm1.", "kagewasm2.", 1),
		"changed":        one[:len(one)/2] + changed(one[len(one)/2]) + one[len(one)/2+1:],
		"cut":            one[:60] + `"}`,
		"a text of it":   d.user("what is kagewasm1.AAAA?"),
	} {
		body := d.body([]string{d.user("a"), foreign, d.user("b")})
		if _, status, says := s.post(t, d.path, body); status != 200 || !bytes.Equal(u.last(t).body, body) {
			t.Errorf("%s: %s: %s", name, says, u.last(t).body)
		}
	}
}

// changed is another letter of base64 than this one.
func changed(letter byte) string {
	if letter == 'A' {
		return "B"
	}
	return "A"
}

// TestCompactPath: POST responses/compact answers with the list to go on with.
func TestCompactPath(t *testing.T) {
	d := dialects[2]
	u := newUpstream(t)
	s := start(t, u, 200_000)
	els := d.conversation(40)
	answer, status, says := s.post(t, "/v1/responses/compact", d.body(els))
	var got struct {
		ID, Object string
		CreatedAt  int `json:"created_at"`
		Output     []json.RawMessage
		Usage      map[string]any
	}
	if err := json.Unmarshal(answer, &got); err != nil || status != http.StatusOK || got.Object != "response.compaction" ||
		got.CreatedAt == 0 || len(got.Output) != 2 || got.Usage["input_tokens"] == nil {
		t.Fatalf("%d %s: %s, %v", status, says, answer, err)
	}
	s.post(t, d.path, d.body([]string{string(got.Output[0]), string(got.Output[1]), d.user("on")}))
	sent, _ := d.elements(t, u.last(t).body)
	if len(u.requests()) != 1 || len(sent) < 4 || len(sent) > 60 || !strings.Contains(sent[1], "Never touch") {
		t.Errorf("%d elements: %.300s", len(sent), u.last(t).body)
	}
}

// TestTriggerPasses: where nothing can be compacted here the provider is asked.
func TestTriggerPasses(t *testing.T) {
	d := dialects[2]
	u := newUpstream(t)
	s := start(t, u, 200_000)
	body := d.body([]string{d.user("a"), `{"type":"message","role":"nobody","content":"x"}`, trigger})
	if _, _, says := s.post(t, d.path, body); !strings.HasPrefix(says, "failed") || !bytes.Equal(u.last(t).body, body) {
		t.Errorf("%s: %s", says, u.last(t).body)
	}
}

// TestAskedAgain: the compactions that a client asks for, and those that come between, are of one session, through a
// restart too: what went is found in it, and taken back one by one. A conversation that goes on from the same item is
// another one.
func TestAskedAgain(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { askedAgain(t, memory(t)) })
	t.Run("PostgreSQL", func(t *testing.T) {
		st, err := store.Open(t.Context(), pgtest.Database(t), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		askedAgain(t, st)
	})
}

func askedAgain(t *testing.T, st *store.Store) {
	d := dialects[2]
	u := newUpstream(t)
	with := func(o *proxy.Options) { o.Store, o.Key = st, []byte("a key of the state's folder") }
	s := start(t, u, 200_000, with)
	compactions := func() (of map[string]int) {
		list, _, err := st.Sessions(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		of = make(map[string]int)
		for _, one := range list {
			of[one.Key] = one.Compactions
		}
		return of
	}
	talk := d.conversation(60)
	task := talk[1]
	for n := 1; n <= 3; n++ {
		one := s.asked(t, d, talk, "Session-Id", "s1")
		if of := compactions(); len(of) != 1 || of["s1"] != n {
			t.Fatalf("asked %d times: %v; %s", n, of, s.logs)
		}
		fresh := d.user(fmt.Sprintf("<environment_context>%d</environment_context>", n))
		talk = []string{talk[0], task, fresh, one}
		for k := range 20 {
			talk = append(talk, d.step(n*1000+k, output(n*1000+k))...)
		}
		s.post(t, d.path, d.body(talk), "Session-Id", "s1")
		if n == 2 {
			s = start(t, u, 200_000, with) // another process
		}
	}
	// One that the proxy makes by itself, as the window is small, holds in another process too.
	s = start(t, u, 8_000, with)
	_, _, says := s.post(t, d.path, d.body(talk), "Session-Id", "s1")
	if of := compactions(); !strings.HasPrefix(says, "compacted") || len(of) != 1 || of["s1"] != 4 {
		t.Fatalf("%s: %v; %s", says, of, s.logs)
	}
	compacted := u.last(t).body
	s = start(t, u, 8_000, with)
	_, _, says = s.post(t, d.path, d.body(talk), "Session-Id", "s1")
	if !strings.HasPrefix(says, "applied") || !bytes.Equal(u.last(t).body, compacted) {
		t.Errorf("%s after a restart:\n%s\nand before\n%s", says, u.last(t).body, compacted)
	}
	d.whole(t, compacted)

	history, err := session.OpenHistory(t.Context(), st, "s1", nil)
	if err != nil {
		t.Fatal(err)
	}
	all := history.All()
	for _, k := range []int{3, 1003, 2003} {
		if !slices.ContainsFunc(all, func(m session.StoredMessage) bool { return strings.Contains(m.Text(), output(k)) }) {
			t.Errorf("the output of step %d is not in the session", k)
		}
	}
	for n := 3; n >= 0; n-- {
		if _, err := history.Undo(t.Context()); err != nil || len(history.Compactions()) != n {
			t.Fatalf("undo: %v, %d compactions are left", err, len(history.Compactions()))
		}
	}
	// The same item under another name is a fork.
	s.asked(t, d, talk, "Session-Id", "s2")
	if of := compactions(); of["s2"] != 1 || of["s1"] != 0 {
		t.Errorf("%v", of)
	}
}
