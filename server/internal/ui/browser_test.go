package ui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/kagewasm/kagewasm/internal/compilers"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
)

// chromium is one browser for all tests.
var chromium struct {
	once sync.Once
	ctx  context.Context
	end  func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.Close()
	if chromium.end != nil {
		chromium.end()
	}
	os.Exit(code)
}

// tab is a tab of a browser that is known to a server.
type tab struct {
	*servetest.Server
	ctx context.Context

	mu   sync.Mutex
	said []string // errors of scripts and of the policy
}

// openTab opens a tab and follows the opening link. The test is left out where there is
// no browser.
func openTab(t *testing.T, s *servetest.Server) *tab {
	t.Helper()
	b := newTab(t, s)
	b.run(chromedp.Navigate(s.URL+s.Handler.OpenPath()), chromedp.WaitVisible("main"))
	return b
}

func newTab(t *testing.T, s *servetest.Server) *tab {
	t.Helper()
	soak.Only(t, "a browser is driven")
	chromium.once.Do(func() {
		path, err := exec.LookPath("chromium")
		if err != nil {
			chromium.err = err
			return
		}
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900))
		alloc, endAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, endBrowser := chromedp.NewContext(alloc)
		chromium.ctx, chromium.end = ctx, func() { endBrowser(); endAlloc() }
		chromium.err = chromedp.Run(ctx)
	})
	if chromium.err != nil {
		compilers.Missing(t, "chromium", "no browser: apt-get install chromium ("+chromium.err.Error()+")")
	}
	ctx, closeTab := chromedp.NewContext(chromium.ctx)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() { cancel(); closeTab() })
	b := &tab{Server: s, ctx: ctx}
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *cdpruntime.EventExceptionThrown:
			b.hear("exception: " + e.ExceptionDetails.Error())
		case *cdpruntime.EventConsoleAPICalled:
			if e.Type == cdpruntime.APITypeError {
				for _, a := range e.Args {
					b.hear(fmt.Sprintf("console: %s %s", a.Value, a.Description))
				}
			}
		}
	})
	return b
}

func (b *tab) hear(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, what)
}

func (b *tab) run(actions ...chromedp.Action) {
	b.T.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.T.Fatal(err)
	}
}

// at goes to a page.
func (b *tab) at(path string) {
	b.T.Helper()
	b.run(chromedp.Navigate(b.URL+path), chromedp.WaitReady("main"))
}

// click clicks on what a selector finds, and waits for the page that it leads to.
func (b *tab) click(selector string) {
	b.T.Helper()
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Click(selector, chromedp.ByQuery)); err != nil {
		b.T.Fatalf("click %s: %v", selector, err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](b *tab, expression string) (v T) {
	b.T.Helper()
	b.run(chromedp.Evaluate(expression, &v))
	return v
}

// main is the text of the page.
func (b *tab) main() string { return ask[string](b, `document.querySelector("main").innerText`) }

// path is where the tab is.
func (b *tab) path() string { return ask[string](b, `location.pathname`) }

// wants checks that words stand on the page.
func (b *tab) wants(words ...string) {
	b.T.Helper()
	said := b.main()
	for _, w := range words {
		if !strings.Contains(strings.ToLower(said), strings.ToLower(w)) {
			b.T.Errorf("%s: %q is not on the page:\n%.1500s", b.path(), w, said)
		}
	}
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.T.Helper()
	b.run(chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(20*time.Second)))
}

// thorough reports whether what takes long runs too: pictures, and checks by axe-core.
func thorough() bool { return soak.Count(0, 1, 1) > 0 }

// shoot writes a picture of the page to build/ui, for people to look at.
func (b *tab) shoot(name string, width int, dark bool) {
	b.T.Helper()
	if !thorough() {
		return
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	var picture []byte
	b.run(chromedp.EmulateViewport(int64(width), 1500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Sleep(80*time.Millisecond), chromedp.CaptureScreenshot(&picture))
	dir := filepath.Join(shared.Root(b.T), "build", "ui")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.T.Fatal(err)
	}
}

// silent checks that no script failed, and that the policy refused nothing.
func (b *tab) silent() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) > 0 {
		b.T.Errorf("the browser complains: %s", strings.Join(b.said, "\n"))
	}
}

// violation is what axe-core found.
type violation struct {
	ID     string
	Impact string
	Help   string
	Nodes  []struct {
		HTML           string
		FailureSummary string
	}
}

// accessible checks the page as it is with axe-core, by the rules of WCAG 2.2 AA.
func (b *tab) accessible() {
	b.T.Helper()
	if !thorough() {
		return
	}
	axe, err := os.ReadFile("testdata/axe.min.js")
	if err != nil {
		b.T.Fatal(err)
	}
	var found struct{ Violations []violation }
	b.run(chromedp.Evaluate(string(axe), nil),
		chromedp.Evaluate(`axe.run({runOnly: ["wcag2a","wcag2aa","wcag21a","wcag21aa","wcag22aa","best-practice"]})`, &found,
			func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) }))
	for _, v := range found.Violations {
		for i, n := range v.Nodes {
			if i < 3 {
				b.T.Errorf("%s: %s (%s): %s\n%.300s\n%.300s", b.path(), v.ID, v.Impact, v.Help, n.HTML, n.FailureSummary)
			}
		}
	}
}

// serve starts a server over a store in a file.
func serve(t testing.TB, host *servetest.Host) *servetest.Server {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return servetest.StartOver(t, s, host, service.Options{})
}

// get is a page without a browser.
func get(t testing.TB, s *servetest.Server, path string) (int, string) {
	t.Helper()
	r := s.Send(t, http.MethodGet, path, "")
	return r.Status, string(r.Body)
}

// post sends a form without a browser, and returns the page that it leads to.
func post(t testing.TB, s *servetest.Server, path string, form url.Values, headers ...string) *servetest.Response {
	t.Helper()
	return s.Send(t, http.MethodPost, path, form.Encode(),
		append([]string{"Content-Type: application/x-www-form-urlencoded"}, headers...)...)
}

func raw(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}
