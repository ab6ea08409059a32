package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// pieces records what it is asked to count.
type pieces struct {
	plugintest.Bytes
	got   []string
	sleep time.Duration
}

func (p *pieces) Text(s string) int {
	p.got = append(p.got, s)
	time.Sleep(p.sleep)
	return len(s)
}

// countRequest asks for the tokens of the texts.
func countRequest(texts ...string) string {
	doc, _ := json.Marshal(abi.TokensRequest{Texts: texts})
	return string(doc)
}

func TestCountInPieces(t *testing.T) {
	for name, text := range map[string]string{
		"short": "one two", "empty": "", "words": strings.Repeat("word ", 60_000), "no space": strings.Repeat("x", 300_000),
		"runes": strings.Repeat("ж", 150_000), "spaces": strings.Repeat(" ", 300_000),
		"double spaces": strings.Repeat("a  b", 75_000), "just two": strings.Repeat("x", 128<<10),
	} {
		t.Run(name, func(t *testing.T) {
			counter := new(pieces)
			resp, _ := hostCall(t, runtime.Options{Counter: counter}, runtime.PluginOptions{}, abi.OpTokensCount,
				countRequest(text), nil)
			if want := fmt.Sprintf(`{"counts":[%d]}`, len(text)); string(resp.Result) != want {
				t.Errorf("%s, want %s", resp.Result, want)
			}
			if strings.Join(counter.got, "") != text {
				t.Errorf("%s: the pieces are not the text", name)
			}
			for i, p := range counter.got {
				if len(p) > 128<<10 || !utf8.ValidString(p) || len(p) < 64<<10 && i < len(counter.got)-1 {
					t.Errorf("piece %d of %d has %d bytes", i, len(counter.got), len(p))
				}
			}
		})
	}
}

// TestCountInPiecesIsExact: for ordinary text the sum is the whole's count.
func TestCountInPiecesIsExact(t *testing.T) {
	for _, e := range []tokens.Encoding{tokens.O200k, tokens.CL100k} {
		t.Run(string(e), func(t *testing.T) {
			counter, err := tokens.New(e, tokens.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Repeat("It's 12,345 lines — func (c *call) x() { return \"ok\" } at "+
				"/srv/app/main.go:17\n\tthen naïve Zürich, 日本語 too.  ", 1500)
			resp, _ := hostCall(t, runtime.Options{Counter: counter}, runtime.PluginOptions{}, abi.OpTokensCount,
				countRequest(text), nil)
			if want := fmt.Sprintf(`{"counts":[%d]}`, counter.Text(text)); string(resp.Result) != want {
				t.Errorf("%s: %s, want %s", e, resp.Result, want)
			}
		})
	}
}

// TestCountEndsWithTheCall: a long text does not outlive the deadline.
func TestCountEndsWithTheCall(t *testing.T) {
	counter := &pieces{sleep: 20 * time.Millisecond}
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{Counter: counter}),
		wasmtest.HostCall(pre, string(abi.OpTokensCount), countRequest(strings.Repeat("word ", 600_000))),
		runtime.PluginOptions{Limits: abi.Limits{TimeoutMS: 100}})
	_, _, err := p.CallRaw(context.Background(), pre, nil)
	plugintest.WantError(t, err, abi.CodeDeadline)
	if len(counter.got) > 30 {
		t.Errorf("it went on for %d pieces", len(counter.got))
	}
}
