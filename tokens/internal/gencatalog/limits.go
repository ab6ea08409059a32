package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

// piModel is what pi-ai says of a model.
type piModel struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Cost struct {
		piRates
		Tiers []struct {
			Above int `json:"inputTokensAbove"`
			piRates
		} `json:"tiers"`
	} `json:"cost"`
	Window int `json:"contextWindow"`
	Output int `json:"maxTokens"`
}

type piRates struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// piFiles names pi-ai's data files by the providers' ids in genai-prices,
// where they differ. Plans and proxies of pi-ai's own are left out.
var piFiles = map[string]string{
	"aws": "amazon-bedrock", "x-ai": "xai", "cloudflare": "cloudflare-workers-ai",
}

func addLimits(providers []*catalog.Provider, pkg *npmPackage) error {
	for _, p := range providers {
		name := p.ID
		if n, ok := piFiles[name]; ok {
			name = n
		}
		doc, ok := pkg.files[path.Join("dist/providers/data", name+".json")]
		if !ok {
			continue
		}
		models, err := readLimits(doc)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		merge(p, models)
	}
	return nil
}

// readLimits returns the chat models of a data file, by lower-case id.
func readLimits(doc []byte) (map[string]piModel, error) {
	var apis map[string]map[string]piModel
	if err := json.Unmarshal(doc, &apis); err != nil {
		return nil, err
	}
	models := make(map[string]piModel)
	for _, api := range slices.Sorted(maps.Keys(apis)) {
		for _, m := range apis[api] {
			if m.Type == "chat" {
				models[strings.ToLower(m.ID)] = m
			}
		}
	}
	return models, nil
}

// merge fills in what p's models lack, and adds those it does not have. Dated
// and otherwise longer names that p has a rule for are no models of their own;
// the shortest name speaks for the model.
func merge(p *catalog.Provider, models map[string]piModel) {
	ids := slices.SortedFunc(maps.Keys(models), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	var added []*catalog.Model
	for _, id := range ids {
		pm := models[id]
		m := p.Find(id)
		if m == nil {
			added = append(added, &catalog.Model{ID: id, Window: pm.Window, Output: pm.Output, Prices: pm.prices()})
			continue
		}
		m.Window = window(m.Window, pm.Window)
		if m.Output == 0 || m.ID == id {
			m.Output = pm.Output
		}
	}
	p.Models = append(p.Models, added...)
}

// window joins two statements of one window. Within a tenth they mean the same
// one and the unrounded number is it (1,000,000 and 1,048,576). Beyond that the
// second source means something else, where a price tier ends, say.
func window(a, b int) int {
	near := 10*max(a-b, b-a) <= a
	if a == 0 || near && a%1000 == 0 && b%1000 != 0 {
		return b
	}
	return a
}

func (pm *piModel) prices() *catalog.Prices {
	base := pm.Cost.rates()
	if base == (catalog.Rates{}) {
		return nil
	}
	p := &catalog.Prices{Rates: base}
	for _, t := range pm.Cost.Tiers {
		p.Tiers = append(p.Tiers, catalog.Tier{Above: t.Above, Rates: t.rates()})
	}
	return p
}

func (r piRates) rates() catalog.Rates {
	out := catalog.Rates{r.Input, r.Output, r.CacheRead, r.CacheWrite}
	for i := 2; i < 4; i++ {
		if out[i] == 0 {
			out[i] = r.Input
		}
	}
	return out
}
