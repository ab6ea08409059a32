package bpe_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestGolden holds tokens against those of OpenAI's own code, which testdata/golden.mjs writes.
func TestGolden(t *testing.T) {
	doc, err := os.ReadFile("../../testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]json.RawMessage
	if err := json.Unmarshal(doc, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var text string
		if err := json.Unmarshal(row["text"], &text); err != nil {
			t.Fatal(err)
		}
		for name, e := range encodings {
			var want []int
			if err := json.Unmarshal(row[name], &want); err != nil {
				t.Fatal(err)
			}
			if got, err := e.IDs(t.Context(), text); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %.100q is %d, %v, want %d", name, text, got, err, want)
			}
		}
	}
	if len(rows) < 100 {
		t.Errorf("%d texts", len(rows))
	}
}
