package wirecheck

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// faults collects what is wrong.
type faults []string

func (f *faults) add(at string, format string, args ...any) {
	*f = append(*f, at+": "+fmt.Sprintf(format, args...))
}

// read decodes a body; what cannot be decoded is the only fault.
func read(body []byte, into any) faults {
	if err := json.Unmarshal(body, into); err != nil {
		return faults{"body: " + err.Error()}
	}
	return nil
}

// parts is a content that is a string or a list of blocks.
type parts[B any] struct {
	set    bool // there is one, and it is not null
	isText bool
	text   string
	list   []B
}

func (p *parts[B]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	p.set = true
	if b[0] == '"' {
		p.isText = true
		return json.Unmarshal(b, &p.text)
	}
	return json.Unmarshal(b, &p.list)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// isSet reports whether there is a value other than null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

var (
	toolName   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	longName   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	plainID    = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	geminiName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)
)
