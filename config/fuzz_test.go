package config_test

import (
	"errors"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

// FuzzCheck: whatever the text, there is an answer; what is wrong has a place
// inside of it.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		family, string(config.Sample()), uncommented(), "", "a: &a {b: *a}", "<<: {}", "{a: {b: [1, {c: ~}]}}",
		"compaction: {redact: off, always_keep: [{kind: ''}]}",
		"models: {a: {provider: openai, model: x, headers: {X: y}}}", "compaction:\n  recent: ~\n  keep_last_messages: 3\n",
		"compaction: {trim: off, trim_threshold: 50}",
		"agents: {a: {subagents: {b: {compaction: ~}}}}", "? a\n: b\n", "a: |\n  x\n", "- - - a\n", "\"\\u0000\": 1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := config.Check("k.yaml", data)
		if err == nil {
			return
		}
		var ps config.Problems
		if abi.CodeOf(err) != abi.CodeBadInput || !errors.As(err, &ps) || len(ps) == 0 {
			t.Fatalf("%v", err)
		}
		for _, p := range ps {
			if p.Message == "" || p.Line < 0 || p.Column < 0 {
				t.Fatalf("%+v", p)
			}
		}
	})
}

// FuzzSet: what comes from flags cannot break what stands in the file.
func FuzzSet(f *testing.F) {
	path := project(f, family)
	c, err := config.Load(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range [][2]string{{"model", "big"}, {"compaction.prune", "off"}, {"compaction", "{max_tokens: 3}"},
		{"compaction.recent.tokens", "1"}, {"compaction.threshold", "7"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, field, value string) {
		if field == "" || field[0] == '=' {
			t.Skip("no setting is named")
		}
		a, err := c.With("main", field+"="+value)
		if (a == nil) == (err == nil) || err != nil && abi.CodeOf(err) != abi.CodeBadInput {
			t.Fatalf("%v, %v", a, err)
		}
		if _, xerr := c.Explain("main", field+"="+value); (xerr == nil) != (err == nil) {
			t.Fatalf("%v, %v", xerr, err)
		}
	})
}
