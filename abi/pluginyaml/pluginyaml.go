// Package pluginyaml reads the manifest of a plugin from its plugin.yaml. Hosts and the author's kit read
// it here, and so do tests of plugins, which get the manifest without the
// sandbox:
//
//	m, err := pluginyaml.Read("plugin.yaml")
//	abitest.Run(t, m, &guesttest.Plugin{Plugin: plugin})
package pluginyaml

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/kagewasm/kagewasm/abi"
)

// MaxBytes is how long a manifest may be, as YAML or as JSON.
const MaxBytes = 256 << 10

// Read reads the manifest in a file. Errors are as in [Parse], and of code
// usage where the file cannot be read.
func Read(path string) (*abi.Manifest, error) {
	data, err := os.ReadFile(path)
	if err == nil {
		return Parse(path, data)
	}
	e := &abi.Error{Code: abi.CodeUsage, Op: "manifest", Phase: abi.PhaseLoad, Message: err.Error(), Err: err}
	if errors.Is(err, os.ErrNotExist) {
		e.Message = path + ": not found"
		e.Hint = "a plugin has a plugin.yaml, which says at least name, version, abi: 1 and hooks: [pre_compact]"
	}
	return nil, e
}

// Parse reads a plugin.yaml or a sidecar. name is the file's, for errors, which
// are of code bad_input and say "name:line:column: what". Unknown fields,
// duplicate keys, anchors, aliases and tags are errors; numbers and booleans
// are fine where a text belongs (version: 1.0).
func Parse(name string, data []byte) (*abi.Manifest, error) {
	y := newDoc(name)
	if len(data) > MaxBytes {
		return nil, y.fail(nil, fmt.Sprintf("%d bytes, %d allowed", len(data), MaxBytes))
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			return nil, y.fail(syntax.GetToken().Position, syntax.GetMessage())
		}
		return nil, y.fail(nil, err.Error())
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, y.fail(nil, "it has to hold one document, the manifest")
	}
	if err := y.value(file.Docs[0].Body, reflect.TypeFor[abi.Manifest](), "", 0); err != nil {
		return nil, err
	}
	m := new(abi.Manifest)
	if err := abi.DecodeStrict(y.json.Bytes(), m); err != nil {
		return nil, y.decodeError(err)
	}
	if err := m.Validate(); err != nil {
		return nil, y.invalid(abi.AsError(err))
	}
	return m, nil
}
