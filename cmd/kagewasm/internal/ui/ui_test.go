package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestNumbers: figures for a person.
func TestNumbers(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{Number(0), "0"},
		{Number(999), "999"},
		{Number(-1000), "-1,000"},
		{Number(int64(1234567)), "1,234,567"},
		{bytesOf(1023), "1023 B"},
		{bytesOf(1 << 10), "1.0 KiB"},
		{bytesOf(3 << 20), "3.0 MiB"},
		{amount(999), "999"},
		{amount(1500), "1.5 k"},
		{amount(2_000_000_000), "2.0 G"},
		{Plural(1, "session"), "1 session"},
		{Plural(1200, "session"), "1,200 sessions"},
		{change(100, 100), "as before"},
		{change(0, 1), "there was none"},
		{change(100, 150), "+50.0%"},
		{change(1e6, 1e6+1), "+0.0001%"},
		{percent(100, 100), ""},
		{shortened("a  b\nc", 9), "a b c"},
		{shortened("日本語日本語", 4), "日本語…"},
	} {
		t.Run(tc.want, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q", tc.got)
			}
		})
	}
}

// TestTable: the first column stands to the left, those between to the right, and the
// last as it is; characters are counted, not bytes.
func TestTable(t *testing.T) {
	var b bytes.Buffer
	var table table
	table.head("session", "tokens", "")
	table.row("été", "1,200", "by fallback")
	table.row("a", "7")
	table.print(Printer{W: &b})
	const want = "  session  tokens\n  été       1,200  by fallback\n  a        7\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestColour: words are the same with colours and without.
func TestColour(t *testing.T) {
	var plain, coloured bytes.Buffer
	Printer{W: &plain}.field("label", "%s", Printer{}.paint(red, "text"))
	p := Printer{W: &coloured, Color: true}
	p.field("label", "%s", p.paint(red, "text"))
	if got := strings.NewReplacer("\x1b[2m", "", "\x1b[31m", "", "\x1b[0m", "").Replace(
		coloured.String()); got != plain.String() {
		t.Errorf("%q, plain %q", got, plain.String())
	}
}

// TestPlain: nobody's text breaks a line, hides, turns the direction of writing or
// steers the terminal, and what it says can still be read.
func TestPlain(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"words", "häß 日本語 שלום", "häß 日本語 שלום"},
		{"a line break", "a\n  digest     sha256:00", `a\n  digest     sha256:00`},
		{"a return", "a\rb", `a\rb`},
		{"other breaks", "a\u2028b\u0085c\vd", `a\u2028b\u0085c\vd`},
		{"an escape", "\x1b[2J", `\x1b[2J`},
		{"one of eight bits", "\u009b2J", `\u009b2J`},
		{"a direction", "a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`},
		{"no width", "a\u200bb\ufeffc\u00add", `a\u200bb\ufeffc\u00add`},
		{"fillers", "\u3164\u115f\u2800", `\u3164\u115f\u2800`},
		{"tags", "a\U000E0049", `a\U000e0049`},
		{"selectors", "a\ufe01\U000E0101", `a\ufe01\U000e0101`},
		{"private ones", "\ue000", `\ue000`},
		{"emoji", "👩\u200d👧 ❤\ufe0f", "👩\u200d👧 ❤\ufe0f"},
		{"a joiner of letters", "a\u200db", `a\u200db`},
		{"a tower of accents", "a" + strings.Repeat("\u0301", 6), "a" + strings.Repeat("\u0301", 4) + `\u0301\u0301`},
		{"spaces", "a\tb\u00a0c\u3000d", "a b c d"},
		{"no UTF-8", "a\xffb", "a\ufffdb"},
		{"a control word", "<|im_start|>", "< |im_start|>"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := string(plain(tc.text)); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			for _, v := range []any{tc.text, errors.New(tc.text), style(tc.text), &abi.Error{Message: tc.text},
				[]string{tc.text}} {
				var b bytes.Buffer
				p := Printer{W: &b}
				p.Linef("%v", v)
				p.field("x", "%v", v)
				p.labelled("x")("%v", v)
				var table table
				table.row(p.paint(dim, v), v)
				table.print(p)
				if got := b.String(); strings.Count(got, "\n") != 4 || !strings.Contains(got, tc.want) {
					t.Errorf("%T: %q", v, got)
				}
			}
		})
	}
}

