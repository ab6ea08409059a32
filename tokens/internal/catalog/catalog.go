// Package catalog is the document that holds the model catalog: what
// gencatalog writes and package tokens embeds.
package catalog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"github.com/goccy/go-json"
	"io"
	"strings"
	"time"
)

// Document is the whole catalog.
type Document struct {
	AsOf      string      `json:"as_of"` // the day the prices hold for, YYYY-MM-DD
	Sources   []Source    `json:"sources"`
	Providers []*Provider `json:"providers"`
}

// Source is a data set that the catalog was made from.
type Source struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	License string `json:"license"`
	Date    string `json:"date"`   // when it was published, YYYY-MM-DD
	SHA256  string `json:"sha256"` // of the package as published, in hex
}

// Provider is who serves models. Ids are in lower case, here and below.
type Provider struct {
	ID string `json:"id"`
	// Family matches the bare model names that are this provider's.
	Family *Rule `json:"family,omitempty"`
	// Fallbacks are the providers whose models it serves, too.
	Fallbacks []string `json:"fallbacks,omitempty"`
	Models    []*Model `json:"models"`
}

// Model is one model at one provider. Zero is unknown.
type Model struct {
	ID     string  `json:"id"`
	Match  *Rule   `json:"match,omitempty"` // other names of it
	Window int     `json:"window,omitempty"`
	Output int     `json:"output,omitempty"`
	Prices *Prices `json:"prices,omitempty"`
}

// Rates are input, output, cache read and cache write, in USD per million
// tokens.
type Rates [4]float64

// Prices are the rates of a request, and those that replace them for long ones.
type Prices struct {
	Rates Rates  `json:"rates"`
	Tiers []Tier `json:"tiers,omitempty"`
}

// Tier has the rates of requests with more than Above tokens of input.
type Tier struct {
	Above int   `json:"above"`
	Rates Rates `json:"rates"`
}

// Read unpacks a document and compiles its rules.
func Read(gz []byte) (*Document, error) {
	zr, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		return nil, err
	}
	doc := new(Document)
	if err := json.Unmarshal(text, doc); err != nil {
		return nil, err
	}
	return doc, doc.Compile()
}

// AsOf is the day that a document's prices hold for. It stands at the beginning, and nothing behind it is unpacked.
func AsOf(gz []byte) (string, error) {
	zr, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return "", err
	}
	const key = `{"as_of":"`
	var head [len(key) + len(time.DateOnly)]byte
	if _, err := io.ReadFull(zr, head[:]); err != nil {
		return "", err
	}
	day := strings.TrimPrefix(string(head[:]), key)
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return "", fmt.Errorf("the catalog begins with %q: %w", head, err)
	}
	return day, nil
}

// Write packs a document. The same document gives the same bytes.
func Write(doc *Document) ([]byte, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := zw.Write(text); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// Compile prepares all rules for [Rule.Matches].
func (d *Document) Compile() error {
	for _, p := range d.Providers {
		if err := p.Family.compile(); err != nil {
			return fmt.Errorf("%s: %w", p.ID, err)
		}
		for _, m := range p.Models {
			if err := m.Match.compile(); err != nil {
				return fmt.Errorf("%s: %s: %w", p.ID, m.ID, err)
			}
		}
	}
	return nil
}

// Find returns the model that id names, by its own id or else by the first
// rule that matches; nil if there is none.
func (p *Provider) Find(id string) *Model {
	for _, m := range p.Models {
		if m.ID == id {
			return m
		}
	}
	for _, m := range p.Models {
		if m.Match.Matches(id) {
			return m
		}
	}
	return nil
}
