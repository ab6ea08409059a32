// Package runtime loads plugins (WebAssembly modules) and calls their hooks in
// a sandbox. It is the only package of the host that knows a WebAssembly
// engine.
//
// Start with [New], then [Runtime.Load] or [Runtime.LoadFile]; [Plugin.Call]
// runs a hook. A caller that wants to know what a module is before it trusts
// it reads [Plugin.Info]. A [Reloader] is a plugin whose module can be replaced
// while sessions go on.
//
// What a plugin gets: the input of the call, the bulk calls of
// abi.ImportModule, the calls of the Extism ABI (any Extism PDK module loads),
// and WASI without files, environment, arguments, network or a clock that
// runs. Everything beyond computing is a capability: the manifest has to ask
// and the operator to grant.
//
// What is refused at load, before the engine sees a byte: what is no module,
// imports that are not known or have another signature, hooks with another
// signature, more memory or larger tables than allowed, exports with names of
// the host's, and what would take too long to compile. The errors are
// [abi.Error]s of code refused (the module) or bad_input (its manifest).
//
// Every call runs in an instance of its own, which is thrown away afterwards:
// nothing leaks from one call, session or tenant into another. What has to
// last goes through [KV]. A guest that initializes itself does so in its first
// call. Later instances are copies of what it was then, a few of them made
// ahead of the calls; a guest that could tell is started anew for every call.
//
// The limits of [abi.Limits] hold over instantiation and call together, and the
// cause of a stop is what the host recorded, never what the guest says of
// itself.
//
// What leaves the host, HTTP requests and completions, can be recorded and
// replayed behind all grants and limits: see [Tape].
//
// There is a second engine, Extism's own SDK: see [EngineExtism]. Answers,
// error codes, logs and host calls are the same on both, but for what
// docs/engines.md lists.
//
// This package has the name of the standard one on purpose, it being the
// plugins' runtime; import the standard one as goruntime where both are
// needed.
package runtime
