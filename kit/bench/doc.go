// Package bench measures one plugin: what its calls take of time, fuel, memory
// and host calls, on sessions of several sizes, and whether that is more than
// it was.
//
// [Run] measures, [Report.Encode] and [Read] keep a report as the baseline of
// later ones, and [Compare] says what became worse. Fuel, memory and bytes are
// the same on every machine and in every run, so they are compared exactly;
// times are not, so a difference counts that stands out of their spread.
//
// Every call finds an empty storage: what is measured is the plugin, not what
// it has stored so far.
package bench
