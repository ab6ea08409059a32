// Package reference counts with tiktoken-go: that is what tests compare counts with. It takes quadratic time on texts
// without a space.
package reference

import (
	"sync"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// IDs returns the tokens of text in the encoding of the name. Special tokens in it are plain text.
func IDs(encoding, text string) []int { return encodings[encoding]().EncodeOrdinary(text) }

var encodings = map[string]func() *tiktoken.Tiktoken{
	"o200k_base": load("o200k_base"), "cl100k_base": load("cl100k_base")}

func load(encoding string) func() *tiktoken.Tiktoken {
	return sync.OnceValue(func() *tiktoken.Tiktoken {
		offline.Do(func() { tiktoken.SetBpeLoader(loader.NewOfflineLoader()) })
		e, err := tiktoken.GetEncoding(encoding)
		if err != nil {
			panic("reference: " + err.Error())
		}
		return e
	})
}

var offline sync.Once
