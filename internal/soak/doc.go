// Package soak holds compaction against real sessions, replayed call by call
// through every strategy: nothing is ever lost, orphaned, forged or refused by
// a provider, whatever the model that writes summaries does. It has tests
// alone. `go test` runs a tenth of the grid, the same one each time, and all
// of it with KAGEWASM_SOAK=1.
package soak
