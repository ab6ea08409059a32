package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

const window = 40_000

// grown sends a conversation step by step, and returns what was sent last.
func (s *setup) grown(t testing.TB, u *upstream, d dialect, from, to int, headers ...string) (els []string,
	says string) {
	t.Helper()
	for steps := from; ; steps = min(steps+6, to) {
		_, _, says = s.post(t, d.path, d.body(d.conversation(steps)), headers...)
		if steps >= to {
			break
		}
	}
	els, _ = d.elements(t, u.last(t).body)
	return els, says
}

// TestBranches: what else the agent asks under the name of the session, what it edited and
// what it forked leave the conversation as it is. A branch behind a compaction begins with
// its bytes.
func TestBranches(t *testing.T) {
	for i, d := range dialects {
		for _, header := range [][]string{{"X-Claude-Code-Session-Id", ""}, {""}, {"Session-Id"}, {""}, {""}}[i] {
			t.Run(d.name+" "+header, func(t *testing.T) {
				u, st := newUpstream(t), memory(t)
				s := start(t, u, window, func(o *proxy.Options) { o.Store = st })
				named := []string{header, "s1"}
				if header == "" {
					named = nil
				}
				trunk, _ := s.grown(t, u, d, 2, 100, named...)
				if len(trunk) > 170 {
					t.Fatalf("not compacted: %d elements", len(trunk))
				}
				title := d.body([]string{d.user("Give this conversation a title.")})
				if _, _, says := s.post(t, d.path, title, named...); says != "none; reason=below_threshold" ||
					string(u.last(t).body) != string(title) {
					t.Errorf("a question beside it: %s", says)
				}
				fork := append(d.conversation(100), d.user("Try it another way."))
				_, _, says := s.post(t, d.path, d.body(fork), named...)
				if got, _ := d.elements(t, u.last(t).body); !slices.Equal(got[:len(trunk)], trunk) {
					t.Errorf("a fork does not begin with the trunk: %s", says)
				}
				edited := d.conversation(98)
				edited = append(edited, d.user("Stop: do it so."))
				_, _, says = s.post(t, d.path, d.body(edited), named...)
				if got, _ := d.elements(t, u.last(t).body); !slices.Equal(got[:len(trunk)-4], trunk[:len(trunk)-4]) {
					t.Errorf("an edit at the end does not begin with the trunk: %s", says)
				}
				early := append(d.conversation(1), d.user("Begin again."))
				_, _, says = s.post(t, d.path, d.body(early), named...)
				if got, _ := d.elements(t, u.last(t).body); !slices.Equal(got, early) {
					t.Errorf("an edit at the beginning: %s", says)
				}
				after, _ := s.grown(t, u, d, 102, 102, named...)
				if !slices.Equal(after[:len(trunk)], trunk) {
					t.Error("the trunk does not go on as it was")
				}
				// Both go on, and are compacted apart.
				s.grown(t, u, d, 104, 210, named...)
				other := slices.Clone(fork)
				for k := 100; k < 210; k++ {
					other = append(other, d.step(k+1000, output(k))...)
					if k%6 == 0 {
						s.post(t, d.path, d.body(other), named...)
					}
				}
				d.whole(t, u.last(t).body)
				list, _, err := st.Sessions(t.Context(), "", 10)
				if err != nil || len(list) != 2 {
					t.Errorf("%d sessions are stored, %v", len(list), err)
				}
				for _, one := range list {
					if _, err := session.OpenHistory(t.Context(), st, one.Key, nil); err != nil || one.Compactions < 2 {
						t.Errorf("%+v, %v", one, err)
					}
				}
				if strings.Contains(s.logs.String(), "without a compaction") {
					t.Error(s.logs)
				}
			})
		}
	}
}

// TestRestart: another process applies what this one has made, the same bytes.
func TestRestart(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u, st := newUpstream(t), memory(t)
			with := func(o *proxy.Options) { o.Store = st }
			before, _ := start(t, u, window, with).grown(t, u, d, 2, 200, "Session-Id", "s1")
			s := start(t, u, window, with)
			after, says := s.grown(t, u, d, 202, 202, "Session-Id", "s1")
			if !strings.HasPrefix(says, "applied") || len(after) < len(before) || !slices.Equal(after[:len(before)], before) {
				t.Fatalf("%s; %s", says, s.logs)
			}
			s.grown(t, u, d, 204, 300, "Session-Id", "s1")
			one, err := st.Session(t.Context(), "s1")
			if err != nil || one.Compactions < 3 {
				t.Errorf("%+v, %v", one, err)
			}
		})
	}
}

