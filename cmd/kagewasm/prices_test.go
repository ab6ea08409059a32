package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
)

// settingsOf are the settings of the main agent in a configuration of that text.
func settingsOf(t *testing.T, yaml string) configured {
	t.Helper()
	path := filepath.Join(t.TempDir(), config.FileName)
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return configured{file: c, agent: c.Agent("")}
}

// TestPricesOfAnAlias: the prices that stand under an alias hold for it alone. The model's own name has those of the
// alias that is meant: the one that was asked for, else the agent's, else the only one; of several nobody's.
func TestPricesOfAnAlias(t *testing.T) {
	features.Proves(t, "K18")
	const two = "models:\n  dear: {provider: anthropic, model: claude-sonnet-4-5, prices: {input: 30}}\n" +
		"  cheap: {provider: anthropic, model: claude-sonnet-4-5, base_url: 'https://gateway.corp', prices: {input: 1}}\n" +
		"  plain: {provider: anthropic, model: claude-sonnet-4-5}\n"
	const one = "models: {house: {provider: openai, model: house-1, base_url: 'http://gpu:1/v1', prices: {input: 2}}}\n"
	const listed = "overrides: [{provider: anthropic, model: claude-sonnet-4-5, prices: {input: 7}}]\n"
	catalog := tokens.Default().Resolve("claude-sonnet-4-5")
	for _, tc := range []struct {
		yaml, asked, name string
		want              float64
	}{
		{two, "", "dear", 30},
		{two, "", "cheap", 1},
		{two, "", "plain", catalog.Prices.Input},
		{two, "", "claude-sonnet-4-5", catalog.Prices.Input},
		{two + "model: cheap\n", "", "claude-sonnet-4-5", 1},
		{two + "model: dear\n", "", catalog.Name(), 30},
		{two + "model: dear\n", "", "cheap", 1},
		{two + "model: dear\n", "cheap", catalog.Name(), 1},
		{two + "model: dear\n", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", 30},
		{two + listed, "", "plain", 7},
		{two + listed, "", "dear", 30},
		{two + listed, "", "cheap", 1},
		{one, "", "house-1", 2},
		{one, "", "HOUSE-1", 2},
	} {
		conf := settingsOf(t, tc.yaml)
		conf.asked = tc.asked
		if p := conf.resolve(tc.name).Prices; p == nil || p.Input != tc.want {
			t.Errorf("%q where %q was asked for: %+v, want an input of %v\n%s", tc.name, tc.asked, p, tc.want, tc.yaml)
		}
	}
}

// TestASummaryCostsWhatItsAliasSays: of two aliases of a model the one that wrote the summary says what it cost,
// whichever stands last.
func TestASummaryCostsWhatItsAliasSays(t *testing.T) {
	features.Proves(t, "K14")
	summary := note.Outlines()[0].Render(func(s note.Section) string { return "The " + s.Title + " is clear." })
	server := modeltest.New(t, modeltest.Answer{Text: summary, Input: 4000, Output: 300})
	entry := "{provider: anthropic, model: claude-haiku-4-5, base_url: " + server.URL(modeltest.Anthropic)
	first, second := "  first: "+entry+", prices: {input: 1, output: 5}}\n",
		"  second: "+entry+", prices: {input: 100, output: 500}}\n"
	for _, models := range []string{first + second, second + first} {
		code, r, stderr := compactWith(t, "models:\n"+models+"model: first\n")
		if code != 0 || r.Strategy != kagewasm.StrategySummarize || !strings.Contains(stderr, "$0.0055") {
			t.Errorf("exit code %d, strategy %s, cost %+v\n%s", code, r.Strategy, r.Cost, stderr)
		}
	}
}
