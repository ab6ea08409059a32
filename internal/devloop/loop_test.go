package devloop

import (
	"context"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestDevFollows: a round that is interrupted when the plugin was built leaves
// it to the next one to have its packages watched.
func TestDevFollows(t *testing.T) {
	soak.Only(t, "builds a plugin twice, and lists what it is built of")
	features.Proves(t, "N6")
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runtime.New(t.Context(), runtime.Options{KV: survey.KV(nil), Counter: counter, Interpreter: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.WithoutCancel(t.Context()))
	interrupted, interrupt := context.WithCancel(t.Context())
	l, err := start(t.Context(), Options{
		Dir: "../../kit/testdata/notes1", Sessions: []string{"../../testdata/small.jsonl"},
		Survey: survey.Options{Counter: counter},
		Load: func(ctx context.Context, path string) (*runtime.Plugin, error) {
			defer interrupt()
			return plugintest.LoadFile(ctx, r, path, runtime.PluginOptions{})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.end()
	follow := make(chan []string, 2)
	l.follow = follow
	l.round(interrupted, nil)
	if l.stale || len(follow) > 0 {
		t.Fatalf("stale %v, followed %d times: the round was to end between the two", l.stale, len(follow))
	}
	for range 2 {
		l.round(t.Context(), nil)
	}
	if len(follow) != 1 || len(<-follow) == 0 {
		t.Errorf("followed %d times after it was interrupted, want once, with the packages", len(follow))
	}
}
