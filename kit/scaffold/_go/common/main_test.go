package main

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
)

// TestConformance holds the plugin to what every host expects.
func TestConformance(t *testing.T) {
	m, err := abitest.ReadManifest("plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	abitest.Run(t, m, &guesttest.Plugin{Plugin: plugin})
}

// TestAnswer: the answer to the fixture is the one beside it.
func TestAnswer(t *testing.T) {
	var in abi.Input
	var want abi.Output
	read(t, "fixtures/input.json", &in)
	read(t, "fixtures/output.json", &want)
	got, _, err := (&guesttest.Plugin{Plugin: plugin}).Call(t.Context(), &in)
	if err != nil || !reflect.DeepEqual(got, &want) {
		t.Errorf("answered %+v, %v\nwant %+v", got, err, &want)
	}
}

func read(t *testing.T, path string, v any) {
	t.Helper()
	doc, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(doc, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
