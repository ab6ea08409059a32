// Package archtest holds the project's layout by a test: which package may
// import which. The table stands in table_test.go; a new package needs a row
// there before it can be built on.
package archtest
