package catalog_test

import (
	"bytes"
	"testing"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

func TestRule(t *testing.T) {
	not := &catalog.Rule{Not: &catalog.Rule{Regexp: []string{`-tts(?:$|-)`}}}
	for _, tc := range []struct {
		why  string
		rule *catalog.Rule
		name string
		want bool
	}{
		{"nil matches nothing", nil, "a", false},
		{"an empty rule matches nothing", &catalog.Rule{}, "", false},
		{"equal", &catalog.Rule{Equal: []string{"a", "b"}}, "b", true},
		{"not equal", &catalog.Rule{Equal: []string{"a"}}, "ab", false},
		{"prefix", &catalog.Rule{Prefix: []string{"a"}}, "ab", true},
		{"suffix", &catalog.Rule{Suffix: []string{"b"}}, "ab", true},
		{"contains", &catalog.Rule{Contains: []string{"b"}}, "abc", true},
		{"expression", &catalog.Rule{Regexp: []string{`^a-\d{2}$`}}, "a-12", true},
		{"not the expression", &catalog.Rule{Regexp: []string{`^a-\d{2}$`}}, "a-123", false},
		{"any way is enough", &catalog.Rule{Equal: []string{"x"}, Any: []*catalog.Rule{{Prefix: []string{"a"}}}}, "ab", true},
		{"all of several", &catalog.Rule{All: []*catalog.Rule{{Prefix: []string{"a"}}, not}}, "a-pro", true},
		{"but for one", &catalog.Rule{All: []*catalog.Rule{{Prefix: []string{"a"}}, not}}, "a-tts", false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			doc := &catalog.Document{Providers: []*catalog.Provider{{ID: "p", Family: tc.rule}}}
			if err := doc.Compile(); err != nil {
				t.Fatal(err)
			}
			if got := tc.rule.Matches(tc.name); got != tc.want {
				t.Errorf("%q: %v", tc.name, got)
			}
		})
	}
}

func TestReadWrite(t *testing.T) {
	doc := &catalog.Document{AsOf: "2026-01-01", Providers: []*catalog.Provider{{ID: "p", Models: []*catalog.Model{
		{ID: "m", Window: 1000, Match: &catalog.Rule{Prefix: []string{"m-"}}},
		{ID: "m-2"},
	}}}}
	gz, err := catalog.Write(doc)
	if err != nil {
		t.Fatal(err)
	}
	again, err := catalog.Write(doc)
	if err != nil || !bytes.Equal(gz, again) {
		t.Errorf("the same document was written differently (%v)", err)
	}
	got, err := catalog.Read(gz)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"m": "m", "m-1": "m", "m-2": "m-2"} {
		t.Run(name, func(t *testing.T) {
			if m := got.Providers[0].Find(name); m == nil || m.ID != want {
				t.Errorf("%+v, want %s: a model's own id comes before another's rule", m, want)
			}
		})
	}
	if m := got.Providers[0].Find("n"); m != nil {
		t.Errorf("n: %+v", m)
	}
}

func TestReadRefuses(t *testing.T) {
	bad := &catalog.Document{Providers: []*catalog.Provider{{ID: "p", Family: &catalog.Rule{Regexp: []string{"("}}}}}
	gz, err := catalog.Write(bad)
	if err != nil {
		t.Fatal(err)
	}
	for what, doc := range map[string][]byte{"nothing": nil, "not compressed": []byte("{}"), "half": gz[:len(gz)/2],
		"a bad pattern": gz} {
		t.Run(what, func(t *testing.T) {
			if _, err := catalog.Read(doc); err == nil {
				t.Errorf("%d bytes were read", len(doc))
			}
		})
	}
}

// TestAsOf: the day is told without the rest, and a document that begins with something else is refused.
func TestAsOf(t *testing.T) {
	doc := &catalog.Document{AsOf: "2026-11-10", Providers: []*catalog.Provider{{ID: "p"}}}
	gz, err := catalog.Write(doc)
	if err != nil {
		t.Fatal(err)
	}
	if day, err := catalog.AsOf(gz); day != doc.AsOf || err != nil {
		t.Errorf("%q, %v, want %q", day, err, doc.AsOf)
	}
	if gz, err = catalog.Write(new(catalog.Document)); err != nil {
		t.Fatal(err)
	}
	if day, err := catalog.AsOf(gz); err == nil {
		t.Errorf("no day is told as %q", day)
	}
}