// TestJSON: a document has no character that a terminal hides or obeys, and says the
// same.
func TestJSON(t *testing.T) {
	text := "a\u009b2J\u202e\x7f\u2028\U000E0049\u200bé\n<&>"
	for name, write := range map[string]func(io.Writer, any) error{"JSON": JSON, "JSONLine": JSONLine,
		"Answer": func(w io.Writer, v any) error { return Answer(Printer{W: w}, v.(json.RawMessage)) }} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b, json.RawMessage(`{"x": "`+strings.ReplaceAll(text, "\n", `\n`)+`"}`)); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsFunc(strings.ReplaceAll(b.String(), "\n", ""), hidden) || !strings.Contains(b.String(), "é") {
				t.Errorf("%q", b.String())
			}
			var back struct{ X string }
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.X != text {
				t.Errorf("%q, %v", back.X, err)
			}
		})
	}
}

// TestErrors: what a plugin says cannot look like a line of ours, and exit codes tell
// whose fault it is.
func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		why  string
		err  error
		code int
		says string
	}{
		{"a command line", Usagef("no such %s", "flag"), ExitUsage, "kagewasm: no such flag\n"},
		{"a bad input", fmt.Errorf("x: %w", &abi.Error{Code: abi.CodeBadInput, Op: "read", Message: "no",
			Hint: "look"}), ExitUsage, "\n  look\n"},
		{"a failure", errors.New("disk full"), ExitFailure, "kagewasm: disk full\n"},
		{"two lines", errors.New("a\nkagewasm: b\x1b[2J"), ExitFailure, "kagewasm: a\n    | kagewasm: b"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var b bytes.Buffer
			Error(Printer{W: &b}, tc.err)
			if ExitCode(tc.err) != tc.code || !strings.Contains(b.String(), tc.says) || strings.Contains(b.String(), "\x1b") {
				t.Errorf("exit code %d, %q", ExitCode(tc.err), b.String())
			}
		})
	}
}

// TestProgressIsSilent: nothing is written where nobody watches, or for work that is
// done at once.
func TestProgressIsSilent(t *testing.T) {
	var b bytes.Buffer
	for _, p := range []*Progress{NewProgress(nil, 0), NewProgress(&b, 0)} {
		p.Step("working")
		p.Done()
	}
	time.Sleep(progressDelay + 50*time.Millisecond)
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}

// TestCostLine (K14): a sum is told where something was measured, and else that nothing was.
func TestCostLine(t *testing.T) {
	spent := func(who store.Spender, usd float64, unknown bool) store.Cost {
		return store.Cost{Spender: who, ModelUsage: abi.ModelUsage{Cost: usd}, PriceUnknown: unknown}
	}
	for _, tc := range []struct {
		costs []store.Cost
		want  string
	}{
		{nil, "primary: not measured, compactor: no model was asked"},
		{[]store.Cost{spent(store.Primary, 1.5, false), spent(store.Compactor, 0.25, false)},
			"primary: $1.5000, compactor: $0.2500"},
		{[]store.Cost{spent(store.Primary, 0, false), spent(store.Compactor, 0, true)},
			"primary: $0.0000, compactor: at a price nobody knows"},
		{[]store.Cost{spent(store.Compactor, 0.25, false), spent(store.Compactor, 0, true)},
			"primary: not measured, compactor: $0.2500 and what nobody knows the price of"},
	} {
		if got := costLine(tc.costs); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}

// TestPreparationIsDocumented: docs/compact.md has every key of a preparation's JSON.
func TestPreparationIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(shared.Root(t), "docs", "compact.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[strategies.Preparation]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !bytes.Contains(page, []byte("`"+key+"`")) {
			t.Errorf("no %s", key)
		}
	}
}
