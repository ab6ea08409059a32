// Package check judges one plugin: the module itself, in the sandbox it will
// run in.
//
// [Verify] checks it by the rules of abi/abitest and by those that only a module
// can break: documents that are no input of a hook (none, null, an empty object,
// no JSON at all), fields of later versions, a host that grants nothing, answers
// that are the same from two fresh loads and whatever was called before, and cost
// that grows with the session and not with its square. The [Verdict] has the
// outcome of every rule, what is odd about the module and its manifest, and what
// the calls used of their limits; [Verdict.JUnit] writes it for a continuous
// build.
//
// [Bench] measures what calls take of time, fuel, memory and host calls, on
// sessions of several sizes. [Figures.Encode] and [ReadFigures] keep them as the
// baseline of later ones, and [Compare] says what became worse. Fuel, memory and
// bytes are the same on every machine and in every run, so they are compared
// exactly. Times are not: a difference counts where it stands out of their
// spread.
//
// What the plugin stores is in memory, and gone afterwards.
package check
