// Package hosttest has what tests of a host share: sessions whose tokens are
// their words, plugins that answer with functions, and a compactor with a clock
// that stands still.
package hosttest
