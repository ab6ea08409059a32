//go:build wasip1

// Command json reads and writes a document of 64 KB with encoding/json, and
// asks nobody for anything: it runs on any engine.
package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

type message struct {
	ID      string            `json:"id"`
	Role    string            `json:"role"`
	Content string            `json:"content"`
	Tokens  int               `json:"tokens"`
	Meta    map[string]string `json:"meta,omitempty"`
}

var doc = func() []byte {
	var list []message
	for i := range 150 {
		list = append(list, message{
			ID: fmt.Sprintf("m%05d", i), Role: "assistant", Tokens: i,
			Content: strings.Repeat("It says \"no such file\" in pkg/run.go.\n", 8),
			Meta:    map[string]string{"tool": "run"},
		})
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return b
}()

//go:wasmexport pre_compact
func preCompact() int32 {
	for range 5 {
		var list []message
		if err := json.Unmarshal(doc, &list); err != nil {
			return 1
		}
		if b, err := json.Marshal(list); err != nil || len(b) != len(doc) {
			return 1
		}
	}
	return 0
}

func main() {}
