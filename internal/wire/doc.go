// Package wire reads and writes the documents that a guest exchanges with its
// host, as encoding/json would, at many times its speed: reflection is slow in
// WebAssembly, and a hook's input is most of what a guest reads.
//
// [Unmarshal] and [Marshal] stand in for those of encoding/json for the types
// of abi named there, and for no others. The differences:
//
//   - What was read shares memory with the document: texts without escapes and
//     raw values point into it. The document must not be changed afterwards.
//   - Documents that package abi refuses are refused here, where encoding/json
//     takes them: a field of the ABI twice, a field in another case, raw values
//     nested over [strictjson.MaxDepth].
//   - A raw value is written as it is, once it was found to be JSON;
//     encoding/json drops the white space.
//
// How it works: fields are tables of names and functions (a test holds them
// against the tags in abi), tried in the order in which hosts write them.
// How texts and numbers are written is in internal/jsonlex.
package wire
