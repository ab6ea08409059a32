package ui

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
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
	if got := strings.NewReplacer("\x1b[2m", "", "\x1b[31m", "", "\x1b[0m", "").Replace(coloured.String()); got != plain.String() {
		t.Errorf("%q, plain %q", got, plain.String())
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
		{"a bad input", fmt.Errorf("x: %w", &abi.Error{Code: abi.CodeBadInput, Op: "read", Message: "no", Hint: "look"}), ExitUsage, "\n  look\n"},
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
	for _, p := range []*Progress{NewProgress(nil), NewProgress(&b)} {
		p.Step("working")
		p.Done()
	}
	time.Sleep(progressDelay + 50*time.Millisecond)
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}
