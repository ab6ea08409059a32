package abi

import "context"

// Model answers prompts: those of summaries, and those of plugins that are
// granted a model. Package models has implementations. Hosts and Go code use
// it; a guest asks through the host call model.complete.
//
// Implementations are safe for concurrent use and end soon after ctx does. A
// request that was too long fails with [CodeContextLength]. What a failed call
// used may be said in the response beside the error. An error in whose chain one
// has a method Final() bool that says true is not tried again with a shorter
// request: the key is refused, or nobody is there. A plugin sees only the
// code of an error, [CodeModel] where it is no [*Error]; the text is for the
// host.
type Model interface {
	Complete(ctx context.Context, r ModelRequest) (ModelResponse, error)
}
