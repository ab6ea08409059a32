package abi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// knobs has one knob of each type.
var knobs = map[abi.KnobType]abi.Knob{
	abi.KnobRange:    {Type: abi.KnobRange, Min: -1, Max: 1, Step: 0.05},
	abi.KnobIntRange: {Type: abi.KnobIntRange, Min: 0, Max: 100, Step: 10},
	abi.KnobEnum: {Type: abi.KnobEnum, Values: []string{"low", "high", "5"},
		Labels: []string{"Low", "High", "Five"}},
	abi.KnobText:       {Type: abi.KnobText, MaxLength: 5},
	abi.KnobMultiline:  {Type: abi.KnobMultiline},
	abi.KnobBoolean:    {Type: abi.KnobBoolean},
	abi.KnobModelAlias: {Type: abi.KnobModelAlias},
	abi.KnobPath:       {Type: abi.KnobPath},
}

func TestKnobCheck(t *testing.T) {
	features.Proves(t, "K27")
	for _, c := range []struct {
		typ  abi.KnobType
		raw  string
		ok   bool
		what string
	}{
		{abi.KnobRange, `0`, true, "a number in the range"},
		{abi.KnobRange, `0.15`, true, "a multiple of the step that floats cannot hold exactly"},
		{abi.KnobRange, `-1`, true, "the least"},
		{abi.KnobRange, `1`, true, "the most"},
		{abi.KnobRange, `1.05`, false, "over the most"},
		{abi.KnobRange, `-1.05`, false, "under the least"},
		{abi.KnobRange, `0.12`, false, "between two steps"},
		{abi.KnobRange, `"0"`, false, "a text"},
		{abi.KnobRange, `null`, false, "null, which decoders take for 0"},
		{abi.KnobRange, `1e999`, false, "more than a float holds"},
		{abi.KnobRange, ``, false, "nothing"},
		{abi.KnobIntRange, `50`, true, "a whole number on a step"},
		{abi.KnobIntRange, `50.0`, true, "a whole number, with a point"},
		{abi.KnobIntRange, `55`, false, "between two steps"},
		{abi.KnobIntRange, `0.5`, false, "not whole"},
		{abi.KnobEnum, `"low"`, true, "one of the values"},
		{abi.KnobEnum, `"Low"`, false, "a label is no value"},
		{abi.KnobEnum, `5`, false, "a number is no text"},
		{abi.KnobText, `"héllo"`, true, "five characters, six bytes"},
		{abi.KnobText, `"hello!"`, false, "six characters"},
		{abi.KnobText, `"a\nb"`, false, "two lines"},
		{abi.KnobText, `"a\rb"`, false, "two lines on some systems"},
		{abi.KnobText, `null`, false, "null, which decoders take for the empty text"},
		{abi.KnobMultiline, `"a\nb"`, true, "two lines"},
		{abi.KnobMultiline, `"` + strings.Repeat("é", 4096) + `"`, true, "the default length"},
		{abi.KnobMultiline, `"` + strings.Repeat("é", 4097) + `"`, false, "one more"},
		{abi.KnobBoolean, `true`, true, "true"},
		{abi.KnobBoolean, ` false `, true, "false, spaced"},
		{abi.KnobBoolean, `"true"`, false, "a text"},
		{abi.KnobBoolean, `1`, false, "a number"},
		{abi.KnobBoolean, ` null `, false, "null, which decoders take for false"},
		{abi.KnobModelAlias, `"fast"`, true, "a name"},
		{abi.KnobModelAlias, `{}`, false, "an object"},
		{abi.KnobPath, `"a/b"`, true, "a path"},
		{abi.KnobPath, `"a\nb"`, false, "two lines"},
	} {
		t.Run(fmt.Sprintf("%s: %s", c.typ, c.what), func(t *testing.T) {
			k := knobs[c.typ]
			if err := k.Check(json.RawMessage(c.raw)); (err == nil) != c.ok {
				t.Errorf("%s: %.40s (%s): %v", c.typ, c.raw, c.what, err)
			}
		})
	}
}

