package hosttest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// patience is how long tests wait for observers on a busy machine, in milliseconds.
const patience = 60_000

// New makes a compactor that counts words, where nothing else is set, waits for
// observers, and whose clock stands still.
func New(t testing.TB, opts kagewasm.Options) *kagewasm.Compactor {
	t.Helper()
	if opts.Counter == nil {
		opts.Counter = Words{}
	}
	opts.Policy.ObserverWaitMS = cmp.Or(opts.Policy.ObserverWaitMS, patience)
	if opts.Now == nil {
		opts.Now = func() time.Time { return time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC) }
	}
	c, err := kagewasm.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Request is a look at the session s1 in a window of that many words.
func Request(window int, msgs []abi.Message) kagewasm.Request {
	return kagewasm.Request{Session: abi.Session{ID: "s1", ContextWindow: &window}, Messages: msgs}
}

// Compact compacts, which must not fail.
func Compact(t testing.TB, c *kagewasm.Compactor, req kagewasm.Request) *kagewasm.Result {
	t.Helper()
	r, err := c.Compact(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Memory is a kagewasm.Memory that tests can look into once nobody sets anything.
type Memory map[string]string

// setting is held while a Memory is set: observers that are late set it side by side.
var setting sync.Mutex

// Set implements kagewasm.Memory.
func (m Memory) Set(_ context.Context, ns, key, value string) error {
	setting.Lock()
	defer setting.Unlock()
	m[ns+"/"+key] = value
	return nil
}

// Summary is a summary of the default outline that says text in each section.
func Summary(text string) string {
	return note.Outlines()[0].Render(func(note.Section) string { return text })
}

// Writes is a model that says text in each section that it is asked for.
func Writes(text string) *modeltest.Model {
	return modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Text: InForm(r, text)}
	})
}

// InForm is a summary in the form a request asks for.
func InForm(r modeltest.Request, text string) string {
	if strings.Contains(r.System, "## Done So Far") { // of the first part of a turn
		return fmt.Sprintf("## Request\n%s\n\n## Done So Far\n%[1]s\n\n## Needed to Go On\n%[1]s", text)
	}
	return Summary(text)
}
