package abi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update-promises", false, "add to testdata/promised.txt what documents have now")

// TestNothingIsTakenAway: what documents had in a release of this version of the ABI they still have, with the same
// type and the same values: a plugin may have been built for it. What came since is added with -update-promises.
func TestNothingIsTakenAway(t *testing.T) {
	const promises = "testdata/promised.txt"
	now := promised(t)
	before, err := os.ReadFile(promises)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(before)) {
		if line = strings.TrimSpace(line); line != "" && !now[line] {
			t.Errorf("%q is gone: plugins that were built for it have to go on. Put it back, or make a new version of the ABI",
				line)
		}
		now[line] = true
	}
	if *update {
		delete(now, "")
		lines := slices.Sorted(maps.Keys(now))
		if err := os.WriteFile(promises, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// promised are lines of all that the schemas say: the type of each field, and each value of an enumeration.
func promised(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("schema/*.json")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	lines := make(map[string]bool)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		promise(lines, strings.TrimSuffix(filepath.Base(file), ".json"), doc)
	}
	return lines
}

// promise adds the lines of a schema and of those in it.
func promise(lines map[string]bool, at string, schema map[string]any) {
	if ref, ok := schema["$ref"].(string); ok {
		lines[at+" is "+ref[strings.LastIndexByte(ref, '/')+1:]] = true
	}
	if kind := schema["type"]; kind != nil {
		lines[fmt.Sprintf("%s is %v", at, kind)] = true
	}
	for _, value := range list(schema["enum"]) {
		lines[fmt.Sprintf("%s may be %q", at, value)] = true
	}
	for _, group := range []string{"properties", "$defs"} {
		fields, _ := schema[group].(map[string]any)
		for name, field := range fields {
			under := at + "." + name
			if group == "$defs" {
				under = name
			}
			if sub, ok := field.(map[string]any); ok {
				promise(lines, under, sub)
			}
		}
	}
	for _, group := range []string{"items", "additionalProperties"} {
		if sub, ok := schema[group].(map[string]any); ok {
			promise(lines, at+"[]", sub)
		}
	}
	for _, group := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range list(schema[group]) {
			if sub, ok := one.(map[string]any); ok {
				promise(lines, at, sub)
			}
		}
	}
}

func list(v any) []any { l, _ := v.([]any); return l }
