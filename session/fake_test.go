package session_test

import (
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/tokens"
)

type (
	fakePlugin  = hosttest.Plugin
	memory      = hosttest.Memory
	wordCounter = hosttest.Words
)

const longWindow = hosttest.LongWindow

var (
	answers      = hosttest.Answers
	chat         = hosttest.Chat
	compact      = hosttest.Compact
	compactor    = hosttest.Compactor
	has          = hosttest.Has
	ids          = hosttest.IDs
	inForm       = hosttest.InForm
	long         = hosttest.Long
	newCompactor = hosttest.New
	renamed      = hosttest.Renamed
	request      = hosttest.Request
	writes       = hosttest.Writes
)

func plugins[P hooks.Plugin](list ...P) []hooks.Plugin { return hosttest.Plugins(list...) }

// corpus are the project's own sessions, and the shared ones where they are
// there.
func corpus(t *testing.T) []string {
	own, err := filepath.Glob("../testdata/*.jsonl")
	if err != nil || len(own) == 0 {
		t.Fatal("no sessions in testdata", err)
	}
	return shared.With(t, own)
}

func realCounter(t testing.TB) abi.Counter {
	t.Helper()
	c, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
