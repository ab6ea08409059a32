package extism_test

import (
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
)

// pre is the hook most tests use.
const pre = "pre_compact"

// secret is what must not be seen outside of a request.
const secret = "hunter2-correct-horse"

// engines are the names of the engines, the sandbox first.
var engines = []string{runtime.EngineNative, extism.Name}

// engineOf is the engine of a name.
func engineOf(name string) runtime.Engine {
	return interpreted(name, false)
}

// interpreted is engineOf, where a runtime that interprets would have it interpret
// as well.
func interpreted(name string, interpreter bool) runtime.Engine {
	if name == extism.Name {
		return extism.Engine{Interpreter: interpreter}
	}
	return nil
}
