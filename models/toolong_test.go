package models_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/models"
)

// archive reads error bodies: of each what its line says, and the body.
func archive(t testing.TB, name string) []txtar.File {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil || len(a.Files) == 0 {
		t.Fatalf("%s: %d bodies, %v", name, len(a.Files), err)
	}
	return a.Files
}

// compacting and trying again needs to know which errors that can
// fix.
func TestContextLengthOfRealBodies(t *testing.T) {
	features.Proves(t, "K3")
	for _, f := range archive(t, "too_long.txtar") {
		provider, rest, _ := strings.Cut(f.Name, " | ")
		figures, source, _ := strings.Cut(rest, " | ")
		t.Run(provider, func(t *testing.T) {
			var unit string
			var want abi.Exceeded
			if _, err := fmt.Sscanf(figures, "%s %d > %d", &unit, &want.Tokens, &want.Limit); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			want.Bytes = unit == "bytes"
			err := errors.New(string(f.Data))
			if got, ok := models.TooLong(err); !ok || got != want {
				t.Errorf("%+v, %v; want %+v (%s)\n%s", got, ok, want, source, f.Data)
			}
			if _, ok := models.TooLong(fmt.Errorf("turn 7: %w", err)); !ok {
				t.Error("not seen through a wrapper")
			}
		})
	}
}

func TestContextLengthOfLookalikes(t *testing.T) {
	for _, f := range archive(t, "lookalikes.txtar") {
		t.Run(f.Name, func(t *testing.T) {
			if got, ok := models.TooLong(errors.New(string(f.Data))); ok {
				t.Errorf("taken for a request that does not fit (%+v)\n%s", got, f.Data)
			}
		})
	}
	if _, ok := models.TooLong(nil); ok {
		t.Error("no error: taken for one")
	}
}

func TestContextLengthByCode(t *testing.T) {
	words := "prompt is too long: 208310 tokens > 200000 maximum"
	for code, want := range map[abi.Code]bool{
		abi.CodeContextLength: true,
		abi.CodeModel:         true, // the words decide
		abi.CodeInternal:      true,
		abi.CodeRateLimited:   false,
		abi.CodeExceedsWindow: false, // the compactor's own, which compacting cannot fix
		abi.CodeCanceled:      false,
	} {
		t.Run(string(code), func(t *testing.T) {
			err := fmt.Errorf("call: %w", &abi.Error{Code: code, Message: words})
			if _, got := models.TooLong(err); got != want {
				t.Errorf("the code with the words of it: %v, want %v", got, want)
			}
		})
	}
	bare := &abi.Error{Code: abi.CodeContextLength, Message: "does not fit"}
	if x, ok := models.TooLong(bare); !ok || x != (abi.Exceeded{}) {
		t.Errorf("the code without numbers: %+v, %v", x, ok)
	}
}

func TestOverflowIsBounded(t *testing.T) {
	page := strings.Repeat("<p>tokens 1 </p>", 1<<20)
	if _, ok := models.TooLong(errors.New(page + "prompt is too long")); ok {
		t.Error("words behind 16 MB of something else count")
	}
	if _, ok := models.TooLong(errors.New("prompt is too long " + page)); !ok {
		t.Error("words in front of 16 MB of something else do not count")
	}
	huge := "prompt is too long: 99999999999999999999 tokens > 200000 maximum"
	if x, ok := models.TooLong(errors.New(huge)); !ok || x.Tokens != 0 || x.Limit != 200000 {
		t.Errorf("a number that is none: %+v, %v", x, ok)
	}
}

func FuzzOverflow(f *testing.F) {
	for _, seed := range append(archive(f, "too_long.txtar"), archive(f, "lookalikes.txtar")...) {
		f.Add(string(seed.Data))
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, ok := models.TooLong(errors.New(s))
		if !ok && x.Tokens+x.Limit != 0 {
			t.Errorf("numbers of no overflow: %+v", x)
		}
		if x.Tokens < 0 || x.Limit < 0 {
			t.Errorf("less than nothing: %+v", x)
		}
	})
}
