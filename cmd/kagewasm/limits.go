package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// limitValues are the limits that flags set, each by the name it has in a
// manifest.
func (f *pluginFlags) limitValues() (abi.Limits, error) {
	var fields, set []string
	for _, s := range f.limits {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return abi.Limits{}, ui.Usagef("--limit %s: write NAME=NUMBER", s)
		}
		if !slices.Contains(limitNames(), name) {
			return abi.Limits{}, ui.Usagef("--limit %s: no such limit: there are %s", s, strings.Join(limitNames(), ", "))
		}
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return abi.Limits{}, ui.Usagef("--limit %s: give a whole number", s)
		}
		if slices.Contains(set, name) {
			return abi.Limits{}, ui.Usagef("--limit %s: %s is set twice", s, name)
		}
		set = append(set, name)
		fields = append(fields, fmt.Sprintf("%q:%s", name, value))
	}
	var l abi.Limits
	if err := strictjson.Decode([]byte("{"+strings.Join(fields, ",")+"}"), &l); err != nil {
		return l, ui.Usagef("--limit %s: %w", strings.Join(f.limits, " --limit "), err)
	}
	return abi.Limits{TimeoutMS: f.timeout, MemoryMB: f.memory}.Or(l), nil
}

// limitNames are all limits, in the order of a manifest.
func limitNames() []string {
	names := []string{"fuel"}
	for name := range (abi.Limits{}).All() {
		names = append(names, name)
	}
	return names
}
