package kagewasm_test

import (
	"context"
	"fmt"
	"log"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
	"github.com/kagewasm/kagewasm/tokens"
)

// listener is the smallest plugin: a module with a function pre_compact that returns 0,
// which is no failure, and says nothing. Without a manifest it is an observer.
var listener = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x05\x01\x60\x00\x01\x7f" + // a type: () -> i32
	"\x03\x02\x01\x00" + // a function of that type
	"\x07\x0f\x01\x0bpre_compact\x00\x00" + // its name outside
	"\x0a\x06\x01\x04\x00\x41\x00\x0b") // its code: i32.const 0

// Plugins are loaded once and take part in every compaction. What they may keep
// goes to a store, under capabilities the host grants.
func Example_plugins() {
	ctx := context.Background()
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		log.Fatal(err)
	}
	kv := kv.NewMemory(kv.Options{}) // or kv.Open(dir, ...)
	rt, err := runtime.New(ctx, runtime.Options{KV: kv, Counter: counter})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close(ctx)
	module, err := runtime.Open(listener) // or runtime.OpenFile("markdown.wasm", nil)
	if err != nil {
		log.Fatal(err)
	}
	plugin, err := rt.Load(ctx, module, runtime.PluginOptions{Grants: runtime.Grants{KV: true}})
	if err != nil {
		log.Fatal(err)
	}
	compactor, err := kagewasm.New(kagewasm.Options{Counter: counter, Plugins: []hooks.Plugin{plugin}, Memory: kv})
	if err != nil {
		log.Fatal(err)
	}

	messages := []abi.Message{{ID: "1", Role: abi.RoleUser, Content: abi.Text("Make the tests pass.")}}
	for i := range 60 {
		messages = append(messages, abi.Message{ID: fmt.Sprint(2 + i), Role: abi.RoleAssistant,
			Content: abi.Text("Another attempt at the tests of the store, which fail.")})
	}
	window := 600
	result, err := compactor.Compact(ctx, kagewasm.Request{Session: abi.Session{ID: "s1", ContextWindow: &window},
		Messages: messages})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range result.Report.Hooks {
		fmt.Println(h.Hook, h.Outcome)
	}
	for _, f := range result.Report.Retained {
		fmt.Println("retained:", f.Text)
	}
	// Output:
	// pre_compact nothing
}
