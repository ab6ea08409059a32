// Package abitest is the conformance kit: call [Run] in a test, or [Rules] anywhere else. The rules say
// what every plugin has to do right, each with a name and an explanation that a failure quotes.
// [ReadManifest] gives the manifest that both hold the plugin to. They take anything that answers
// calls: a module loaded by the runtime, handlers run natively (abi/guest/guesttest), a fake.
//
//	func TestConformance(t *testing.T) {
//		abitest.Run(t, manifest, &guesttest.Plugin{Plugin: memory.Plugin})
//	}
//
// The rules ask what a host needs of a plugin: that it survives what real sessions look like, and that
// what it returns would pass the firewall. They do not ask whether what it remembers is any good.
// [NewInput] and [CheckOutput] hold the same rules over other sessions than the kit's own.
//
// The rules about knobs set them in the input. The runtime replaces those with the values it was
// configured with, so a module has to be loaded again for each configuration it is called with:
// kit/check does that, and adds what only a module can do wrong. [Rules] is for callers like that.
//
// Rules are only added. A plugin that passes today can fail a later version, which then names the rule.
package abitest
