package session_test

import (
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestPluginsSearchTheSession: in each hook a plugin that is granted it finds what earlier
// compactions superseded, with the compaction that did, and nothing that the model still
// sees; one that is not granted it cannot ask.
func TestPluginsSearchTheSession(t *testing.T) {
	features.Proves(t, "N9")
	asked := make(map[abi.Hook][]abi.Recalled)
	ask := func(in *abi.Input) (*abi.Output, error) {
		r, err := in.Search(t.Context(), abi.SearchRequest{Query: "pkg/step3/run.go", Limit: 3})
		if err != nil {
			return nil, err
		}
		asked[in.Hook] = r.Found
		return nil, nil
	}
	not := func(in *abi.Input) (*abi.Output, error) {
		if in.Search != nil {
			t.Errorf("%s: a plugin that is not granted it can search", in.Hook)
		}
		return nil, nil
	}
	c := newCompactor(t, kagewasm.Options{Plugins: plugins(
		&fakePlugin{Name: "may", Pre: ask, Post: ask, Turn: ask, Grants: []abi.Capability{abi.CapMessagesSearch}},
		&fakePlugin{Name: "not", Pre: not, Post: not, Turn: not})})
	s := open(t, c, 400, chat(60))
	first, err := s.Compact(t.Context(), kagewasm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if found := asked[abi.HookPreCompact]; len(found) > 0 {
		t.Errorf("before anything went it found %+v", found)
	}
	if err := s.Append(t.Context(), renamed(chat(20)[2:], "x")...); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.EndOfTurn(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, hook := range abi.Hooks {
		t.Run(string(hook), func(t *testing.T) {
			found := asked[hook]
			if len(found) == 0 || len(found) > 3 {
				t.Fatalf("%d found", len(found))
			}
			piece := found[0].Pieces[len(found[0].Pieces)-1]
			if piece.Message != "t3" || !strings.Contains(piece.Text, "pkg/step3/run.go") ||
				piece.Compaction != first.Record.ID {
				t.Errorf("found %+v", piece)
			}
		})
	}
}
