package server

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/internal/service"
)

// metrics are what Prometheus is told, in its text format: a client library would be a
// thirtieth of the program. No label is a client's to choose.
type metrics struct {
	service *service.Service
	begun   time.Time

	mu   sync.Mutex
	took map[requestKind]*histogram
}

type requestKind struct {
	route  string
	status int
}

// buckets are the upper bounds of the times of requests, in seconds.
var buckets = []float64{.001, .005, .01, .025, .05, .1, .25, 1, 5, 30, 120}

// histogram counts times, by the first bucket that takes one.
type histogram struct {
	counts [12]int // the last is for what no bucket takes
	sum    float64
}

func newMetrics(s *service.Service) *metrics {
	return &metrics{service: s, begun: time.Now(), took: make(map[requestKind]*histogram)}
}

func (m *metrics) request(route string, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.took[requestKind{route, status}]
	if h == nil {
		h = new(histogram)
		m.took[requestKind{route, status}] = h
	}
	at, _ := slices.BinarySearch(buckets, took.Seconds())
	h.counts[at]++
	h.sum += took.Seconds()
}

func (m *metrics) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		var b strings.Builder
		m.write(&b)
		_, _ = io.WriteString(w, b.String())
	})
}

// write writes all metrics, always in the same order.
func (m *metrics) write(w io.Writer) {
	m.requests(w)
	t := m.service.Totals()
	family(w, "kagewasm_sessions_open", "gauge", "Sessions that are kept open.")
	sample(w, "kagewasm_sessions_open", "", float64(t.Open))
	family(w, "kagewasm_compactions_total", "counter", "Compactions since the start, by how they ended.")
	for _, outcome := range slices.Sorted(maps.Keys(t.Compactions)) {
		sample(w, "kagewasm_compactions_total", labels("outcome", strings.TrimPrefix(outcome, "compaction.")),
			float64(t.Compactions[outcome]))
	}
	family(w, "kagewasm_compacted_tokens_total", "counter", "Tokens that compactions took away since the start.")
	sample(w, "kagewasm_compacted_tokens_total", "", float64(t.TokensFreed))
	var mem goruntime.MemStats
	goruntime.ReadMemStats(&mem)
	for _, g := range []struct {
		name, kind, help string
		value            float64
	}{
		{"go_goroutines", "gauge", "Goroutines that exist.", float64(goruntime.NumGoroutine())},
		{"go_memstats_heap_alloc_bytes", "gauge", "Bytes of the heap in use.", float64(mem.HeapAlloc)},
		{"go_memstats_sys_bytes", "gauge", "Bytes from the system.", float64(mem.Sys)},
		{"go_gc_cycles_total", "counter", "Garbage collections.", float64(mem.NumGC)},
		{"process_start_time_seconds", "gauge", "When the server began, in Unix time.", float64(m.begun.Unix())},
	} {
		family(w, g.name, g.kind, g.help)
		sample(w, g.name, "", g.value)
	}
}

func (m *metrics) requests(w io.Writer) {
	const name = "kagewasm_http_request_seconds"
	family(w, name, "histogram", "How long requests took, by route and status.")
	m.mu.Lock()
	defer m.mu.Unlock()
	kinds := slices.SortedFunc(maps.Keys(m.took), func(a, b requestKind) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.status, b.status))
	})
	for _, k := range kinds {
		h, n := m.took[k], 0
		of := []string{"route", k.route, "status", strconv.Itoa(k.status)}
		for i, count := range h.counts {
			n += count
			most := "+Inf"
			if i < len(buckets) {
				most = number(buckets[i])
			}
			sample(w, name+"_bucket", labels(append(of, "le", most)...), float64(n))
		}
		sample(w, name+"_sum", labels(of...), h.sum)
		sample(w, name+"_count", labels(of...), float64(n))
	}
}

func family(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func sample(w io.Writer, name, labels string, value float64) {
	fmt.Fprintf(w, "%s%s %s\n", name, labels, number(value))
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// labels are names and values in turn, in braces.
func labels(pairs ...string) string {
	list := make([]string, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, pairs[i]+`="`+escapeLabel.Replace(pairs[i+1])+`"`)
	}
	return "{" + strings.Join(list, ",") + "}"
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
