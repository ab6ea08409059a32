package yamldoc_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

func parse(t *testing.T, text string) *yamldoc.Value {
	t.Helper()
	docs, err := yamldoc.Parse([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	return docs[0]
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name, yaml   string
		line, column int
		kind         yamldoc.Kind
		says         any
		text         string
	}{
		{"a text", "a: word", 1, 4, yamldoc.String, "word", "word"},
		{"a quoted text", "a: \"1\\n\"", 1, 4, yamldoc.String, "1\n", "1\n"},
		{"a text of lines", "a: |\n  x\n  y\n", 1, 4, yamldoc.String, "x\ny\n", "x\ny\n"},
		{"a number", "a: 7", 1, 4, yamldoc.Int, 7, "7"},
		{"a number in hexadecimal", "a: 0x10", 1, 4, yamldoc.Int, 16, "0x10"},
		{"beyond an int", "a: 18446744073709551615", 1, 4, yamldoc.Int, uint64(18446744073709551615), "18446744073709551615"},
		{"a fraction", "a: 1.50", 1, 4, yamldoc.Float, 1.5, "1.50"},
		{"no finite number", "a: .inf", 1, 4, "infinity", nil, ".inf"},
		{"a truth", "\n\na: true", 3, 4, yamldoc.Bool, true, "true"},
		{"nothing, written", "a: ~", 1, 4, yamldoc.Null, nil, "~"},
		{"below zero", "a: -0.0", 1, 4, yamldoc.Float, math.Copysign(0, -1), "-0.0"},
		{"a date", "a: 2026-11-22", 1, 4, yamldoc.String, "2026-11-22", "2026-11-22"},
		{"yes", "a: yes", 1, 4, yamldoc.String, "yes", "yes"},
		{"an emoji", "a: \U0001f642 é", 1, 4, yamldoc.String, "\U0001f642 é", "\U0001f642 é"},
		{"other line ends", "x: |\r\n  1\r\n  2\r\na: b\r\n", 1, 4, yamldoc.String, "1\n2\n", "1\n2\n"},
		{"a byte order mark", "\ufeffa: b", 1, 4, yamldoc.String, "b", "b"},
		{"a directive", "%YAML 1.2\n---\na: b", 3, 4, yamldoc.String, "b", "b"},
		{"brackets in a text", "a: '" + strings.Repeat("[", 500) + "'", 1, 4, yamldoc.String, strings.Repeat("[", 500),
			strings.Repeat("[", 500)},
		{"an anchor", "a: &b c", 1, 4, "anchor", nil, ""},
		{"a tag", "a: !!str c", 1, 4, "tag", nil, ""},
		{"a mapping begins with its first key", "a:\n  b: 1\n  c: 2\n", 2, 3, yamldoc.Map, nil, ""},
		{"a mapping in braces", "a: {b: 1}", 1, 4, yamldoc.Map, nil, ""},
		{"a list", "a: [1]", 1, 4, yamldoc.List, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := parse(t, tc.yaml).Map[0].Value
			if v.Line != tc.line || v.Column != tc.column || v.Kind != tc.kind || v.Text != tc.text || v.Missing {
				t.Errorf("%+v", v)
			}
			if !reflect.DeepEqual(v.Any, tc.says) && tc.kind != "infinity" {
				t.Errorf("it says %#v, want %#v", v.Any, tc.says)
			}
		})
	}
	if v := parse(t, "a:\n").Map[0].Value; v.Kind != yamldoc.Null || !v.Missing {
		t.Errorf("nothing, not written: %+v", v)
	}
	if v := parse(t, "<<: {}\n").Map[0].Key; v.Kind != yamldoc.Merge {
		t.Errorf("a merge key: %+v", v)
	}
	if docs, err := yamldoc.Parse([]byte("a: 1\n---\n- b\n")); err != nil || len(docs) != 2 ||
		docs[1].Kind != yamldoc.List {
		t.Errorf("two documents: %v, %v", docs, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, yaml   string
		line, column int
		says         string
	}{
		{"too long", strings.Repeat("#", yamldoc.MaxBytes+1), 0, 0, "allowed"},
		{"too deep", strings.Repeat("[", 2000), 1, 65, "nested"},
		{"no UTF-8", "a: \xff", 0, 0, "UTF-8"},
		{"a tab", "a:\n\tb: 1\n", 2, 1, "character"},
		{"twice", "a: 1\na: 2\n", 2, 1, "already"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, err := yamldoc.Parse([]byte(tc.yaml))
			e, ok := errors.AsType[*yamldoc.Error](err)
			if docs != nil || !ok || e.Line != tc.line || e.Column != tc.column || !strings.Contains(e.Error(), tc.says) {
				t.Errorf("%v, %+v", docs, err)
			}
		})
	}
}
