// Command pdk is the compactor of the benchmarks, written with encoding/json
// and Extism's go-pdk. Its types hold only what it needs, and take no content
// but text: no reader of these documents with encoding/json does less.
package main

import (
	"encoding/json"
	"strings"

	"github.com/extism/go-pdk"
)

type input struct {
	Messages []message `json:"messages"`
}

type message struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Content string `json:"content"`
	Pinned  bool   `json:"pinned"`
}

type output struct {
	Messages   []ref    `json:"messages"`
	Superseded []string `json:"superseded"`
	Summary    string   `json:"summary"`
}

type ref struct {
	Ref string `json:"ref"`
}

func main() {}

//go:wasmexport pre_compact
func preCompact() int32 {
	var in input
	if err := json.Unmarshal(pdk.Input(), &in); err != nil {
		pdk.SetError(err)
		return 1
	}
	doc, err := json.Marshal(compact(&in))
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	pdk.Output(doc)
	return 0
}

func compact(in *input) *output {
	out := &output{Messages: []ref{}}
	var summary strings.Builder
	summary.WriteString("Superseded:")
	half := len(in.Messages) / 2
	for i := range in.Messages {
		m := &in.Messages[i]
		if m.Pinned || i >= half {
			out.Messages = append(out.Messages, ref{m.ID})
			continue
		}
		out.Superseded = append(out.Superseded, m.ID)
		if m.Role == "user" {
			line, _, _ := strings.Cut(m.Content, "\n")
			summary.WriteString("\n- " + line[:min(len(line), 80)])
		}
	}
	out.Summary = summary.String()
	return out
}
