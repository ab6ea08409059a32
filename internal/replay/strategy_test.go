package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

// strategy is a way to compact: everything of a Compactor but the counter.
type strategy struct {
	name    string
	options kagewasm.Options
}

// allStrategies are all there are.
func allStrategies(t *testing.T) []strategy {
	writer := loopback(t, modeltest.NewFunc(t, summary))
	return []strategy{
		{"drop", kagewasm.Options{}},
		{"drop with a model", kagewasm.Options{Model: writer}}, // K23
		{"summarize", kagewasm.Options{Model: writer, Policy: kagewasm.Policy{Strategy: kagewasm.StrategySummarize}}},
		{"delegate", kagewasm.Options{Plugins: []hooks.Plugin{halver{}},
			Policy: kagewasm.Policy{Strategy: kagewasm.StrategyDelegate}}},
		{"checkpoint", kagewasm.Options{Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}}},
	}
}

// loopback is a model behind a server.
func loopback(t *testing.T, server *modeltest.Server) abi.Model {
	m, err := models.New(models.Config{Provider: models.OpenAI, Model: "writer", BaseURL: server.URL(modeltest.OpenAI),
		Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	set, err := models.NewSet("", map[string]abi.Model{model: m})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// summary is what a good model answers: every section it is asked for, with
// something of what it was given in each.
func summary(r modeltest.Request) modeltest.Answer {
	var words []string
	for _, w := range strings.Fields(r.Messages[len(r.Messages)-1].Content) {
		if !strings.ContainsAny(w, "<>") { // no frames
			words = append(words, w)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(r.System) {
		if !strings.HasPrefix(line, "## ") {
			continue
		}
		from := min(len(words), b.Len()/4)
		b.WriteString(line + "- " + strings.Join(words[from:min(len(words), from+25)], " ") + "\n\n")
	}
	return modeltest.Answer{Text: b.String()}
}

// halver is a compactor plugin: it lets go of the older units until half of the
// budget is left, and gives the whole list back.
type halver struct{}

func (halver) Manifest() *abi.Manifest {
	return &abi.Manifest{Name: "halver", Version: "1", ABI: abi.Version, Roles: []abi.PluginRole{abi.RoleCompactor}}
}

func (halver) Hooks() []abi.Hook           { return []abi.Hook{abi.HookPreCompact} }
func (halver) Digest() string              { return "" }
func (halver) Granted(abi.Capability) bool { return false }

func (halver) Call(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	stays := make(map[int]bool)
	msgs := make([]abi.Message, len(in.Messages))
	for i := range in.Messages {
		msgs[i] = in.Messages[i].Message
	}
	units, _ := abi.Units(msgs)
	current := abi.CurrentTurn(msgs)
	left := in.Budget.TargetTokens / 2
	for k := len(units) - 1; k >= 0; k-- {
		cost, fixed := 0, false
		for _, i := range units[k] {
			cost += in.Messages[i].Tokens
			fixed = fixed || in.Messages[i].Pinned || current[i]
		}
		if left -= cost; fixed || left >= 0 {
			for _, i := range units[k] {
				stays[i] = true
			}
		}
	}
	out := &abi.Output{Summary: fmt.Sprintf("Of %d messages the older ones went.", len(msgs))}
	for i := range msgs {
		if stays[i] {
			out.Messages = append(out.Messages, abi.OutputMessage{Ref: msgs[i].ID})
		} else {
			out.Superseded = append(out.Superseded, msgs[i].ID)
		}
	}
	return out, abi.CallStats{MS: 1}, nil
}
