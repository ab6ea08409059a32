package plugins_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/evidence"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
	"github.com/kagewasm/kagewasm/tokens"
)

// BenchmarkRecall asks each question of shared conversations twice, through hindsight and of the native ranking, in
// turn, and reports how many times the processor time of the one is of the other, and what 100 KB take to retain.
func BenchmarkRecall(b *testing.B) {
	for _, tc := range []struct {
		name, dir string
		widest    bool // as eval recall asks, for many more turns than an agent is given
	}{{"locomo", "locomo", false}, {"locomo, widest", "locomo", true}, {"over 400 KB", "longmemeval", false},
		{"over 400 KB, widest", "longmemeval", true}} {
		paths := shared.Glob(b, "data", tc.dir, "*.json")
		list, err := evidence.Read(paths[:min(2, len(paths))]...)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				measureRecall(b, list, tc.widest)
			}
		})
	}
}

func measureRecall(b *testing.B, list []evidence.Dataset, widest bool) {
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		b.Fatal(err)
	}
	m, err := runtime.OpenFile(plugintest.GuestFile(b, "plugins/hindsight"), pluginyaml.Parse)
	if err != nil {
		b.Fatal(err)
	}
	folder, err := kv.Open(filepath.Join(b.TempDir(), "kv"), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	r, err := runtime.New(b.Context(), runtime.Options{KV: folder, Counter: counter, CacheDir: plugintest.CacheDir(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close(context.Background())
	o := runtime.PluginOptions{Grants: plugintest.GrantAll(m.Manifest()), Config: abi.Config{}}
	if widest {
		o.Config["recall_max_tokens"] = json.RawMessage("100000")
	}
	p, err := r.Load(b.Context(), m, o)
	if err != nil {
		b.Fatal(err)
	}
	var retaining, asked, native []time.Duration
	bytes := 0
	for i := range list {
		d := &list[i]
		plugin, ranking := evidence.NewPlugin(p, counter, d.ID), new(evidence.Ranking)
		bytes += d.TextBytes()
		for k := range d.Sessions {
			took, _ := cost.Of(func() { err = plugin.Retain(b.Context(), &d.Sessions[k]) })
			if retaining = append(retaining, took); err != nil {
				b.Fatal(err)
			}
			if err := ranking.Retain(b.Context(), &d.Sessions[k]); err != nil {
				b.Fatal(err)
			}
		}
		ask := func(m evidence.Memory, q *evidence.Question, took *[]time.Duration) {
			best := time.Hour
			for range 2 {
				d, _ := cost.Of(func() { _, err = m.Recall(b.Context(), q) })
				if best = min(best, d); err != nil {
					b.Fatal(err)
				}
			}
			*took = append(*took, best)
		}
		for k := range d.Questions {
			ask(plugin, &d.Questions[k], &asked)
			ask(ranking, &d.Questions[k], &native)
		}
	}
	total := time.Duration(0)
	for _, d := range retaining {
		total += d
	}
	slices.Sort(asked)
	slices.Sort(native)
	at := func(list []time.Duration, part int) float64 { return list[len(list)*part/100].Seconds() * 1e3 }
	b.ReportMetric(at(asked, 50), "ms-p50")
	b.ReportMetric(at(native, 50), "native-ms-p50")
	b.ReportMetric(at(asked, 50)/at(native, 50), "times-p50")
	b.ReportMetric(at(asked, 99), "ms-p99")
	b.ReportMetric(at(native, 99), "native-ms-p99")
	b.ReportMetric(at(asked, 99)/at(native, 99), "times-p99")
	b.ReportMetric(total.Seconds()*1e3/(float64(bytes)/100e3), "ms/100KB")
}
