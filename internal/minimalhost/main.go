// Command minimalhost is the least that a host needs to compact with a plugin: a
// counter, a runtime, a module, a compactor. TestMinimalHost measures it.
//
//	minimalhost plugin.wasm < session.jsonl
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

func main() {
	ctx := context.Background()
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		log.Fatal(err)
	}
	rt, err := runtime.New(ctx, runtime.Options{Counter: counter})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close(ctx)
	module, err := runtime.OpenFile(os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	plugin, err := rt.Load(ctx, module, runtime.PluginOptions{})
	if err != nil {
		log.Fatal(err)
	}
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counter, Plugins: []hooks.Plugin{plugin}})
	if err != nil {
		log.Fatal(err)
	}
	req := kagewasm.Request{Session: abi.Session{ID: "s"}, Force: true}
	for dec := json.NewDecoder(os.Stdin); ; {
		var m abi.Message
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		req.Messages = append(req.Messages, m)
	}
	result, err := compactor.Compact(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Report.TokensBefore, "tokens became", result.Report.TokensAfter)
	for _, h := range result.Report.Hooks {
		fmt.Println(h.Hook, h.Outcome)
	}
}
