package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/evidence"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/plugins/hindsight/memory"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
	"github.com/kagewasm/kagewasm/tokens"
)

// either is a plugin twice over one store: in the sandbox, and in the process of the host. Calls go to one of them.
type either struct{ *runtime.Plugin }

// loadEither loads hindsight twice over a store.
func loadEither(b *testing.B, store abi.KV, counter abi.Counter, config abi.Config) (sandbox, inside *runtime.Plugin) {
	m, err := runtime.OpenFile(plugintest.GuestFile(b, "plugins/hindsight"), pluginyaml.Parse)
	if err != nil {
		b.Fatal(err)
	}
	r := plugintest.New(b, runtime.Options{KV: store, Counter: counter, CacheDir: plugintest.CacheDir(b)})
	load := func(e runtime.Engine) *runtime.Plugin {
		p, err := r.Load(b.Context(), m, runtime.PluginOptions{
			Grants: plugintest.GrantAll(m.Manifest()), Config: config, Engine: e,
		})
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	return load(nil), load(inProcess{memory.Plugin})
}

// conversations are the first two shared ones of a benchmark.
func conversations(b *testing.B, dir string) []evidence.Dataset {
	paths := shared.Glob(b, "data", dir, "*.json")
	list, err := evidence.Read(paths[:min(2, len(paths))]...)
	if err != nil {
		b.Fatal(err)
	}
	return list
}

func counter(b *testing.B) abi.Counter {
	c, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkRecall asks each question of shared conversations, in turn, through hindsight in the sandbox (ms), through
// the same code in the process of the host over the same store (code), and of the native ranking, which has its index
// in memory (native). It reports the processor time of each, and how many times the first is of the others.
func BenchmarkRecall(b *testing.B) {
	for _, tc := range []struct {
		name, dir string
		widest    bool // as eval recall asks, for many more turns than an agent is given
	}{{"locomo", "locomo", false}, {"locomo, widest", "locomo", true}, {"over 400 KB", "longmemeval", false},
		{"over 400 KB, widest", "longmemeval", true}} {
		list := conversations(b, tc.dir)
		config := abi.Config{}
		if tc.widest {
			config["recall_max_tokens"] = json.RawMessage("100000")
		}
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				measureRecall(b, list, config)
			}
		})
	}
}

func measureRecall(b *testing.B, list []evidence.Dataset, config abi.Config) {
	folder, err := kv.Open(filepath.Join(b.TempDir(), "kv"), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	counter := counter(b)
	sandboxed, inside := loadEither(b, folder, counter, config)
	took := make(map[string][]time.Duration)
	var retaining time.Duration
	bytes := 0
	for i := range list {
		d := &list[i]
		called := &either{sandboxed}
		plugin, ranking := evidence.NewPlugin(called, counter, d.ID), new(evidence.Ranking)
		bytes += d.TextBytes()
		for k := range d.Sessions {
			took, _ := cost.Of(func() { err = plugin.Retain(b.Context(), &d.Sessions[k]) })
			if retaining += took; err != nil {
				b.Fatal(err)
			}
			if err := ranking.Retain(b.Context(), &d.Sessions[k]); err != nil {
				b.Fatal(err)
			}
		}
		ask := func(what string, m evidence.Memory, q *evidence.Question) (found []evidence.Passage) {
			best := time.Hour
			for range 2 {
				d, _ := cost.Of(func() { found, err = m.Recall(b.Context(), q) })
				if best = min(best, d); err != nil {
					b.Fatal(err)
				}
			}
			took[what] = append(took[what], best)
			return found
		}
		for k := range d.Questions {
			q := &d.Questions[k]
			called.Plugin = sandboxed
			found := ask("", plugin, q)
			called.Plugin = inside
			if got := ask("code-", plugin, q); !reflect.DeepEqual(got, found) {
				b.Fatalf("%q: in the process of the host it recalls otherwise", q.Text)
			}
			ask("native-", ranking, q)
		}
	}
	reportRecall(b, took)
	b.ReportMetric(retaining.Seconds()*1e3/(float64(bytes)/100e3), "ms/100KB")
}

func reportRecall(b *testing.B, took map[string][]time.Duration) {
	for _, part := range []int{50, 99} {
		at := make(map[string]float64)
		for what, list := range took {
			slices.Sort(list)
			at[what] = list[len(list)*part/100].Seconds() * 1e3
			b.ReportMetric(at[what], fmt.Sprintf("%sms-p%d", what, part))
		}
		b.ReportMetric(at[""]/at["code-"], fmt.Sprintf("x-code-p%d", part))
		b.ReportMetric(at[""]/at["native-"], fmt.Sprintf("x-native-p%d", part))
	}
}

// BenchmarkRetain retains the beginning of shared conversations in one call, in turn in the sandbox and through the
// same code in the process of the host, each in an empty bank in memory.
func BenchmarkRetain(b *testing.B) {
	for _, dir := range []string{"locomo", "longmemeval"} {
		list := conversations(b, dir)
		for _, size := range []int{25_000, 50_000, 100_000, 200_000, 400_000} {
			if size > list[0].TextBytes() {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d KB", strings.TrimSuffix(dir, "eval"), size/1000), func(b *testing.B) {
				s := beginning(&list[0], size)
				var took [2][]time.Duration
				counter := counter(b)
				var plugins [2]*runtime.Plugin
				store := kv.NewMemory(kv.Options{})
				plugins[0], plugins[1] = loadEither(b, store, counter, nil)
				for n := 0; b.Loop(); n++ {
					for i, p := range plugins {
						m := evidence.NewPlugin(p, counter, fmt.Sprintf("bank/%d/%d", i, n))
						d, _ := cost.Of(func() {
							if err := m.Retain(context.Background(), s); err != nil {
								b.Fatal(err)
							}
						})
						took[i] = append(took[i], d)
					}
				}
				b.ReportMetric(slices.Min(took[0]).Seconds()*1e3, "least-ms")
				b.ReportMetric(slices.Min(took[1]).Seconds()*1e3, "code-least-ms")
				for i := range took {
					slices.Sort(took[i])
				}
				b.ReportMetric(took[0][len(took[0])/2].Seconds()*1e3, "median-ms")
				b.ReportMetric(took[1][len(took[1])/2].Seconds()*1e3, "code-median-ms")
			})
		}
	}
}

// beginning is the first turns of a conversation, about size bytes, as one session.
func beginning(d *evidence.Dataset, size int) *evidence.Session {
	s := &evidence.Session{ID: "s1", Date: d.Sessions[0].Date}
	for i := range d.Sessions {
		for _, t := range d.Sessions[i].Turns {
			if size -= len(t.Text()); size < 0 {
				return s
			}
			s.Turns = append(s.Turns, t)
		}
	}
	return s
}
