package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kagewasm/kagewasm/internal/service"
)

// metrics are what Prometheus is told. No label is a client's to choose.
type metrics struct {
	registry *prometheus.Registry
	took     *prometheus.HistogramVec
}

func newMetrics(s *service.Service) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "kagewasm_http_request_seconds", Help: "How long requests took, by route and status.",
		Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, 1, 5, 30, 120},
	}, []string{"route", "status"})}
	m.registry.MustRegister(m.took, collectors.NewGoCollector(), newSums(s))
	m.registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) request(route string, status int, took time.Duration) {
	m.took.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// sums are counted by the service as it goes.
type sums struct {
	service     *service.Service
	open        *prometheus.Desc
	compactions *prometheus.Desc
	tokens      *prometheus.Desc
}

func newSums(s *service.Service) *sums {
	return &sums{service: s,
		open: prometheus.NewDesc("kagewasm_sessions_open", "Sessions that are kept open.", nil, nil),
		compactions: prometheus.NewDesc("kagewasm_compactions_total", "Compactions since the start, by how they ended.",
			[]string{"outcome"}, nil),
		tokens: prometheus.NewDesc("kagewasm_compacted_tokens_total", "Tokens that compactions took away since the start.",
			nil, nil)}
}

// Describe implements prometheus.Collector.
func (s *sums) Describe(c chan<- *prometheus.Desc) {
	c <- s.open
	c <- s.compactions
	c <- s.tokens
}

// Collect implements prometheus.Collector.
func (s *sums) Collect(c chan<- prometheus.Metric) {
	t := s.service.Totals()
	c <- prometheus.MustNewConstMetric(s.open, prometheus.GaugeValue, float64(t.Open))
	for outcome, n := range t.Compactions {
		c <- prometheus.MustNewConstMetric(s.compactions, prometheus.CounterValue, float64(n),
			strings.TrimPrefix(outcome, "compaction."))
	}
	c <- prometheus.MustNewConstMetric(s.tokens, prometheus.CounterValue, float64(t.TokensFreed))
}