// TestUndone: a compaction that a person undid is not applied any more.
func TestUndone(t *testing.T) {
	d := dialects[0]
	u, st := newUpstream(t), memory(t)
	s := start(t, u, window, func(o *proxy.Options) { o.Store = st })
	_, says := s.grown(t, u, d, 2, 96, "Session-Id", "s1")
	if !strings.HasPrefix(says, "applied") {
		t.Fatal(says)
	}
	err := st.Update(t.Context(), func(tx *store.Tx) error {
		h, err := session.OpenHistory(t.Context(), tx, "s1", nil)
		if err == nil {
			_, err = h.Undo(t.Context())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	body := d.body(d.conversation(40))
	if _, _, says := s.post(t, d.path, body, "Session-Id", "s1"); says != "none; reason=below_threshold" ||
		string(u.last(t).body) != string(body) {
		t.Errorf("%s", says)
	}
}

// TestCold: an idle conversation is compacted at less, and only when the provider's cache has
// nothing of it any more.
func TestCold(t *testing.T) {
	d := dialects[0]
	u := newUpstream(t)
	var now atomic.Int64
	s := start(t, u, window, func(o *proxy.Options) {
		o.Now = func() time.Time { return time.Unix(1_700_000_000+now.Load(), 0) }
	})
	const steps = 78 // some 0.8 of the window
	if _, says := s.grown(t, u, d, 2, steps, "Session-Id", "s1"); !strings.HasPrefix(says, "none") {
		t.Fatal(says)
	}
	now.Add(299)
	if _, says := s.grown(t, u, d, steps, steps, "Session-Id", "s1"); !strings.HasPrefix(says, "none") {
		t.Errorf("the cache is warm: %s", says)
	}
	now.Add(301)
	if _, says := s.grown(t, u, d, steps, steps, "Session-Id", "s1"); !strings.HasPrefix(says, "compacted") {
		t.Errorf("the cache is cold: %s", says)
	}
	hour := d
	hour.head = strings.Replace(d.head, `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`, 1)
	s.grown(t, u, hour, 2, steps, "Session-Id", "s2")
	now.Add(301)
	if _, says := s.grown(t, u, hour, steps, steps, "Session-Id", "s2"); !strings.HasPrefix(says, "none") {
		t.Errorf("the cache holds for an hour: %s", says)
	}
}

// TestMarks: marks of what is to be cached move from message to message with each request,
// and make a list of a text; the conversation stays known, and no request has more marks
// than the client set.
func TestMarks(t *testing.T) {
	d := dialects[0]
	u := newUpstream(t)
	s := start(t, u, window)
	marked := func(steps int) []string {
		els := d.conversation(steps)
		last := len(els) - 1
		els[last] = strings.Replace(els[last], `{"type":"tool_result",`,
			`{"type":"tool_result","cache_control":{"type":"ephemeral"},`, 1)
		els = append(els, `{"role":"assistant","content":"ok"}`,
			`{"role":"user","content":[{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}`)
		return els
	}
	plain := func(steps int) []string {
		return append(d.conversation(steps), `{"role":"assistant","content":"ok"}`, `{"role":"user","content":"Go on."}`)
	}
	compacted := false
	for steps := 1; steps <= 200; steps += 3 {
		els := marked(steps)
		if steps > 1 { // the conversation holds the question before as a text
			head := plain(1)
			els = append(slices.Clone(head), marked(steps)[len(d.conversation(1)):]...)
		}
		_, _, says := s.post(t, d.path, d.body(els), "Session-Id", "s1")
		if strings.HasPrefix(says, "failed") {
			t.Fatal(says, s.logs)
		}
		compacted = compacted || strings.HasPrefix(says, "compacted")
		if compacted && strings.HasPrefix(says, "none") {
			t.Fatalf("step %d: the conversation is not known any more", steps)
		}
		body := string(u.last(t).body)
		if n := strings.Count(body, `"cache_control"`); n > 3 {
			t.Fatalf("step %d: %d marks, and the client set 3", steps, n)
		}
		d.whole(t, []byte(body))
	}
	if !compacted {
		t.Error("not compacted")
	}
}

// TestBounded: a client that says something else each time costs no memory for ever.
func TestBounded(t *testing.T) {
	d := dialects[1]
	u := newUpstream(t)
	s := start(t, u, window)
	for i := range 200 {
		s.post(t, d.path, d.body([]string{d.user(fmt.Sprint("question ", i))}), "Session-Id", "s1")
	}
	if _, says := s.grown(t, u, d, 2, 100, "Session-Id", "s1"); !strings.HasPrefix(says, "applied") {
		t.Error(says)
	}
}
