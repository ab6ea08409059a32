package replay_test

import (
	"fmt"
	"reflect"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// TestNeeds: of each compaction it is told whether the next call goes on, and what it needed that was gone: the file
// that it names, or the call that it makes again. So it is of what one of the calls behind it makes again.
func TestNeeds(t *testing.T) {
	features.Proves(t, "I10")
	const path = "internal/store/lease.go"
	const readsA, readsB = `{"path":"` + path + `"}`, `{"path":"internal/store/other.go"}`
	first := did("x", readsA, "the lease of a job")
	for _, tc := range []struct {
		why    string
		calls  int
		last   []string // arguments and results
		goesOn bool
		want   []replay.Need
	}{
		{"something new", 1, []string{readsB, "the other file"}, true, nil},
		{"a file", 1, []string{readsA, "another lease"}, false, []replay.Need{{After: 1, File: path}}},
		{"a file, twice in a command", 1, []string{`{"command":"cp ` + path + ` ` + path + `"}`, ""}, false,
			[]replay.Need{{After: 1, File: path}}},
		{"the same again", 1, []string{readsA, "the lease of a job"}, false,
			[]replay.Need{{After: 1, Call: "tool " + readsA}, {After: 1, File: path}}},
		{"the same again, a call later", 2, []string{readsB, "the other file", readsA, "the lease of a job"}, true,
			[]replay.Need{{After: 2, Call: "tool " + readsA}}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			last := did("y", tc.last[0], tc.last[1])
			if tc.calls == 2 {
				last = append(last, did("z", tc.last[2], tc.last[3])...)
			}
			msgs := work(first, last)
			s := run(t, options(t, msgs, oneCompaction(msgs, tc.calls), bare))
			if len(s.Points) != 1 || s.Points[0].Continued == nil {
				t.Fatalf("%+v", s.Points)
			}
			if p := s.Points[0]; *p.Continued != tc.goesOn || !reflect.DeepEqual(p.Needed, tc.want) {
				t.Errorf("it goes on: %v, needed %+v, want %+v", *p.Continued, p.Needed, tc.want)
			}
		})
	}
}

// TestNothingFollows: where no call follows a compaction nobody knows whether the work goes on, and what of a request
// was cached.
func TestNothingFollows(t *testing.T) {
	features.Proves(t, "I10")
	msgs := work(nil, nil)
	s := run(t, options(t, msgs[:len(msgs)-2], oneCompaction(msgs, 1), bare))
	if len(s.Points) != 1 || s.Continuation.Compactions != 0 {
		t.Fatalf("%+v, %+v", s.Points, s.Continuation)
	}
	if p := s.Points[0]; p.Continued != nil || p.CachedShare != nil || p.Needed != nil {
		t.Errorf("%+v", p)
	}
}

// TestEachCompaction: each compaction has its metrics, and they add up to those of the session.
func TestEachCompaction(t *testing.T) {
	features.Proves(t, "I10")
	msgs := sessiongen.Long(120, 60)
	for i := range msgs {
		if i%14 == 5 && msgs[i].ToolCallID != "" {
			msgs[i].IsError = true
		}
	}
	s := run(t, options(t, msgs, 4_000, kagewasm.Policy{}))
	if len(s.Points) != s.Compactions || len(s.Points) < 4 {
		t.Fatalf("%d compactions, %d of them told", s.Compactions, len(s.Points))
	}
	var sum replay.Stats
	words, failures := 0.0, map[replay.Share]bool{}
	for i, p := range s.Points {
		sum.TokensBefore, sum.TokensAfter = sum.TokensBefore+p.TokensBefore, sum.TokensAfter+p.TokensAfter
		words += p.WordsKept
		failures[p.Failed] = true
		for _, add := range []struct{ to, n *replay.Share }{{&sum.Failed, &p.Failed}, {&sum.Errors, &p.Errors}} {
			add.to.Of, add.to.Whole = add.to.Of+add.n.Of, add.to.Whole+add.n.Whole
		}
		if p.Continued != nil {
			sum.Continuation.Compactions++
			if *p.Continued {
				sum.Continuation.Continued++
			}
		}
		if p.Ratio != float64(p.TokensBefore)/float64(p.TokensAfter) || p.Ratio <= 1 || p.Completeness != 1 ||
			p.CachedShare != nil && (*p.CachedShare <= 0 || *p.CachedShare >= 0.9) {
			t.Errorf("compaction %d: %+v", i, p)
		}
	}
	if sum.TokensBefore != s.TokensBefore || sum.TokensAfter != s.TokensAfter || sum.Failed != s.Failed ||
		sum.Errors != s.Errors || sum.Continuation.Compactions != s.Continuation.Compactions ||
		sum.Continuation.Continued != s.Continuation.Continued || len(failures) < 2 ||
		fmt.Sprintf("%.6f", words/float64(len(s.Points))) != fmt.Sprintf("%.6f", s.WordsKept) {
		t.Errorf("%+v\nis not %+v", sum, s.Stats)
	}
	if s.Failed.Of == 0 || s.Points[0].Strategy != "drop" {
		t.Errorf("%+v", s.Points[0])
	}
}
