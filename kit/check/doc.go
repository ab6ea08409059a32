// Package check judges one plugin: [Verify] checks a module, in the sandbox it will run in, and returns
// a [Verdict].
//
// It checks the module by the rules of abi/abitest and by those that only a module can break: documents
// that are no input of a hook (none, null, an empty object, no JSON at all), fields of later versions,
// a host that grants nothing, answers that are the same from two fresh loads and whatever was called
// before, and cost that grows with the session and not with its square. The Verdict has the outcome of
// every rule, what is odd about the module and its manifest, and what the calls used of their limits;
// [Verdict.JUnit] writes it for a continuous build.
//
// What the plugin stores is in memory, and gone afterwards.
package check
