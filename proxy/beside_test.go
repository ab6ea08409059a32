package proxy_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
)

// held is an upstream that begins to stream what is asked with the header X-Holds, and goes on when it is let go. Where
// the header says whole it answers nothing before.
type held struct {
	*upstream
	running chan struct{} // has one for each request that it holds
	over    chan struct{} // closed when they are let go
	letGo   func()
}

func newHeld(t *testing.T, d *dialect) *held {
	h := &held{upstream: newUpstream(t), running: make(chan struct{}, 10), over: make(chan struct{})}
	h.letGo = sync.OnceFunc(func() { close(h.over) })
	t.Cleanup(h.letGo)
	h.answer = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Header.Get("X-Holds") == "" {
			return false
		}
		parts := saying[d.name]
		if r.Header.Get("X-Holds") != "whole" {
			d.stream(w, parts[0])
			w.(http.Flusher).Flush()
			parts = parts[1:]
		}
		h.running <- struct{}{}
		select {
		case <-h.over:
		case <-r.Context().Done():
			return true
		}
		if r.Header.Get("X-Holds") == "whole" {
			return false
		}
		d.stream(w, parts...)
		return true
	}
	return h
}

// holds sends a request that is answered until the upstream is let go, or the client leaves.
func (h *held) holds(t *testing.T, s *setup, path string, body []byte, headers ...string) (answer <-chan []byte,
	leave func()) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.http.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got := make(chan []byte, 1)
	go func() {
		defer close(got)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		all, _ := io.ReadAll(resp.Body)
		got <- all
	}()
	<-h.running
	return got, leave
}

// waits returns when a request of the session waits for another one; it fails where the answer is there before.
func (s *setup) waits(t *testing.T, answered <-chan string) {
	t.Helper()
	for s.proxy.Waiting("s1", "") == 0 {
		select {
		case says := <-answered:
			t.Fatalf("it did not wait: %s; %s", says, s.logs)
		case <-time.After(time.Millisecond):
		}
	}
}

// behind sends a request, and returns what the header says once it is answered.
func (s *setup) behind(t *testing.T, path string, body []byte, headers ...string) <-chan string {
	answered := make(chan string, 1)
	go func() {
		_, _, says := s.post(t, path, body, headers...)
		answered <- says
	}()
	return answered
}

// TestACompactionBesideAStream: if a stream is in flight and a compaction is needed, the next call is delayed until the
// stream completes. Then it is compacted, and the request after it begins as the compacted one. What needs no
// compaction is not delayed.
func TestACompactionBesideAStream(t *testing.T) {
	features.Proves(t, "K8")
	for _, d := range dialects {
		for _, how := range []string{"streamed", "whole"} {
			t.Run(d.name+"/"+how, func(t *testing.T) {
				u := newHeld(t, &d)
				s := start(t, u.upstream, window)
				s.proxy.SetPatience(time.Hour)
				first := d.body(d.conversation(20))
				streamed, _ := u.holds(t, s, d.path, first, "Session-Id", "s1", "X-Holds", how)
				if _, _, says := s.post(t, d.path, d.body(d.conversation(22)), "Session-Id", "s1"); !strings.HasPrefix(says,
					"none; ") {
					t.Fatalf("one that is short: %s", says)
				}
				long := d.conversation(110)
				second := s.behind(t, d.path, d.body(long), "Session-Id", "s1")
				s.waits(t, second)
				if n := len(u.requests()); n != 2 {
					t.Fatalf("%d requests were sent while the first one is answered", n)
				}
				u.letGo()
				if says := <-second; !strings.HasPrefix(says, "compacted; ") {
					t.Fatalf("%s; %s", says, s.logs)
				}
				answer := string(<-streamed)
				for _, part := range saying[d.name] {
					if how == "streamed" && !strings.Contains(answer, part) {
						t.Errorf("the stream lacks %s", part)
					}
				}
				if !bytes.Equal(u.requests()[0].body, first) {
					t.Error("what was sent before is another one")
				}
				before, _ := d.elements(t, u.last(t).body)
				s.post(t, d.path, d.body(append(long, d.step(110, output(110))...)), "Session-Id", "s1")
				after, _ := d.elements(t, u.last(t).body)
				prefixed(t, before, after)
			})
		}
	}
}

// TestNothingElseWaits: parallel tries of a conversation that was compacted, subagents, titles and other conversations
// of the session are not delayed by a stream of it.
func TestNothingElseWaits(t *testing.T) {
	features.Proves(t, "K8")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newHeld(t, &d)
			s := start(t, u.upstream, window)
			s.proxy.SetPatience(time.Hour)
			long := d.conversation(110)
			u.holds(t, s, d.path, d.body(long), "Session-Id", "s1", "X-Holds", "streamed")
			other := slices.Concat(d.conversation(0)[:max(0, len(d.conversation(0))-1)], []string{d.user("Look for leaks.")},
				long[len(d.conversation(0)):])
			for name, tc := range map[string]struct {
				els   []string
				agent string
				says  string
			}{
				"a try of the same":       {long, "", "applied"},
				"a subagent":              {long, "sub", "compacted; "},
				"a title":                 {[]string{d.user("Give this conversation a title.")}, "", "none; "},
				"another conversation":    {other, "", "compacted; "},
				"a try with another task": {append(slices.Clone(long), d.user("Another way.")), "", "applied"},
			} {
				_, _, says := s.post(t, d.path, d.body(tc.els), "Session-Id", "s1", "Kagewasm-Agent", tc.agent)
				if !strings.HasPrefix(says, tc.says) {
					t.Errorf("%s: %s", name, says)
				}
			}
		})
	}
}

