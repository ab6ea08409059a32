// Package features makes docs/features.md: what the project promises, row by
// row, and the tests that prove each.
//
// A test says itself which rows it proves: in its name (TestK9K10Units,
// TestComplaint5Giants), in its doc comment or a comment in it ("(complaint 8,
// N8)", "FEATURES K20", "A11: ..."), or in the column row of its table of cases.
// What a failure says claims nothing. [Scan] reads that off the sources, so the
// list of tests is never older than they are.
//
// Whether they pass is known from running them. [Results.Check] refuses a run
// in which a test of the table failed, was skipped or did not run: a table that
// was written is one whose tests all passed.
package features
