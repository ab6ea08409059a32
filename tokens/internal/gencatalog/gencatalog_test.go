package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

func TestPricesOn(t *testing.T) {
	flat := func(in, out, read, write float64) *catalog.Prices {
		return &catalog.Prices{Rates: catalog.Rates{in, out, read, write}}
	}
	for _, tc := range []struct {
		why, doc string
		want     *catalog.Prices
		text     bool
	}{
		{"plain", `{"input_mtok":3,"output_mtok":15,"cache_read_mtok":0.3,"cache_write_mtok":3.75}`,
			flat(3, 15, 0.3, 3.75), true},
		{"caches without a price cost what input does", `{"input_mtok":3,"output_mtok":15}`, flat(3, 15, 3, 3), true},
		{"given away", `{}`, nil, true},
		{"an embedding answers with no text", `{"input_mtok":3}`, nil, false},
		{"tiers", `{"input_mtok":{"base":3,"tiers":[{"start":200000,"price":6}]},"output_mtok":15}`,
			&catalog.Prices{Rates: catalog.Rates{3, 15, 3, 3},
				Tiers: []catalog.Tier{{Above: 200000, Rates: catalog.Rates{6, 15, 6, 6}}}}, true},
		{"the last that has begun", `[{"prices":{"input_mtok":1,"output_mtok":1}},
			{"constraint":{"start_date":"2026-01-01"},"prices":{"input_mtok":2,"output_mtok":2}},
			{"constraint":{"start_date":"2027-01-01"},"prices":{"input_mtok":3,"output_mtok":3}}]`, flat(2, 2, 2, 2), true},
		{"the dearest time of day", `[{"prices":{"input_mtok":1,"output_mtok":1}},
			{"constraint":{"start_time":"01:00:00Z"},"prices":{"input_mtok":2,"output_mtok":2}},
			{"constraint":{"start_time":"06:00:00Z"},"prices":{"input_mtok":0.5,"output_mtok":2}}]`, flat(2, 2, 2, 2), true},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, text, err := pricesOn(json.RawMessage(tc.doc), "2026-06-01")
			if err != nil || text != tc.text || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%+v, %v, %v, want %+v, %v", got, text, err, tc.want, tc.text)
			}
		})
	}
}

func TestRuleOf(t *testing.T) {
	for _, tc := range []struct{ why, doc, yes, no string }{
		{"equals, in any case", `{"equals":"GLM-4"}`, "glm-4", "glm-4.5"},
		{"alternatives", `{"or":[{"equals":"a"},{"or":[{"starts_with":"b"},{"ends_with":"c"}]}]}`, "bx", "ax"},
		{"both", `{"and":[{"starts_with":"a"},{"contains":"b"}]}`, "a-b", "a-c"},
		{"an expression", `{"regex":"^A-\\d{2}$"}`, "a-12", "a-123"},
		{"a negative lookahead", `{"and":[{"starts_with":"a"},{"regex":"^(?!.*-[tT][tT][sS](?:$|-))"}]}`, "a-pro", "a-tts"},
		{"a lookahead for a slash", `{"regex":"^(?![^/]+/)(?:mi|code)stral"}`, "mistral-7b", "x/mistral"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var m gpMatch
			if err := json.Unmarshal([]byte(tc.doc), &m); err != nil {
				t.Fatal(err)
			}
			r, err := m.rule()
			if err != nil {
				t.Fatalf("%v", err)
			}
			doc := catalog.Document{Providers: []*catalog.Provider{{Family: r}}}
			if err := doc.Compile(); err != nil {
				t.Fatal(err)
			}
			if !r.Matches(tc.yes) || r.Matches(tc.no) {
				t.Errorf("%q %v, %q %v", tc.yes, r.Matches(tc.yes), tc.no, r.Matches(tc.no))
			}
		})
	}
	for _, doc := range []string{`{"regex":"(?=x)"}`, `{"or":[{"equals":"a"},{"regex":"^(?!.*b)"}]}`} {
		t.Run(doc, func(t *testing.T) {
			var m gpMatch
			if err := json.Unmarshal([]byte(doc), &m); err != nil {
				t.Fatal(err)
			}
			if r, err := m.rule(); err == nil {
				t.Errorf("%s became %+v", doc, r)
			}
		})
	}
}

func TestWindow(t *testing.T) {
	for _, tc := range []struct {
		why        string
		a, b, want int
	}{
		{"the first", 200_000, 200_000, 200_000},
		{"the second where the first has none", 0, 128_000, 128_000},
		{"the unrounded one", 1_000_000, 1_048_576, 1_048_576},
		{"wherever it stands", 131_072, 128_000, 131_072},
		{"two round ones", 1_000_000, 1_050_000, 1_000_000},
		{"another thing altogether", 1_050_000, 272_000, 1_050_000},
		{"another thing, unrounded", 1_000_000, 262_144, 1_000_000},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := window(tc.a, tc.b); got != tc.want {
				t.Errorf("window(%d, %d) = %d, want %d", tc.a, tc.b, got, tc.want)
			}
		})
	}
}
