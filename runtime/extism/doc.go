// Package extism is a second engine for plugins: pass an [Engine], whose zero value is ready, as the
// engine in runtime.PluginOptions. It is there to cross-check the sandbox: answers, error codes, logs
// and host calls are the same, except for what docs/engines.md lists.
//
// It is upstream's engine, github.com/extism/go-sdk: its kernel keeps the memory of the Extism ABI, and
// it starts and calls the guest. The bulk calls and all that a guest can reach outside of itself are
// those of the sandbox.
//
// It is for trusted plugins. It counts memory, and keeps the time limit where the guest lets it. It
// counts neither fuel nor the stack nor tables. A module that the sandbox refuses before it compiles is
// refused here too.
package extism
