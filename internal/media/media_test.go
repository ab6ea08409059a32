package media_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/media"
)

// TestOf: whatever form a provider has for media, type and size are known of it, or
// where it can be had.
func TestOf(t *testing.T) {
	features.Proves(t, "complaint 6")
	data := strings.Repeat("QUJD", 1000) // 3,000 bytes
	for name, tc := range map[string]struct{ part, want string }{
		"Messages": {`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`,
			"image image/png, 3 KB"},
		"chat completions": {`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + data + `"}}`,
			"image image/jpeg, 3 KB"},
		"by address": {`{"type":"input_image","image_url":"https://x.example/a.png"}`,
			"image https://x.example/a.png"},
		"Gemini": {`{"type":"inlineData","inlineData":{"mimeType":"audio/wav","data":"` + data + `"}}`,
			"data audio/wav, 3 KB"},
		"a document with its title": {`{"type":"document","title":"plan.pdf","source":{"media_type":"application/pdf",` +
			`"data":"` +
			data + `"}}`, "document application/pdf plan.pdf, 3 KB"},
		"text":           {`{"type":"text","text":"` + data + `"}`, ""},
		"another object": {`{"type":"tool_reference","tool_name":"x"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var p abi.Part
			if err := json.Unmarshal([]byte(tc.part), &p); err != nil {
				t.Fatal(err)
			}
			m, ok := media.Of(p)
			if ok != (tc.want != "") || ok && m.String() != tc.want {
				t.Errorf("%v %q, want %q", ok, m, tc.want)
			}
		})
	}
}
