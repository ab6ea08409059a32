package summarize_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/strategies/outline"
	"github.com/kagewasm/kagewasm/strategies/summarize"
)

func TestSmoke(t *testing.T) {
	cfg := summarize.Config{}
	f := &fake{}
	p := prepared(t, cfg)
	r := mustRun(t, f, p, cfg)
	t.Logf("%+v", r)
	t.Logf("%s", f.texts()[:3000])
	if m := outline.Handoff.Missing(r.Summary); m != nil {
		t.Error(m)
	}
}
