package demo_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestDemoUnits: the demo has what makes grouping hard in real logs.
func TestDemoUnits(t *testing.T) {
	features.Proves(t, "K9")
	s := load(t, "demo.jsonl")
	units, _ := abi.Units(s.msgs)
	several, made := 0, make(map[string]int)
	for _, u := range units {
		if len(u) > 2 {
			several++
		}
	}
	for i := range s.msgs {
		for _, c := range s.msgs[i].ToolCalls {
			made[c.ID]++
		}
	}
	reused := 0
	for _, n := range made {
		if n > 1 {
			reused++
		}
	}
	calls, results := abi.Orphans(s.msgs)
	if len(units) < 60 || several < 15 || reused != 1 || len(calls) != 1 || len(results) != 0 {
		t.Errorf("%d units, %d of several calls, %d ids used again, calls without a result %v, results without a call %v",
			len(units), several, reused, calls, results)
	}
}

// TestDemoHead: the demo begins as real logs do, with an entry that is no
// message of a person before the ones that are pinned.
func TestDemoHead(t *testing.T) {
	features.Proves(t, "K10")
	s := load(t, "demo.jsonl")
	pins := abi.Pinned(s.msgs)
	if s.msgs[0].Kind != abi.KindMeta || pins[0] {
		t.Errorf("the first entry is of kind %q, pinned %v", s.msgs[0].Kind, pins[0])
	}
	if s.msgs[1].Role != abi.RoleSystem || !s.msgs[2].IsPerson() || !pins[1] || !pins[2] {
		t.Errorf("then %s and %s, pinned %v", s.msgs[1].Role, s.msgs[2].Role, pins[1:3])
	}
}

func TestDemoTurns(t *testing.T) {
	s := load(t, "demo.jsonl")
	persons, failed, last := 0, 0, time.Time{}
	for i := range s.msgs {
		m := &s.msgs[i]
		at, err := time.Parse(time.RFC3339, m.Timestamp)
		if err != nil || at.Before(last) || at.Format(time.DateOnly) != "2026-03-14" {
			t.Errorf("%s: %s after %v (%v)", m.ID, m.Timestamp, last, err)
		}
		last = at
		if m.IsPerson() {
			persons++
		}
		if m.IsError {
			failed++
		}
	}
	if persons < 10 || failed < 10 || last.Hour() < 16 {
		t.Errorf("%d messages of a person, %d failed calls, the end at %v", persons, failed, last)
	}
}

// TestDemoTools: what is called is what the first line describes.
func TestDemoTools(t *testing.T) {
	s := load(t, "demo.jsonl")
	schemas, used := make(map[string]*jsonschema.Schema), make(map[string]int)
	for _, tl := range s.tools {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tl.Parameters))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(tl.Name, doc); err != nil {
			t.Fatal(err)
		}
		if schemas[tl.Name], err = c.Compile(tl.Name); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.msgs {
		for _, call := range s.msgs[i].ToolCalls {
			used[call.Name]++
			var args any
			if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
				t.Fatalf("%s: %v", s.msgs[i].ID, err)
			}
			if schemas[call.Name] == nil {
				t.Fatalf("%s calls %s, which is not described", s.msgs[i].ID, call.Name)
			}
			if err := schemas[call.Name].Validate(args); err != nil {
				t.Errorf("%s: %s: %v", s.msgs[i].ID, call.Name, err)
			}
		}
	}
	if len(schemas) != 6 || len(used) != 6 {
		t.Errorf("%d tools are described, %d used", len(schemas), len(used))
	}
}

var lineNumber = regexp.MustCompile(`^\s*\d+\t`)

// TestDemoNoFiller: nothing is there to fill space. Nothing is said or printed
// twice, and of the lines of any length most stand there once; code is read and
// edited, so it cannot be all.
func TestDemoNoFiller(t *testing.T) {
	s := load(t, "demo.jsonl")
	texts, prose, lines := make(map[string]string), make(map[string]string), make(map[string]int)
	for i := range s.msgs {
		m := &s.msgs[i]
		if earlier, ok := texts[m.Text()]; ok && len(m.Text()) > 80 {
			t.Errorf("%s says what %s says", m.ID, earlier)
		}
		texts[m.Text()] = m.ID
		for _, line := range strings.Split(m.Text(), "\n") {
			line = strings.TrimSpace(lineNumber.ReplaceAllString(line, ""))
			if len(line) < 40 {
				continue
			}
			if earlier, ok := prose[line]; ok && m.Role != abi.RoleTool {
				t.Errorf("%s repeats %s: %s", m.ID, earlier, line)
			}
			if m.Role != abi.RoleTool {
				prose[line] = m.ID
			}
			lines[line]++
		}
	}
	total, repeated := 0, 0
	for line, n := range lines {
		total += n
		repeated += n - 1
		if n > 6 {
			t.Errorf("%d times: %s", n, line)
		}
	}
	if repeated*4 > total {
		t.Errorf("%d of %d lines repeat another", repeated, total)
	}
}
