// Package runtime loads plugins (WebAssembly modules) and calls their hooks in a
// sandbox. Open a module, load a plugin, call a hook:
//
//	module, err := runtime.Open(bytes)                  // reads it; nothing runs
//	plugin, err := rt.Load(ctx, module, runtime.PluginOptions{})
//	output, stats, err := plugin.Call(ctx, input)
//
// [New] makes the [Runtime], with the storage, the token counter and the model that
// its plugins may ask for. [Open] and [OpenFile] read a module once and give its
// manifest; a [Module] can be loaded many times. [Runtime.Load] says what a plugin is
// granted, how it is configured and how much of everything a call may take. Who
// wants to know what a module is before trusting it reads [Plugin.Info]. A [Reloader]
// is a plugin whose module can be replaced while sessions go on.
//
// A guest gets the input of the call, the bulk calls of abi.ImportModule, the calls
// of the Extism ABI (any Extism PDK module loads), and WASI without files,
// environment, arguments, network or a clock that runs. Everything beyond computing
// is a capability: the manifest asks, the operator grants.
//
// Some modules are refused before the engine sees a byte: what is no module; unknown
// imports, or with another signature; hooks with another signature; more memory or
// larger tables than allowed; exports with names of the host's; what would take too
// long to compile. The errors are [abi.Error]s of code refused (the module) or
// bad_input (its manifest).
//
// Every call runs in an instance of its own, which is thrown away afterwards: nothing
// leaks from one call, session or tenant into another. What must last goes through
// [Options.KV]. A guest initializes itself in its first call. Later instances are
// copies of what it was then, a few of them made ahead of the calls; a guest that
// could tell the difference is started for every call.
//
// Limits are [abi.Limits], in [PluginOptions] and in the manifest. They hold over
// instantiation and call together, and the cause of a stop is what the host recorded,
// never what the guest says of itself. Fuel is charged inside of the guest, by checks that
// runtime/internal/meter/charge.go writes into its code; runtime/internal/sandbox/fuel.go
// hands it out and stops a guest that has none left. Memory is one budget for the guest
// and what the host holds for it.
//
// Host calls are in runtime/internal/host: a new one is a file there and a line in
// operations.go. What leaves the host, HTTP requests and completions, can be recorded
// and replayed behind all grants and limits: see [Cassette].
//
// There is a second engine, Extism's own SDK, in package runtime/extism. Answers, error
// codes, logs and host calls are the same on both, but for what docs/engines.md lists.
//
// This package has the name of the standard one on purpose, being the plugins'
// runtime; import the standard one as goruntime where both are needed.
package runtime
