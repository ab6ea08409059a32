package proxy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/session"
)

// TestEditedBehindCompaction: the request that was compacted, sent again with another end, is compacted in the same
// way: its beginning is sent with the same bytes. What goes on from there is a conversation of its own.
func TestEditedBehindCompaction(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u, st := newUpstream(t), memory(t)
			s := start(t, u, window, func(o *proxy.Options) { o.Store = st })
			var trunk, sent []string
			says := ""
			for steps := 60; !strings.HasPrefix(says, "compacted"); steps += 4 {
				if steps > 200 {
					t.Fatal("never compacted")
				}
				trunk = append(d.conversation(steps), d.user("And now?"))
				_, _, says = s.post(t, d.path, d.body(trunk))
			}
			sent, _ = d.elements(t, u.last(t).body)
			ends := func(why string, list []string, gone int) {
				t.Helper()
				_, _, says := s.post(t, d.path, d.body(list))
				got, _ := d.elements(t, u.last(t).body)
				n := len(sent) - gone
				if !strings.HasPrefix(says, "applied") || len(got) < n || !slices.Equal(got[:n], sent[:n]) ||
					!slices.Equal(got[n:], list[len(trunk)-gone:]) {
					t.Errorf("%s: %s, %d elements", why, says, len(got))
				}
				d.whole(t, u.last(t).body)
			}
			edited := append(slices.Clone(trunk[:len(trunk)-1]), d.user("No: do it otherwise."))
			ends("another last message", edited, 1)
			ends("the last one left out", trunk[:len(trunk)-1], 1)
			ends("as it was", append(slices.Clone(trunk), d.user("Later.")), 0)
			step := len(d.step(1, output(1)))
			forked := append(slices.Clone(trunk[:len(trunk)-1-2*step]), d.user("Try it so."))
			ends("a fork shortly before", forked, 1+2*step)
			// Both go on, and are compacted apart.
			for k := range 150 {
				edited = append(edited, d.step(k+2000, output(k))...)
				trunk = append(trunk, d.step(k+3000, output(k))...)
				if k%6 == 0 {
					s.post(t, d.path, d.body(edited))
					d.whole(t, u.last(t).body)
					s.post(t, d.path, d.body(trunk))
					d.whole(t, u.last(t).body)
				}
			}
			list, _, err := st.Sessions(t.Context(), "", 10)
			if err != nil || len(list) != 2 {
				t.Errorf("%d sessions are stored, %v", len(list), err)
			}
			for _, one := range list {
				h, err := session.OpenHistory(t.Context(), st, one.Key, nil)
				if err != nil || one.Compactions < 2 {
					t.Fatalf("%+v, %v", one, err)
				}
				end := "And now?"
				if strings.Contains(one.Key, "~") {
					end = "No: do it otherwise."
				}
				if !slices.ContainsFunc(h.All(), func(m session.StoredMessage) bool { return m.Text() == end }) {
					t.Errorf("%s does not have %q", one.Key, end)
				}
			}
			if strings.Contains(s.logs.String(), "without a compaction") {
				t.Error(s.logs)
			}
		})
	}
}
