package models_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

// BenchmarkOverflow is the look at an error that is none of those looked for:
// every phrase is tried.
func BenchmarkOverflow(b *testing.B) {
	for name, text := range map[string]string{
		"short": "dial tcp: connection refused",
		"page":  strings.Repeat("input tokens exceed maximum context length is 1 (2 tokens) ", 1<<10),
	} {
		err := errors.New(text)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				models.TooLong(err)
			}
		})
	}
}

// BenchmarkComplete is a call with nobody to wait for: what the package takes of
// its own.
func BenchmarkComplete(b *testing.B) {
	for _, w := range wires {
		s := modeltest.New(b, modeltest.Answer{Text: strings.Repeat("a summary ", 400)})
		m, err := models.New(config(s, w))
		if err != nil {
			b.Fatal(err)
		}
		r := request(strings.Repeat("read the file ", 20_000))
		b.Run(string(w), func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Complete(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
