package main

import (
	"bytes"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// TestLicences: an archive has the same licences whichever others are built with it.
func TestLicences(t *testing.T) {
	soak.Only(t, "it asks for what is linked on all platforms")
	r := release{root: shared.Root(t), work: t.TempDir()}
	if err := r.plugins(t.Context()); err != nil {
		t.Fatal(err)
	}
	var texts [2][]byte
	for i, list := range []string{"host", platforms} {
		r.targets = targetsOf(list)
		var err error
		if texts[i], err = r.licences(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("%d bytes for this platform, %d for all", len(texts[0]), len(texts[1]))
	}
}
