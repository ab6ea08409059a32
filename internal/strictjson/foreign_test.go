package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/strictjson"
)

func TestCheckForeignJSON(t *testing.T) {
	for _, c := range []struct {
		why, doc string
		offset   int // -1: accepted
	}{
		{"keys of other programs may differ in case alone", `{"files":{"README.md":1,"readme.md":2}}`, -1},
		{"the same key twice is ambiguous at any depth", `{"a":{"b":1,"b":2}}`, 15},
		{"the same key in another spelling too", `{"a":1,"\u0061":2}`, 15},
		{"a document ends where it ends", `{} {}`, 3},
		{"text is UTF-8", "{\"a\":\"\xff\"}", 6},
		{"nesting is bounded", strings.Repeat("[", strictjson.MaxDepth+1), strictjson.MaxDepth},
		{"a cut-off document is none", `{"a":`, 5},
	} {
		t.Run(c.why, func(t *testing.T) {
			err := strictjson.CheckForeign([]byte(c.doc))
			var fault *strictjson.Error
			switch {
			case c.offset < 0 && err != nil:
				t.Errorf("%s: %v", c.doc, err)
			case c.offset >= 0 && !errors.As(err, &fault):
				t.Errorf("%s: accepted", c.doc)
			case c.offset >= 0 && fault.Offset != c.offset:
				t.Errorf("%s: offset %d, want %d (%v)", c.doc, fault.Offset, c.offset, err)
			}
		})
	}
}
