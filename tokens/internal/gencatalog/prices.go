package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

//go:embed extract.mjs
var extract string

// gpProvider and gpModel are what genai-prices says.
type gpProvider struct {
	ID         string    `json:"id"`
	ModelMatch gpMatch   `json:"model_match"`
	Fallbacks  []string  `json:"fallback_model_providers"`
	Models     []gpModel `json:"models"`
}

type gpModel struct {
	ID     string          `json:"id"`
	Match  gpMatch         `json:"match"`
	Window int             `json:"context_window"`
	Prices json.RawMessage `json:"prices"`
}

// readPrices takes the prices that hold on the day asOf.
func readPrices(p *npmPackage, asOf string) ([]*catalog.Provider, error) {
	cmd := exec.Command("node", "--input-type=module", "--eval", extract)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(p.files["dist/index.js"]), os.Stderr
	doc, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	var in []gpProvider
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, err
	}
	var out []*catalog.Provider
	for _, gp := range in {
		pr := &catalog.Provider{ID: gp.ID, Fallbacks: gp.Fallbacks}
		if pr.Family, err = gp.ModelMatch.rule(); err != nil {
			return nil, fmt.Errorf("%s: %w", gp.ID, err)
		}
		for _, gm := range gp.Models {
			m, err := gm.model(asOf)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", gp.ID, gm.ID, err)
			}
			if m != nil {
				pr.Models = append(pr.Models, m)
			}
		}
		out = append(out, pr)
	}
	return out, nil
}

// model returns nil for what answers with no text: embeddings, speech.
func (gm *gpModel) model(asOf string) (*catalog.Model, error) {
	m := &catalog.Model{ID: strings.ToLower(gm.ID), Window: gm.Window}
	var err error
	if m.Match, err = gm.Match.rule(); err != nil {
		return nil, err
	}
	if r := m.Match; r != nil && len(r.Equal) == 1 && r.Equal[0] == m.ID {
		if r.Equal = nil; r.Empty() {
			m.Match = nil
		}
	}
	var text bool
	m.Prices, text, err = pricesOn(gm.Prices, asOf)
	if err != nil || !text {
		return nil, err
	}
	return m, nil
}

// gpPrices are prices by unit: a number, or a base with tiers.
type gpPrices map[string]json.RawMessage

// pricesOn takes the last of several dated prices that has begun, and the
// dearest of several times of the day. text is whether text is sold at all;
// prices are nil where it is given away.
func pricesOn(doc json.RawMessage, asOf string) (p *catalog.Prices, text bool, err error) {
	var variants []struct {
		Constraint struct {
			StartDate string `json:"start_date"`
			StartTime string `json:"start_time"`
		} `json:"constraint"`
		Prices gpPrices `json:"prices"`
	}
	if doc[0] != '[' {
		var one gpPrices
		if err := json.Unmarshal(doc, &one); err != nil {
			return nil, false, err
		}
		return one.prices()
	}
	if err := json.Unmarshal(doc, &variants); err != nil {
		return nil, false, err
	}
	for _, v := range variants {
		if v.Constraint.StartDate > asOf {
			continue
		}
		q, sold, err := v.Prices.prices()
		if err != nil {
			return nil, false, err
		}
		text = text || sold
		if v.Constraint.StartTime != "" && p != nil && q != nil && q.Rates[0] < p.Rates[0] {
			continue
		}
		p = q
	}
	return p, text, nil
}

type gpTier struct {
	Start int     `json:"start"`
	Price float64 `json:"price"`
}

func (g gpPrices) unit(key string) (base float64, tiers []gpTier, err error) {
	doc, ok := g[key]
	if !ok {
		return 0, nil, nil
	}
	if doc[0] != '{' {
		return base, nil, json.Unmarshal(doc, &base)
	}
	var t struct {
		Base  float64  `json:"base"`
		Tiers []gpTier `json:"tiers"`
	}
	err = json.Unmarshal(doc, &t)
	return t.Base, t.Tiers, err
}

