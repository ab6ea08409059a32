package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/runtime"
)

// TestPluginsSearch: a guest that is granted it searches what was superseded, within limits;
// the answer says where it is from. In a dry run too: a search changes nothing.
func TestPluginsSearch(t *testing.T) {
	features.Proves(t, "N9")
	guest := plugintest.GoGuest(t, "runtime/testdata/searcher")
	r := plugintest.New(t, runtime.Options{CacheDir: plugintest.CacheDir(t)})
	found := func(_ context.Context, r abi.SearchRequest) (abi.SearchResponse, error) {
		if r.Query != "the port" {
			return abi.SearchResponse{}, nil
		}
		return abi.SearchResponse{Found: []abi.Recalled{{Score: 1, Pieces: []abi.Excerpt{
			{Message: "m7", Role: abi.RoleUser, Compaction: "cmp-1", Text: "The port is 8443.", Length: 17, End: 17}}}}}, nil
	}
	for _, tc := range []struct {
		name         string
		search       abi.Search
		granted      bool
		query        string
		limit, times int
		dry          bool
		want         string // of what it keeps
		code         abi.Code
	}{
		{name: "found", search: found, granted: true, query: "the port", want: "m7 by cmp-1: The port is 8443."},
		{name: "in a dry run", search: found, granted: true, query: "the port", dry: true,
			want: "m7 by cmp-1: The port is 8443."},
		{name: "nothing found", search: found, granted: true, query: "the colour"},
		{name: "a host that keeps nothing", granted: true, query: "the port"},
		{name: "not granted", search: found, query: "the port", code: abi.CodeDenied},
		{name: "no query", search: found, granted: true, query: " ", code: abi.CodeUsage},
		{name: "a query that is too long", search: found, granted: true, query: strings.Repeat("x", 2001),
			code: abi.CodeQuota},
		{name: "too many results", search: found, granted: true, query: "the port", limit: 21, code: abi.CodeQuota},
		{name: "too often", search: found, granted: true, query: "the colour", times: 65, code: abi.CodeQuota},
		{name: "as often as it may", search: found, granted: true, query: "the colour", times: 64},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := plugintest.Asks(abi.CapMessagesSearch)
			m.Knobs = map[string]abi.Knob{"query": {Type: abi.KnobText}, "limit": {Type: abi.KnobIntRange, Max: 100},
				"times": {Type: abi.KnobIntRange, Max: 100}}
			p := plugintest.MustLoad(t, r, guest, runtime.PluginOptions{Manifest: m,
				Grants: runtime.Grants{MessagesSearch: tc.granted},
				Config: abi.Config{"query": fmt.Appendf(nil, "%q", tc.query), "limit": fmt.Append(nil, tc.limit),
					"times": fmt.Append(nil, max(1, tc.times))}})
			in := plugintest.HookInput()
			in.Search, in.Trigger.DryRun = tc.search, tc.dry
			out, _, err := p.Call(t.Context(), in)
			if tc.code != "" {
				if err == nil || !strings.Contains(err.Error(), string(tc.code)) {
					t.Errorf("%v, want %s", err, tc.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if tc.want != "" {
				want = []string{tc.want}
			}
			if out != nil && !slices.Equal(out.Retain, want) || out == nil && want != nil {
				t.Errorf("it keeps %+v, want %q", out, want)
			}
		})
	}
}
