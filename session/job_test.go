package session_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// TestBackground: the compaction runs while the agent goes on, and is there
// with the next call; what arrived meanwhile stays.
func TestBackground(t *testing.T) {
	features.Proves(t, "I6")
	var once sync.Once
	entered, release := make(chan struct{}), make(chan struct{})
	slow := &fakePlugin{Name: "slow", Pre: func(*abi.Input) (*abi.Output, error) {
		once.Do(func() { close(entered); <-release })
		return nil, nil
	}}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{Background: true}},
		Plugins: plugins(slow)})
	total := compact(t, newCompactor(t, kagewasm.Options{}), request(1_000_000, chat(60))).Report.TokensBefore
	s := open(t, c, total*100/78, chat(60)) // 78%: between the idle threshold and the upper one
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r != nil {
		t.Fatalf("it did not go to the background: %+v, %v", r, err)
	}
	<-entered
	if _, done, _ := s.Background().Poll(); done {
		t.Error("done before it is")
	}
	d, err := s.Dispatch(t.Context(), said("x", nil))
	if err != nil || d.Results[0].Report.Compacted {
		t.Fatalf("the agent waited for it: %+v, %v", d, err)
	}
	close(release)
	<-s.Background().Done()
	r, done, err := s.Background().Poll()
	if !done || err != nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerIdle {
		t.Fatalf("%+v, %v, %v", r, done, err)
	}
	var given [][]abi.Message
	if _, err := s.Dispatch(t.Context(), said("y", &given)); err != nil {
		t.Fatal(err)
	}
	if !has(given[0], r.Report.Inserted[0]) || !has(given[0], "x") || has(given[0], r.Report.Superseded[0]) {
		t.Errorf("the next call was given %s", ids(given[0]))
	}
}

// TestRequestedInTheBackground: where the compaction that somebody asked for runs in the background, the next call of
// the model does not wait for it, nor make it once more.
func TestRequestedInTheBackground(t *testing.T) {
	features.Proves(t, "I6", "I5")
	var once sync.Once
	entered, release := make(chan struct{}), make(chan struct{})
	slow := &fakePlugin{Name: "slow", Pre: func(*abi.Input) (*abi.Output, error) {
		once.Do(func() { close(entered); <-release })
		return nil, nil
	}}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{Background: true}},
		Plugins: plugins(slow)})
	s := open(t, c, 100_000, chat(60))
	s.Request(hooks.Wish{Instructions: "the leases"})
	if _, r, err := s.EndOfTurn(t.Context()); err != nil || r != nil {
		t.Fatalf("it did not go to the background: %+v, %v", r, err)
	}
	<-entered
	d, err := s.Dispatch(t.Context(), said("x", nil))
	if err != nil || d.Results[0].Report.Compacted {
		t.Fatalf("the agent waited for it: %+v, %v", d, err)
	}
	close(release)
	<-s.Background().Done()
	r, _, err := s.Background().Poll()
	if err != nil || !r.Report.Compacted || r.Record.Trigger != abi.TriggerAgent {
		t.Fatalf("%+v, %v", r, err)
	}
	var given [][]abi.Message
	d, err = s.Dispatch(t.Context(), said("y", &given))
	if err != nil || d.Results[0].Report.Compacted || !has(given[0], r.Report.Inserted[0]) || !has(given[0], "x") {
		t.Errorf("the next call was given %s: %+v, %v", ids(given[0]), d, err)
	}
	if n := len(s.Compactions()); n != 1 || len(s.Requested()) != 0 {
		t.Errorf("%d compactions, still asked for: %v", n, s.Requested())
	}
}

// TestSwapIsACompareAndSwap.
func TestSwapIsACompareAndSwap(t *testing.T) {
	features.Proves(t, "I6", "complaint 17")
	c := newCompactor(t, kagewasm.Options{})
	base := chat(60)
	r, err := c.Compact(t.Context(), request(400, base))
	if err != nil || !r.Report.Compacted {
		t.Fatal(err)
	}
	more := abi.Message{ID: "more", Role: abi.RoleUser, Content: abi.Text("One more thing.")}
	now := append(chat(60), more)
	got, err := session.Swap(r, base, now)
	if err != nil || !reflect.DeepEqual(got, append(r.Messages[:len(r.Messages):len(r.Messages)], more)) {
		t.Errorf("what arrived is not behind it: %v", err)
	}
	edited := chat(60)
	edited[5].Content = abi.Text("something else")
	taken := append(chat(60), abi.Message{ID: r.Report.Inserted[0], Role: abi.RoleUser})
	for why, now := range map[string][]abi.Message{"shorter": base[:50], "edited": edited, "an id that is taken": taken} {
		t.Run(why, func(t *testing.T) {
			if _, err := session.Swap(r, base, now); abi.CodeOf(err) != abi.CodeConflict {
				t.Error(err)
			}
		})
	}
}

// TestSessionsUnderLoad: appends, calls, compactions in the background and by
// hand at once lose nothing.
func TestSessionsUnderLoad(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{Background: true}}})
	s := open(t, c, 700, chat(5))
	var wg sync.WaitGroup
	const writers, each = 4, 40
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("w%d-%d", w, i)
				var err error
				if w%2 == 0 {
					err = s.Append(t.Context(), abi.Message{ID: id, Role: abi.RoleUser, Content: abi.Text("a word of " + id +
						" and twenty more words so that it adds up to something that has to be compacted some day")})
				} else {
					_, err = s.Dispatch(t.Context(), said(id, nil))
				}
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
				if i%5 == 0 {
					_, _, err = s.EndOfTurn(t.Context())
				}
				if err != nil {
					t.Errorf("%s: end of turn: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	next := make([]int, writers)
	for _, m := range s.All() {
		var w, i int
		if n, _ := fmt.Sscanf(m.ID, "w%d-%d", &w, &i); n == 2 {
			if i != next[w] {
				t.Fatalf("%s where %d was due: a message is lost, or out of order", m.ID, next[w])
			}
			next[w]++
		}
	}
	for w, n := range next {
		if n != each {
			t.Errorf("writer %d: %d of %d messages", w, n, each)
		}
	}
	// Where every compaction so far was outrun by a writer, the next one is not.
	for i := 0; i < 2 && len(s.Compactions()) == 0; i++ {
		if _, err := s.Dispatch(t.Context(), said(fmt.Sprintf("end-%d", i), nil)); err != nil {
			t.Error(err)
		}
		if job := s.Background(); job != nil {
			<-job.Done()
		}
	}
	if len(s.Compactions()) == 0 {
		t.Error("nothing was ever compacted: nothing was shown")
	}
}

// TestNoJob: a host that polls before there was a compaction in the background learns that none runs.
func TestNoJob(t *testing.T) {
	features.Proves(t, "I6")
	j := open(t, newCompactor(t, kagewasm.Options{}), 10_000, chat(3)).Background()
	if r, done, err := j.Poll(); r != nil || !done || err != nil {
		t.Errorf("%v, %v, %v", r, done, err)
	}
	j.Cancel()
	<-j.Done()
}
