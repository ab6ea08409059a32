package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
)

// TestACompactionBesideAStream: a request that is compacted while another one of its session is streamed changes
// nothing of that, and does not wait for it: the next request then begins as the compacted one.
func TestACompactionBesideAStream(t *testing.T) {
	features.Proves(t, "K8")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			running, release := make(chan struct{}), make(chan struct{})
			letGo := sync.OnceFunc(func() { close(release) })
			defer letGo()
			u.answer = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				if r.Header.Get("X-Holds") == "" {
					return false
				}
				close(running)
				<-release
				d.stream(w, saying[d.name]...)
				return true
			}
			s := start(t, u, window)
			short := d.body(d.conversation(20))
			var streamed []byte
			var done sync.WaitGroup
			done.Go(func() { streamed, _, _ = s.post(t, d.path, short, "Session-Id", "s1", "X-Holds", "yes") })
			<-running
			long := d.conversation(110)
			_, _, says := s.post(t, d.path, d.body(long), "Session-Id", "s1")
			if !strings.HasPrefix(says, "compacted; ") {
				t.Fatalf("%s; %s", says, s.logs)
			}
			before, _ := d.elements(t, u.last(t).body)
			letGo()
			done.Wait()
			for _, part := range saying[d.name] {
				if !strings.Contains(string(streamed), part) {
					t.Errorf("the stream lacks %s", part)
				}
			}
			if first := u.requests()[0]; string(first.body) != string(short) {
				t.Error("what was sent before is another one")
			}
			s.post(t, d.path, d.body(append(long, d.step(110, output(110))...)), "Session-Id", "s1")
			after, _ := d.elements(t, u.last(t).body)
			prefixed(t, before, after)
		})
	}
}
