package runtime

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

var (
	outputKeys   = strictjson.Keys(abi.Output{})
	outputFields = topFields(abi.Output{})
)

func topFields(v any) map[string]bool {
	fields := make(map[string]bool)
	t := reflect.TypeOf(v)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = true
	}
	return fields
}

// CheckOutput says what a host would make of what a hook answered: warnings, and
// the error with which it would refuse it.
func CheckOutput(doc []byte) (warnings []string, err error) {
	_, warnings, err = decodeOutput(doc)
	return warnings, err
}

// decodeOutput reads what a hook answered. Nothing and null are a nil output.
// On an error there is no output: decoders leave half of one behind.
func decodeOutput(doc []byte) (out *abi.Output, warnings []string, err error) {
	doc = bytes.TrimSpace(doc)
	if len(doc) == 0 || bytes.Equal(doc, []byte("null")) {
		return nil, nil, nil
	}
	if err := strictjson.Check(doc, outputKeys); err != nil {
		return nil, nil, err
	}
	if doc[0] != '{' {
		return nil, nil, errors.New("json: neither an object nor null")
	}
	for _, key := range topKeys(doc) {
		if !outputFields[key] {
			warnings = append(warnings, fmt.Sprintf("output: unknown field %q is ignored", host.Shorten(key, 80)))
			if len(warnings) == maxListed {
				break
			}
		}
	}
	out, err = unmarshalOutput(doc)
	if err != nil {
		return nil, nil, err
	}
	if n := len(out.Messages) + len(out.Superseded) + len(out.AlwaysKeep); n > abi.MaxOutputIDs {
		return nil, nil, fmt.Errorf("json: it names %d messages, %d allowed", n, abi.MaxOutputIDs)
	}
	return out, warnings, nil
}

func unmarshalOutput(doc []byte) (out *abi.Output, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("json: %v", r)
		}
	}()
	out = new(abi.Output)
	if err := json.Unmarshal(doc, out); err != nil {
		return nil, typeError(doc, err)
	}
	return out, nil
}

// typeError says which field has the wrong type, which the fast decoder does
// not always know.
func typeError(doc []byte, err error) error {
	var typ *stdjson.UnmarshalTypeError
	if e := stdjson.Unmarshal(doc, new(abi.Output)); errors.As(e, &typ) {
		return fmt.Errorf(
			"json: %s: a %s, where a %s belongs (byte %d)",
			orThisOutput(strings.ReplaceAll(typ.Field, ".Message.", ".")), typ.Value, kindName(typ.Type), typ.Offset,
		)
	} else if e != nil {
		return e
	}
	return err
}

func orThisOutput(field string) string {
	if field == "" {
		return "the output"
	}
	return field
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	}
	return t.Kind().String()
}

// topKeys returns the keys of an object that [strictjson.Check] has accepted.
func topKeys(doc []byte) []string {
	var keys []string
	depth, isKey := 0, false
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '{', '[':
			depth++
			isKey = depth == 1
		case '}', ']':
			depth--
		case ',':
			isKey = depth == 1
		case '"':
			end := stringEnd(doc, i)
			if isKey {
				var key string
				if stdjson.Unmarshal(doc[i:end], &key) == nil {
					keys = append(keys, key)
				}
				isKey = false
			}
			i = end - 1
		}
	}
	return slices.Clip(keys)
}

// stringEnd is the index behind the string that begins at i.
func stringEnd(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(doc))
}