// prices reads the four units in the order of rates. A unit that has no price
// of its own costs what input does.
func (g gpPrices) prices() (p *catalog.Prices, text bool, err error) {
	if len(g) == 0 {
		return nil, true, nil
	}
	if g["input_mtok"] == nil || g["output_mtok"] == nil {
		return nil, false, nil
	}
	p = &catalog.Prices{}
	above := make(map[int]int) // start -> index in p.Tiers
	for i, key := range []string{"input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"} {
		if g[key] == nil {
			key = "input_mtok"
		}
		base, tiers, err := g.unit(key)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", key, err)
		}
		p.Rates[i] = base
		for _, t := range tiers {
			if _, ok := above[t.Start]; !ok {
				above[t.Start] = len(p.Tiers)
				p.Tiers = append(p.Tiers, catalog.Tier{Above: t.Start})
			}
			p.Tiers[above[t.Start]].Rates[i] = t.Price
		}
	}
	for i := range p.Tiers {
		for j, r := range p.Tiers[i].Rates {
			if r == 0 { // this unit has no such tier
				p.Tiers[i].Rates[j] = p.Rates[j]
			}
		}
	}
	return p, true, nil
}

// gpMatch is the matching language of genai-prices.
type gpMatch struct {
	Or         []gpMatch `json:"or"`
	And        []gpMatch `json:"and"`
	Equals     string    `json:"equals"`
	StartsWith string    `json:"starts_with"`
	EndsWith   string    `json:"ends_with"`
	Contains   string    `json:"contains"`
	Regex      string    `json:"regex"`
}

func (g *gpMatch) rule() (*catalog.Rule, error) {
	r := &catalog.Rule{}
	if err := g.into(r); err != nil {
		return nil, err
	}
	if r.Empty() {
		return nil, nil
	}
	if not := r.Not; not != nil {
		if r.Not = nil; !r.Empty() {
			return nil, errors.New("a negation beside alternatives")
		}
		r.Not = not
	}
	return r, nil
}

// into adds g to the alternatives of r.
func (g *gpMatch) into(r *catalog.Rule) error {
	add := func(list *[]string, s string) {
		if s != "" {
			*list = append(*list, strings.ToLower(s))
		}
	}
	add(&r.Equal, g.Equals)
	add(&r.Prefix, g.StartsWith)
	add(&r.Suffix, g.EndsWith)
	add(&r.Contains, g.Contains)
	for i := range g.Or {
		if err := g.Or[i].into(r); err != nil {
			return err
		}
	}
	if len(g.And) > 0 {
		all := &catalog.Rule{}
		for i := range g.And {
			sub, err := g.And[i].rule()
			if err != nil {
				return err
			}
			all.All = append(all.All, sub)
		}
		r.Any = append(r.Any, all)
	}
	return g.regex(r)
}

func (g *gpMatch) regex(r *catalog.Rule) error {
	expr := g.Regex
	if expr == "" {
		return nil
	}
	if rest, ok := strings.CutPrefix(expr, `^(?!.*`); ok {
		r.Not = &catalog.Rule{Regexp: []string{"(?i)" + strings.TrimSuffix(rest, ")")}}
		expr = ""
	} else if rest, ok := strings.CutPrefix(expr, `^(?![^/]+/)`); ok {
		// Names with a slash are taken apart before they are matched.
		expr = "^" + rest
	}
	for _, e := range []string{expr, notExpr(r)} {
		if _, err := regexp.Compile(e); err != nil {
			return fmt.Errorf("regex %s: %w", g.Regex, err)
		}
	}
	if expr != "" {
		r.Regexp = append(r.Regexp, "(?i)"+expr)
	}
	return nil
}

func notExpr(r *catalog.Rule) string {
	if r.Not == nil {
		return ""
	}
	return r.Not.Regexp[0]
}