// TestNobodyWaitsForever: a stream whose client has left is over, a client that leaves while its request waits ends the
// waiting, and so does the bound.
func TestNobodyWaitsForever(t *testing.T) {
	features.Proves(t, "K8")
	d := dialects[1]
	begun := func(t *testing.T) (u *held, s *setup, leave func(), long []byte) {
		u = newHeld(t, &d)
		s = start(t, u.upstream, window)
		s.proxy.SetPatience(time.Hour)
		_, leave = u.holds(t, s, d.path, d.body(d.conversation(20)), "Session-Id", "s1", "X-Holds", "streamed")
		return u, s, leave, d.body(d.conversation(110))
	}
	t.Run("the client of the stream leaves", func(t *testing.T) {
		_, s, leave, long := begun(t)
		second := s.behind(t, d.path, long, "Session-Id", "s1")
		s.waits(t, second)
		leave()
		if says := <-second; !strings.HasPrefix(says, "compacted; ") {
			t.Error(says)
		}
	})
	t.Run("the one that waits leaves", func(t *testing.T) {
		u, s, _, long := begun(t)
		ctx, leave := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.http.URL+d.path, bytes.NewReader(long))
		r.Header.Set("Session-Id", "s1")
		left := make(chan string)
		go func() {
			_, err := http.DefaultClient.Do(r)
			left <- err.Error()
		}()
		s.waits(t, left)
		leave()
		<-left
		for !strings.Contains(s.logs.String(), "the client left while its request waited") {
			time.Sleep(time.Millisecond)
		}
		if n := len(u.requests()); n != 1 {
			t.Errorf("%d requests were sent", n)
		}
	})
	t.Run("the bound", func(t *testing.T) {
		_, s, _, long := begun(t)
		s.proxy.SetPatience(time.Millisecond)
		if _, _, says := s.post(t, d.path, long, "Session-Id", "s1"); !strings.HasPrefix(says, "compacted; ") {
			t.Error(says)
		}
		if !strings.Contains(s.logs.String(), "is compacted beside it") {
			t.Errorf("nothing is told: %s", s.logs)
		}
	})
}

// TestARefusedRequestWaits: so does a compaction for a request that the provider refused. Two that were refused do not
// wait for each other.
func TestARefusedRequestWaits(t *testing.T) {
	features.Proves(t, "K3", "K8")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newHeld(t, &d)
			s := start(t, u.upstream, 200_000)
			s.proxy.SetPatience(time.Hour)
			u.holds(t, s, d.path, d.body(d.conversation(20)), "Session-Id", "s1", "X-Holds", "streamed")
			els := d.conversation(60)
			long := d.body(els)
			u.mu.Lock()
			u.answer = func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
				if len(body) < len(long) {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, refusals[d.name])
				return true
			}
			u.mu.Unlock()
			one := s.behind(t, d.path, long, "Session-Id", "s1")
			two := s.behind(t, d.path, d.body(append(els, d.step(60, output(60))...)), "Session-Id", "s1")
			s.waits(t, one)
			u.letGo()
			for _, says := range []string{<-one, <-two} {
				if !strings.HasPrefix(says, "retried; ") && !strings.HasPrefix(says, "applied; ") {
					t.Errorf("%s; %s", says, s.logs)
				}
			}
		})
	}
}

// TestWhatIsAskedForWaits: a compaction that a client asks for waits too, and is made when the stream is over.
func TestWhatIsAskedForWaits(t *testing.T) {
	features.Proves(t, "K8")
	d := dialects[2]
	u := newHeld(t, &d)
	s := start(t, u.upstream, 200_000)
	s.proxy.SetPatience(time.Hour)
	els := d.conversation(40)
	u.holds(t, s, d.path, d.body(els), "Session-Id", "s1", "X-Holds", "streamed")
	answered := s.behind(t, d.path, d.body(append(slices.Clone(els), trigger)), "Session-Id", "s1")
	s.waits(t, answered)
	u.letGo()
	if says := <-answered; !strings.HasPrefix(says, "compacted; ") {
		t.Errorf("%s; %s", says, s.logs)
	}
}

// TestAWishWaits: so does what a plugin asks for, which is not forgotten meanwhile.
func TestAWishWaits(t *testing.T) {
	features.Proves(t, "K8")
	d := dialects[1]
	p := &hosttest.Plugin{Name: "asks", Grants: []abi.Capability{abi.CapCompactionRequest},
		Turn: hosttest.Answers(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: "the ports"}})}
	u := newHeld(t, &d)
	var made []string
	s := start(t, u.upstream, window, listened(t, p, window, func(e kagewasm.Event) {
		made = append(made, string(e.Trigger)+" "+e.Given.Instructions)
	}))
	s.proxy.SetPatience(time.Hour)
	u.holds(t, s, d.path, d.body(d.conversation(10)), "Session-Id", "s1", "X-Holds", "streamed")
	s.post(t, d.path, d.body(d.conversation(10)), "Session-Id", "s1") // ends a turn
	var answered <-chan string
	for s.proxy.Waiting("s1", "") == 0 { // plugins are told by and by
		answered = s.behind(t, d.path, d.body(d.conversation(11)), "Session-Id", "s1")
		for s.proxy.Waiting("s1", "") == 0 && len(answered) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	if len(made) > 0 {
		t.Errorf("beside the stream: %q", made)
	}
	u.letGo()
	says := <-answered
	if !strings.HasPrefix(says, "compacted; ") || len(made) == 0 || made[0] != "plugin asks: the ports" {
		t.Errorf("%s; %q; %s", says, made, s.logs)
	}
}
