package kagewasm_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestTargetsAreMonotone: on every session a larger target leaves as much or more, and what
// is left comes near it: what a target leaves unused would not hold the next message. One
// that cannot be met is exceeded by a fifth of it at most.
func TestTargetsAreMonotone(t *testing.T) {
	features.Proves(t, "K2")
	c := newCompactor(t, kagewasm.Options{Counter: realCounter()})
	for _, path := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := transcript.Read("in", in, transcript.Neutral)
			if err != nil {
				t.Fatal(err)
			}
			before := 0
			for _, target := range []int{1500, 2000, 2500, 3000, 3500, 4000, 4500, 5500, 7000} {
				req := request(64_000, s.Messages)
				req.Force, req.Target = true, &target
				r := compact(t, c, req)
				if r.Report.TokensAfter < before {
					t.Errorf("target %d leaves %d tokens, a smaller one %d: %s", target, r.Report.TokensAfter, before,
						r.Report.Reason)
				}
				before = r.Report.TokensAfter
				if unused := target - before; r.Report.Compacted && unused > target/5 {
					if next := nextUnit(s.Messages, r.Report.Superseded); next < unused-minUnused {
						t.Errorf("target %d leaves %d tokens, and the next message has %d", target, before, next)
					}
				}
			}
		})
	}
}

// TestTargetsAreUsed: where somebody names the target, output that is too long for what is left of it stays with its
// beginning and its end.
func TestTargetsAreUsed(t *testing.T) {
	features.Proves(t, "K2")
	c := newCompactor(t, kagewasm.Options{})
	msgs := []abi.Message{{ID: "u", Role: abi.RoleUser, Content: abi.Text("Mend it.")}}
	for i := range 40 {
		words := 1000
		if i%4 == 0 {
			words = 6000
		}
		n := strconv.Itoa(i)
		output := strings.Repeat("word"+n+" ", words)
		msgs = append(msgs, did(n, "Bash", map[string]any{"command": "show " + n}, output, false)...)
	}
	for _, target := range []int{15_000, 21_000, 30_000} {
		req := request(400_000, msgs)
		req.Force, req.Target = true, &target
		if r := compact(t, c, req).Report; r.TokensAfter < target*9/10 || r.TokensAfter > target {
			t.Errorf("target %d leaves %d tokens", target, r.TokensAfter)
		}
	}
}

// minUnused is what is left where a message is to be cut to fit: less of it would say too
// little.
const minUnused = 512

// nextUnit is what the newest unit costs that went.
func nextUnit(msgs []abi.Message, gone []string) (tokens int) {
	units, of := abi.Units(msgs)
	last := -1
	for i := range msgs {
		if len(gone) > 0 && msgs[i].ID == gone[len(gone)-1] {
			last = of[i]
		}
	}
	if last < 0 {
		return 0
	}
	for _, i := range units[last] {
		tokens += realCounter().Message(&msgs[i])
	}
	return tokens
}
