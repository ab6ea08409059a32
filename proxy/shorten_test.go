package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
)

// lines is a text of about so many tokens, no two lines alike.
func lines(tokens int) string {
	var b strings.Builder
	for i := 0; b.Len() < tokens*4; i++ {
		fmt.Fprintf(&b, "depot %d reports %d pallets, %d of them late\n", i, i*i%977, i*7%31)
	}
	return b.String()
}

// prefixed fails where a list does not begin with another one.
func prefixed(t *testing.T, before, after []string) {
	t.Helper()
	for i := range before {
		if i >= len(after) || before[i] != after[i] {
			t.Fatalf("element %d of %d is another one than before", i, len(before))
		}
	}
}

// TestShortenedAlone: where one giant result makes a request too long it is sent shortened, though nothing has to go;
// later requests begin with the same bytes, also of a proxy that starts anew, and what is compacted then is stored in
// the session.
func TestShortenedAlone(t *testing.T) {
	features.Proves(t, "N4")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u, st := newUpstream(t), memory(t)
			with := func(o *proxy.Options) { o.Store = st }
			s := start(t, u, 30_000, with)
			els := append(d.conversation(2), d.step(2, lines(60_000))...)
			body := d.body(append(els, d.user("What does it say?")))
			_, status, says := s.post(t, d.path, body, "Session-Id", "s1")
			sent := u.last(t).body
			if status != http.StatusOK || !strings.HasPrefix(says, "compacted; reason=shortened; before=") ||
				counts().Text(string(sent)) > 30_000*85/100 {
				t.Fatalf("status %d, %s; %d bytes of %d were sent; %s", status, says, len(sent), len(body), s.logs)
			}
			d.whole(t, sent)
			before, _ := d.elements(t, sent)
			for name, s := range map[string]*setup{"the same proxy": s, "one that starts anew": start(t, u, 30_000, with)} {
				more := append(append([]string{}, els...), d.user("What does it say?"))
				_, _, says = s.post(t, d.path, d.body(append(more, d.step(3, output(3))...)), "Session-Id", "s1")
				if !strings.HasPrefix(says, "applied") {
					t.Fatalf("%s: %s; %s", name, says, s.logs)
				}
				after, _ := d.elements(t, u.last(t).body)
				prefixed(t, before, after)
			}
			grown := append(append([]string{}, els...), d.user("What does it say?"))
			for k := range 90 {
				grown = append(grown, d.step(3+k, output(k))...)
			}
			if _, _, says = s.post(t, d.path, d.body(grown), "Session-Id", "s1"); !strings.HasPrefix(says, "compacted") ||
				!strings.Contains(says, "id=") {
				t.Fatalf("%s; %s", says, s.logs)
			}
			d.whole(t, u.last(t).body)
			if all, _, err := st.Sessions(t.Context(), "", 9); err != nil || len(all) != 1 || all[0].Compactions != 1 {
				t.Errorf("%+v, %v", all, err)
			}
		})
	}
}

// TestGiantTask: a task that no window holds is sent with its beginning and its end, and so it is where the provider
// refuses the request: the agent is never stuck.
func TestGiantTask(t *testing.T) {
	features.Proves(t, "K10", "A11", "N4")
	for _, d := range dialects {
		for _, tc := range []struct {
			why     string
			window  int
			refuses bool
			want    string
		}{{"known too long", 30_000, false, "compacted; reason=shortened"}, {"refused", 200_000, true, "retried; reason="}} {
			t.Run(d.name+"/"+tc.why, func(t *testing.T) {
				u := newUpstream(t)
				s := start(t, u, tc.window)
				var els []string
				if d.system != "" {
					els = append(els, d.system)
				}
				els = append(els, d.user("Mend the depot's count. Here is its log:\n"+lines(60_000)+"Never touch the archive."))
				if tc.refuses {
					u.refuse(1, refusals[d.name])
				}
				_, status, says := s.post(t, d.path, d.body(els), "Session-Id", "s1")
				sent := string(u.last(t).body)
				if status != http.StatusOK || !strings.HasPrefix(says, tc.want) || counts().Text(sent) > 45_000 {
					t.Fatalf("status %d, %s; %d tokens sent; %s", status, says, counts().Text(sent), s.logs)
				}
				for _, kept := range []string{"Mend the depot's count.", "Never touch the archive."} {
					if !strings.Contains(sent, kept) {
						t.Errorf("%q went", kept)
					}
				}
			})
		}
	}
}

// TestShortOnesStay: a request under the threshold is not touched, whatever in it could be shortened.
func TestShortOnesStay(t *testing.T) {
	features.Proves(t, "N4")
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			u := newUpstream(t)
			s := start(t, u, 100_000)
			body := d.body(append(append(d.conversation(2), d.step(2, lines(60_000))...), d.user("What does it say?")))
			if _, _, says := s.post(t, d.path, body, "Session-Id", "s1"); says != "none; reason=below_threshold" ||
				string(u.last(t).body) != string(body) {
				t.Errorf("%s", says)
			}
		})
	}
}
