//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
)

// TestServeSettings: a setting that an operator gives holds from the next look on, in the next
// server too, until it is taken back; what the configuration would not take is refused.
func TestServeSettings(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	s := serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	s.do(t, "POST", "/sessions", map[string]any{"id": "a", "context_window": 100_000}, nil)
	s.do(t, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(40)}, nil)
	compacts := func() bool {
		var look service.Look
		s.do(t, "GET", "/sessions/a/context", nil, &look)
		return look.Report.Compacted
	}
	if compacts() {
		t.Fatal("it compacts by default")
	}
	set := func(name, value string) error {
		return s.Do(t.Context(), "PUT", "/settings", map[string]any{"values": map[string]string{name: value}}, nil)
	}
	for name, value := range map[string]string{"compaction.upper_threshold": "7", "compaction": "1", "none": "1"} {
		if err := set(name, value); abi.CodeOf(err) == "" || compacts() {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	if err := set("compaction.enabled", "false"); err != nil {
		t.Fatal(err)
	}
	s.interrupted(t)
	s = serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	var list struct{ Settings []service.Setting }
	s.do(t, "GET", "/settings", nil, &list)
	seen := false
	for _, one := range list.Settings {
		if one.Name == "compaction.enabled" {
			seen = one.Value == false && one.From == "set here" && one.Doc != ""
		} else if one.Set != "" {
			t.Errorf("%+v", one)
		}
	}
	if !seen {
		t.Errorf("%+v", list.Settings)
	}
	s.do(t, "DELETE", "/settings/compaction.enabled", nil, &list)
	s.do(t, "PUT", "/settings", map[string]any{"values": map[string]string{"compaction.upper_threshold": "0.004",
		"compaction.lower_threshold": "0.002"}}, nil)
	if !compacts() {
		t.Error("the threshold that was set does not hold")
	}
}