func TestKnobValidate(t *testing.T) {
	features.Proves(t, "K27")
	for typ, k := range knobs {
		if err := k.Validate(); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
	for why, k := range map[string]abi.Knob{
		"no type":                      {},
		"an unknown type":              {Type: "slider"},
		"an empty range":               {Type: abi.KnobRange},
		"min over max":                 {Type: abi.KnobIntRange, Min: 2, Max: 1},
		"a negative step":              {Type: abi.KnobRange, Max: 1, Step: -1},
		"a step longer than the range": {Type: abi.KnobRange, Max: 1, Step: 2},
		"half a whole number":          {Type: abi.KnobIntRange, Min: 0.5, Max: 3},
		"steps of half a whole number": {Type: abi.KnobIntRange, Max: 3, Step: 0.5},
		"a value twice":                {Type: abi.KnobEnum, Values: []string{"a", "b", "a"}},
		"a negative length":            {Type: abi.KnobText, MaxLength: -1},
		"a length of fewer lines":      {Type: abi.KnobMultiline, MaxLength: -1},
		"an enum of nothing":           {Type: abi.KnobEnum},
		"labels that do not match":     {Type: abi.KnobEnum, Values: []string{"a", "b"}, Labels: []string{"A"}},
		"a default out of range":       {Type: abi.KnobRange, Max: 1, Default: json.RawMessage(`2`)},
		"a default of another type":    {Type: abi.KnobBoolean, Default: json.RawMessage(`"yes"`)},
		"a default that is no value":   {Type: abi.KnobEnum, Values: []string{"a"}, Default: json.RawMessage(`"b"`)},
		"a null default":               {Type: abi.KnobText, Default: json.RawMessage(`null`)},
	} {
		t.Run(why, func(t *testing.T) {
			if k.Validate() == nil {
				t.Errorf("accepted: %s", why)
			}
		})
	}
}

func TestKnobParse(t *testing.T) {
	features.Proves(t, "K27")
	for _, c := range []struct {
		typ         abi.KnobType
		typed, want string // want "" is an error
	}{
		{abi.KnobRange, "0.5", `0.5`},
		{abi.KnobRange, " 0.5 ", `0.5`},
		{abi.KnobRange, "half", ``},
		{abi.KnobRange, "7", ``},
		{abi.KnobRange, "", ``},
		{abi.KnobIntRange, "20", `20`},
		{abi.KnobBoolean, "true", `true`},
		{abi.KnobBoolean, "yes", ``},
		{abi.KnobEnum, "high", `"high"`},
		{abi.KnobEnum, `"high"`, `"high"`},
		{abi.KnobEnum, "5", `"5"`},
		{abi.KnobEnum, "other", ``},
		{abi.KnobText, "", `""`},
		{abi.KnobText, "null", `"null"`},
		{abi.KnobText, " a ", `" a "`},
		{abi.KnobText, "<&>", `"<&>"`},
		{abi.KnobText, "too long", ``},
		{abi.KnobMultiline, "a\nb", `"a\nb"`},
		{abi.KnobPath, `C:\x`, `"C:\\x"`},
		{abi.KnobModelAlias, "fast", `"fast"`},
	} {
		t.Run(fmt.Sprintf("%s from %q", c.typ, c.typed), func(t *testing.T) {
			k := knobs[c.typ]
			raw, err := k.Parse(c.typed)
			if string(raw) != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%s: %q is %s (%v), want %s", c.typ, c.typed, raw, err, c.want)
			}
		})
	}
}

// TestParseGivesValues: what Parse returns, Check accepts; and a value that
// Check accepts parses to itself.
func TestParseGivesValues(t *testing.T) {
	features.Proves(t, "K27")
	rapid.Check(t, func(t *rapid.T) {
		k := knobs[rapid.SampledFrom([]abi.KnobType{
			abi.KnobRange, abi.KnobIntRange, abi.KnobEnum, abi.KnobText, abi.KnobMultiline, abi.KnobBoolean,
			abi.KnobModelAlias, abi.KnobPath,
		}).Draw(t, "type")]
		typed := rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9](\.[0-9]{1,2})?`),
			rapid.SampledFrom([]string{"low", "high", "5", "true", "null"})).Draw(t, "typed")
		raw, err := k.Parse(typed)
		if err != nil {
			return
		}
		if err := k.Check(raw); err != nil {
			t.Fatalf("%s: %q parses to %s: %v", k.Type, typed, raw, err)
		}
		if again, err := k.Parse(string(raw)); err != nil || string(again) != string(raw) {
			t.Fatalf("%s: %s parses to %s (%v)", k.Type, raw, again, err)
		}
	})
}
