package check_test

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/kit/check"
	"github.com/kagewasm/kagewasm/runtime"
)

// A plugin is verified in the tests of its own project.
func ExampleVerify() {
	const manifest = `{"name":"quiet","version":"1","abi":1,"description":"Says nothing.","hooks":["pre_compact"]}`
	module, err := runtime.Open(wasmtest.WithManifest(wasmtest.Nothing("pre_compact"), manifest))
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict, err := check.Verify(context.Background(), module, check.VerifyOptions{Rules: []string{"null", "isolation"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rule := range verdict.Rules {
		fmt.Println(rule.Rule, rule.Outcome)
	}
	// Output:
	// null kept
	// isolation kept
}
