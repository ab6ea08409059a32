// Package schemagen holds the JSON Schemas in abi/schema (draft 2020-12) to the
// Go types of package abi and their comments, from which they are made: one for
// every document that crosses between a host and its plugins. The package has
// tests alone. TestUpToDate makes the schemas again and compares them with the
// files; with -update, as go generate runs it, it writes the files.
//
// What reflection cannot see (a content is a string or a list, a manifest
// takes "role" too) stands in tweaks_test.go. What a document says beyond a
// schema, such as a knob's min being less than its max, is left to the host's
// checks: Validate of abi.Manifest and abi.Knob, and strictjson.Check, which
// refuses documents that two decoders would read differently.
package schemagen

//go:generate go test -count=1 -run ^TestUpToDate$ . -update
