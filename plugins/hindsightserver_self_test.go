package plugins_test

import (
	"net/http"
	"slices"
	"testing"
)

// TestOwnRoutes: the routes for when there is no document are the document's.
func TestOwnRoutes(t *testing.T) {
	d := readDocument(t)
	if d == nil {
		return
	}
	all := d.routes()
	if len(all) < 50 {
		t.Errorf("%d routes", len(all))
	}
	for _, r := range ownRoutes {
		if !slices.Contains(all, r) {
			t.Errorf("%v is not of the document", r)
		}
		if hindsightHandlers[r.operation] == nil {
			t.Errorf("%s has no handler", r.operation)
		}
	}
	if len(hindsightHandlers) != len(ownRoutes) {
		t.Errorf("%d handlers for %d routes", len(hindsightHandlers), len(ownRoutes))
	}
}

// TestValidates: what is not of the API is told apart.
func TestValidates(t *testing.T) {
	d := readDocument(t)
	if d == nil {
		return
	}
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	for body, ok := range map[string]bool{
		`{"query":"what","budget":"low","include":{"entities":null}}`: true,
		`{"budget":"low"}`:                    false,
		`{"query":"what","budget":"much"}`:    false,
		`{"query":"what","max_tokens":"all"}`: false,
		`{"query":"what","max_token":10}`:     false,
		`{"query":"what"`:                     false,
	} {
		t.Run(body, func(t *testing.T) {
			if err := d.checkRequest("recall_memories", header, []byte(body)); (err == nil) != ok {
				t.Errorf("%v", err)
			}
		})
	}
	if d.checkRequest("recall_memories", nil, []byte(`{"query":"what"}`)) == nil ||
		d.checkRequest("get_version", header, []byte(`{}`)) == nil {
		t.Error("a body of no type, or where there is none, passes")
	}
	for body, ok := range map[string]bool{
		`{"results":[{"id":"1","text":"a"}]}`:         true,
		`{"results":[{"id":"1"}]}`:                    false,
		`{"results":[{"id":"1","text":"a","who":1}]}`: false,
		`[]`: false,
	} {
		t.Run(body, func(t *testing.T) {
			if err := d.checkAnswer("recall_memories", 200, []byte(body)); (err == nil) != ok {
				t.Errorf("%v", err)
			}
		})
	}
	if d.checkAnswer("recall_memories", 201, []byte(`{"results":[]}`)) == nil {
		t.Error("a status that the API does not have passes")
	}
}
