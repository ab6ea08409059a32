package runtime_test

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
)

// pre is the hook most tests use.
const pre = "pre_compact"

// limitsFor are the limits of a call that is to end with the code: short where
// time is meant to run out.
func limitsFor(code abi.Code) abi.Limits {
	if code == abi.CodeDeadline {
		return abi.Limits{TimeoutMS: 100}
	}
	return abi.Limits{}
}

// engines are the names of the engines, the sandbox first.
var engines = []string{runtime.EngineNative, extism.Name}

// engineOf is the engine of a name.
func engineOf(name string) runtime.Engine {
	if name == extism.Name {
		return extism.Engine{}
	}
	return nil
}
