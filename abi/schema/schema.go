// Package schema holds the JSON Schemas (draft 2020-12) of every document that
// crosses between a kagewasm host and its plugins. They are generated from the
// types of package abi; [FS] holds them by file name, such as "input.json".
//
// A schema says which documents are well formed. A host checks more than that:
// see Validate of abi.Manifest and abi.Knob, and strictjson.Check, which refuses
// documents that two decoders would read differently.
package schema

import "embed"

//go:generate go run ../../internal/schemagen/cmd ..

// FS holds the schemas.
//
//go:embed *.json
var FS embed.FS
