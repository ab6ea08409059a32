// Package features makes docs/features.md: what the project promises, row by
// row, and the tests that prove each.
//
// A test says itself what it proves, in its first statement:
//
//	features.Proves(t, "K9", "complaint 2")
//
// [Scan] reads that off the sources, so the list of tests is never older than
// they are. Whether they pass is known from running them: [Results.Check]
// refuses a run in which a test of the table failed or did not run, and one in
// which a row had no proof but skipped tests.
package features
