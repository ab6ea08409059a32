package abi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/plainjson"
)

// Knob is one setting of a plugin that an operator can turn.
// Which fields apply depends on the type.
type Knob struct {
	Type        KnobType `json:"type"`
	Label       string   `json:"label,omitempty"`
	Description string   `json:"description,omitempty"`
	// Default is the value where none is set, and has to satisfy the knob.
	Default json.RawMessage `json:"default,omitempty"`
	// Min, Max and Step of range and int_range; Step 0 is any.
	Min  float64 `json:"min,omitempty"`
	Max  float64 `json:"max,omitempty"`
	Step float64 `json:"step,omitempty"`
	// Values of enum, and Labels to show for them.
	Values []string `json:"values,omitempty"`
	Labels []string `json:"labels,omitempty"`
	// MaxLength of text and multiline, in characters; 0 is 4,096.
	MaxLength int `json:"max_length,omitempty"`
}

// MarshalJSON writes the bounds of a range where they are 0, too.
func (k Knob) MarshalJSON() ([]byte, error) {
	type plain Knob // without this method
	if k.Type != KnobRange && k.Type != KnobIntRange {
		return plainjson.Marshal(plain(k))
	}
	return plainjson.Marshal(struct {
		plain
		Min float64 `json:"min"`
		Max float64 `json:"max"`
	}{plain(k), k.Min, k.Max})
}

// KnobType is the type of a knob's value.
type KnobType string

const (
	KnobRange      KnobType = "range"     // a number from Min to Max
	KnobIntRange   KnobType = "int_range" // a whole number from Min to Max
	KnobEnum       KnobType = "enum"      // one of Values
	KnobText       KnobType = "text"      // one line
	KnobMultiline  KnobType = "multiline"
	KnobBoolean    KnobType = "boolean"
	KnobModelAlias KnobType = "model_alias" // a model the operator has configured
	KnobPath       KnobType = "path"
)

const defaultTextLength = 4096

// Validate checks the knob's own definition.
func (k *Knob) Validate() error {
	switch k.Type {
	case KnobRange, KnobIntRange:
		if !(k.Min < k.Max) {
			return fmt.Errorf("min %v and max %v: min must be less", k.Min, k.Max)
		}
		if k.Type == KnobIntRange {
			for _, v := range []float64{k.Min, k.Max, k.Step} {
				if v != math.Trunc(v) {
					return fmt.Errorf("%v is not a whole number, and a value of %s is one", v, k.Type)
				}
			}
		}
		if k.Step < 0 || k.Step > k.Max-k.Min {
			return fmt.Errorf("step %v does not fit %v to %v", k.Step, k.Min, k.Max)
		}
	case KnobEnum:
		if len(k.Values) == 0 {
			return errors.New("an enum needs values")
		}
		for i, v := range k.Values {
			if slices.Contains(k.Values[:i], v) {
				return fmt.Errorf("values: %q stands there twice", v)
			}
		}
		if len(k.Labels) > 0 && len(k.Labels) != len(k.Values) {
			return fmt.Errorf("%d labels for %d values", len(k.Labels), len(k.Values))
		}
	case KnobText, KnobMultiline:
		if k.MaxLength < 0 {
			return fmt.Errorf("max_length %d is negative", k.MaxLength)
		}
	case KnobBoolean, KnobModelAlias, KnobPath:
	default:
		return fmt.Errorf("type %q: use range, int_range, enum, text, multiline, boolean, model_alias or path", k.Type)
	}
	if k.Default != nil {
		if err := k.Check(k.Default); err != nil {
			return fmt.Errorf("default: %w", err)
		}
	}
	return nil
}

// Check reports why raw is no value of this knob, or nil.
func (k *Knob) Check(raw json.RawMessage) error {
	if string(bytes.TrimSpace(raw)) == "null" {
		return errors.New("null is no value")
	}
	switch k.Type {
	case KnobRange, KnobIntRange:
		var v float64
		if json.Unmarshal(raw, &v) != nil {
			return fmt.Errorf("%s is not a number", raw)
		}
		if k.Type == KnobIntRange && v != math.Trunc(v) {
			return fmt.Errorf("%v is not a whole number", v)
		}
		if v < k.Min || v > k.Max {
			return fmt.Errorf("%v is not from %v to %v", v, k.Min, k.Max)
		}
		if k.Step > 0 {
			if steps := (v - k.Min) / k.Step; math.Abs(steps-math.Round(steps)) > 1e-6 {
				return fmt.Errorf("%v is not %v plus a multiple of %v", v, k.Min, k.Step)
			}
		}
	case KnobBoolean:
		var v bool
		if json.Unmarshal(raw, &v) != nil {
			return fmt.Errorf("%s is not true or false", raw)
		}
	default:
		var v string
		if json.Unmarshal(raw, &v) != nil {
			return fmt.Errorf("%s is not a text", raw)
		}
		return k.checkText(v)
	}
	return nil
}

func (k *Knob) checkText(v string) error {
	if k.Type == KnobEnum {
		if !slices.Contains(k.Values, v) {
			return fmt.Errorf("%q is not one of %s", v, strings.Join(k.Values, ", "))
		}
		return nil
	}
	limit := k.MaxLength
	limit = cmp.Or(limit, defaultTextLength)
	if n := utf8.RuneCountInString(v); n > limit {
		return fmt.Errorf("%d characters, %d allowed", n, limit)
	}
	if k.Type != KnobMultiline && strings.ContainsAny(v, "\r\n") {
		return errors.New("more than one line")
	}
	return nil
}

// Parse turns what a person typed into a value of the knob: JSON where it is a
// valid value as it stands, else text.
func (k *Knob) Parse(s string) (json.RawMessage, error) {
	raw := json.RawMessage(strings.TrimSpace(s))
	if json.Valid(raw) && k.Check(raw) == nil {
		return raw, nil
	}
	quoted, err := plainjson.Marshal(s)
	if err != nil {
		return nil, err
	}
	if err := k.Check(quoted); err != nil {
		if json.Valid(raw) {
			return nil, k.Check(raw)
		}
		return nil, err
	}
	return quoted, nil
}
