package ledger_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/ledger"
	"github.com/kagewasm/kagewasm/tokens"
)

// minSurvival and maxShare are what the ledger has to reach on compactions
// that popular agents made, within the tokens of the agents' own summaries.
const (
	minSurvival = 0.69
	maxShare    = 0.026
)

// TestN8Survival: of the exact names that an agent went on to use after a
// compaction, and that it had met before, how many does the ledger hold?
func TestN8Survival(t *testing.T) {
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, least, most := shared.Sessions(t), minSurvival, maxShare
	if len(files) == 0 {
		// One small session of the project's own says that nothing is broken,
		// not how good it is.
		files, least, most = []string{filepath.Join("testdata", "session.jsonl")}, 0.75, 0.2
	}
	var survival, share float64
	n := 0
	for _, path := range files {
		msgs := readSession(t, path)
		for i := range msgs {
			if msgs[i].Kind != abi.KindSummary {
				continue
			}
			need := needed(msgs, i)
			if len(need) < 10 {
				continue
			}
			chars := utf8.RuneCountInString(textOf(&msgs[i]))
			list := ledger.Build(goes(msgs[:i])).Render(chars/4, counter.Text)
			if got := counter.Text(list); got > chars/4 {
				t.Errorf("%s at %d: %d tokens of %d", filepath.Base(path), i, got, chars/4)
			}
			s, part := held(list, need), float64(utf8.RuneCountInString(list))/float64(size(msgs[:i]))
			t.Logf("%-50s at %3d: needed %3d, survival %.3f, the agent's own summary %.3f, share %.4f",
				filepath.Base(path), i, len(need), s, held(textOf(&msgs[i]), need), part)
			survival, share, n = survival+s, share+part, n+1
		}
	}
	survival, share = survival/float64(n), share/float64(n)
	t.Logf("%d compactions: mean survival %.4f, mean share of the text %.4f", n, survival, share)
	if !(survival >= least && share <= most) {
		t.Errorf("survival %.4f, at least %.2f wanted; share %.4f, at most %.3f", survival, least, share, most)
	}
}

// goes is what a compaction that keeps only pinned messages takes away.
func goes(msgs []abi.Message) []abi.Message {
	var gone []abi.Message
	pins := abi.Pinned(msgs)
	for i := range msgs {
		if !pins[i] {
			gone = append(gone, msgs[i])
		}
	}
	return gone
}

// needed are the names in what the agent says in the 60 messages after the
// compaction at i, or up to the next one, that stood before it.
func needed(msgs []abi.Message, i int) map[string]bool {
	before, after := make(map[string]bool), make(map[string]bool)
	for k := range msgs[:i] {
		names(textOf(&msgs[k]), before)
	}
	for k := i + 1; k < min(len(msgs), i+61) && msgs[k].Kind != abi.KindSummary; k++ {
		if msgs[k].Role == abi.RoleAssistant {
			names(textOf(&msgs[k]), after)
		}
	}
	for name := range after {
		if !before[name] {
			delete(after, name)
		}
	}
	return after
}

func held(text string, need map[string]bool) float64 {
	have := make(map[string]bool)
	names(text, have)
	n := 0
	for name := range need {
		if have[name] {
			n++
		}
	}
	return float64(n) / float64(len(need))
}

// textOf is what a message says and calls.
func textOf(m *abi.Message) string {
	text := m.Text()
	if m.Content.IsParts() {
		if b, err := json.Marshal(m.Content); err == nil {
			text = string(b)
		}
	}
	for _, c := range m.ToolCalls {
		text += "\n" + c.Name + " " + c.Arguments
	}
	return text
}

func size(msgs []abi.Message) int {
	n := 0
	for i := range msgs {
		n += utf8.RuneCountInString(textOf(&msgs[i]))
	}
	return max(1, n)
}

func readSession(t *testing.T, path string) []abi.Message {
	t.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []abi.Message
	lines := bufio.NewScanner(bytes.NewReader(doc))
	lines.Buffer(nil, len(doc)+1)
	for lines.Scan() {
		var m abi.Message
		if line := lines.Bytes(); len(line) == 0 || bytes.HasPrefix(line, []byte(`{"tools"`)) {
			continue
		} else if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}
