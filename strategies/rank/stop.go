package rank

import (
	_ "embed"
	"strings"

	"github.com/kagewasm/kagewasm/internal/set"
)

// stopList are the English words that say nothing of a text's matter, and
// what is left of didn't and the like.
//
//go:embed stop.txt
var stopList string

var stopWords = set.Of(strings.Fields(stopList)...)
