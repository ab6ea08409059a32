package runtime

import (
	"encoding/json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/sandbox"
)

// EngineNative is the name of this package's own engine, the sandbox.
const EngineNative = sandbox.Name

// Engine compiles modules and runs their calls. What it is given is internal to
// the runtime, so there are two: the sandbox of this package, which nobody has to
// name, and the one in package runtime/extism.
type Engine interface{ host.Engine }

// Describe returns an engine for programs that want to know what a module is, and do not call it. It
// checks the module as the sandbox does and does not compile it: compiling takes most of the time of
// loading, and is of no use while nobody trusts the module. Calls fail.
func Describe() Engine { return sandbox.Describer{} }

// Cassette stands between a plugin and the network: it is asked to answer the host
// calls that leave the host, http and model.complete, once grants and limits have
// let them pass. One that records makes the call and keeps the answer; one that
// replays answers from what was recorded, and nothing leaves the host. The other
// ops need none: what they answer depends on the input, the storage and the
// tokenizer alone.
//
// It is safe for concurrent use.
type Cassette interface {
	// Answer answers one call. request is the document of the op's type, as the
	// guest sent it: placeholders of secrets, and no values. live makes the
	// call, and returns what the guest would get: secrets are cut out of it. An
	// answer counts like any other, an error in it is the guest's to handle.
	Answer(op abi.Op, request json.RawMessage, live func() abi.HostResponse) abi.HostResponse
}
