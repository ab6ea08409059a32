package runtime_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/retained"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// TestDeletedWithItsCopy: a memory that a plugin deletes is gone with the copy that the host
// has of it. Copies of what it did not delete stay, also of what another key says.
func TestDeletedWithItsCopy(t *testing.T) {
	features.Proves(t, "K28")
	copyOf := func(text string) string {
		doc, _ := json.Marshal(retained.Fact{Text: text, Session: "s"})
		return string(doc)
	}
	port, depot := retained.Key("The port is 4007."), retained.Key("The depot closes at six.")
	start := map[string]string{
		"asks notes/port.md":  "- [rule] The port is 4007. (2026-11-01)\n- and more",
		"asks notes/depot.md": "The depot closes at six.",
		"asks " + port:        copyOf("The port is 4007."), "asks " + depot: copyOf("The depot closes at six."),
		"asks retained/odd.json": "no document", "other " + port: copyOf("The port is 4007."),
	}
	for key, gone := range map[string][]string{
		"notes/port.md": {"asks notes/port.md", "asks " + port}, "none": nil, port: {"asks " + port},
	} {
		t.Run(key, func(t *testing.T) {
			kv := plugintest.Owned("asks", maps.Clone(start))
			request, _ := json.Marshal(abi.KVRequest{Key: key})
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{KV: kv}),
				wasmtest.HostCall(pre, string(abi.OpKVDelete), string(request)), keeperOptions())
			doc, _ := json.Marshal(plugintest.HookInput())
			if out, _, err := p.CallRaw(context.Background(), pre, doc); err != nil {
				t.Fatalf("%s, %v", out, err)
			}
			for at := range start {
				if _, there := kv.Data[at]; there == slices.Contains(gone, at) {
					t.Errorf("%s: there %v", at, there)
				}
			}
		})
	}
}
