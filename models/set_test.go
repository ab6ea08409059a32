package models_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

func TestSet(t *testing.T) {
	set, err := models.NewSet("small", map[string]abi.Model{
		"small": modeltest.Script(modeltest.Answer{Text: "from small"}),
		"large": modeltest.Script(modeltest.Answer{Text: "from large"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for alias, want := range map[string]string{"": "from small", "small": "from small", "large": "from large"} {
		t.Run("alias "+alias, func(t *testing.T) {
			got, err := set.Complete(t.Context(), abi.ModelRequest{Model: alias, Prompt: "x"})
			if err != nil || got.Text != want {
				t.Errorf("%q, %v; want %q", got.Text, err, want)
			}
		})
	}
	_, err = set.Complete(t.Context(), abi.ModelRequest{Model: "huge", Prompt: "x"})
	if e := abi.AsError(err); e == nil || e.Code != abi.CodeUsage || !strings.Contains(e.Hint, "large, small") {
		t.Errorf("an alias that is not there: %#v", e)
	}
}

func TestSetsThatAreNone(t *testing.T) {
	m := modeltest.Script()
	for why, tc := range map[string]struct {
		fallback string
		models   map[string]abi.Model
		ok       bool
	}{
		"the only one is the default":       {"", map[string]abi.Model{"a": m}, true},
		"several, and none is the default":  {"", map[string]abi.Model{"a": m, "b": m}, true},
		"a default that is not there":       {"c", map[string]abi.Model{"a": m}, false},
		"no models":                         {"", nil, false},
		"an alias without a model":          {"a", map[string]abi.Model{"a": m, "b": nil}, false},
		"the empty alias names the default": {"a", map[string]abi.Model{"a": m, "": m}, false},
	} {
		t.Run(why, func(t *testing.T) {
			_, err := models.NewSet(tc.fallback, tc.models)
			if (err == nil) != tc.ok || err != nil && abi.CodeOf(err) != abi.CodeUsage {
				t.Error(err)
			}
		})
	}
}

// Of several models none is taken for a request that names none.
func TestSetWithoutDefault(t *testing.T) {
	a, b := modeltest.Script(), modeltest.Script(modeltest.Answer{Text: "from b"})
	set, err := models.NewSet("", map[string]abi.Model{"a": a, "b": b})
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Complete(t.Context(), abi.ModelRequest{Prompt: "x"})
	e := abi.AsError(err)
	if e == nil || e.Code != abi.CodeUsage || !strings.Contains(e.Hint, "a, b; name one with model:") {
		t.Errorf("a request that names none: %#v", e)
	}
	got, err := set.Complete(t.Context(), abi.ModelRequest{Model: "b", Prompt: "x"})
	if err != nil || got.Text != "from b" {
		t.Errorf("one that names b: %q, %v", got.Text, err)
	}
}

// where the provider allows one request at a time, two summaries
// that were asked for together run one after the other.
func TestOneRequestAtATime(t *testing.T) {
	features.Proves(t, "T5")
	for _, tc := range []struct{ limit, peak int }{{1, 1}, {2, 2}} {
		t.Run(fmt.Sprintf("limit %d", tc.limit), func(t *testing.T) {
			s := modeltest.New(t, modeltest.Answer{Delay: 5 * time.Millisecond})
			c := config(s, modeltest.OpenAI)
			c.Concurrency = tc.limit
			m := newModel(t, c)
			var wg sync.WaitGroup
			for range 6 {
				wg.Go(func() {
					if _, err := m.Complete(t.Context(), abi.ModelRequest{Prompt: "x"}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if s.Peak() > tc.peak || len(s.Requests()) != 6 {
				t.Errorf("%d requests at a time, %d in all", s.Peak(), len(s.Requests()))
			}
		})
	}
}

// Without a limit requests run together: each waits here for the other.
func TestRequestsRunTogether(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	s := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Answer {
		both.Done()
		both.Wait()
		return modeltest.Answer{}
	})
	m := newModel(t, config(s, modeltest.Anthropic))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if _, err := m.Complete(t.Context(), abi.ModelRequest{Prompt: "x"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Whoever waits for its turn may leave, and a call that hangs gives its place
// back.
func TestQueueEndsWithTheCaller(t *testing.T) {
	s := modeltest.New(t, modeltest.Answer{Hang: true}, modeltest.Answer{Text: "next"})
	c := config(s, modeltest.OpenAI)
	c.Concurrency = 1
	m := newModel(t, c)
	first, leave := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := m.Complete(first, abi.ModelRequest{Prompt: "x"})
		done <- err
	}()
	for len(s.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := m.Complete(ctx, abi.ModelRequest{Prompt: "y"})
	if abi.CodeOf(err) != abi.CodeDeadline || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in the queue: %v", err)
	}
	leave()
	if err := <-done; abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("the one that hung: %v", err)
	}
	if got, err := m.Complete(t.Context(), abi.ModelRequest{Prompt: "z"}); err != nil || got.Text != "next" {
		t.Errorf("after it: %+v, %v", got, err)
	}
}
