package archtest_test

import (
	"go/ast"
	"go/types"
	"slices"
	"testing"
)

// sink is a kind of output for which there is one way.
type sink struct {
	calls []string
	// in is where the rule holds; empty is everywhere. way is the package that
	// everybody else goes through.
	in, way string
	// except are packages that may all the same, and why.
	except map[string]string
}

var sinks = []sink{
	{
		calls: []string{"os.WriteFile", "os.Create", "os.CreateTemp", "os.Rename"}, way: "internal/atomicfile",
		except: map[string]string{
			"runtime/internal/sandbox":   "an entry of the cache is a folder, which gets its name as a whole",
			"internal/folder":            "an export is a folder, which gets its name as a whole",
			"tokens/internal/gencatalog": "go generate",
			"tokens/internal/genranks":   "go generate",
			"internal/features/gen":      "go generate",
		},
	},
	{
		calls: []string{"fmt.Print", "fmt.Printf", "fmt.Println", "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln"},
		in:    "cmd/kagewasm", way: "cmd/kagewasm/internal/ui",
	},
}

// TestOneWay: files are written whole or not at all, and a terminal is given nothing
// that was not made safe, because one package does it for all.
func TestOneWay(t *testing.T) {
	used := make(map[string]bool)
	for _, s := range sources(t, false) {
		for _, sink := range sinks {
			if s.dir == sink.way || sink.in != "" && s.dir != sink.in {
				continue
			}
			ast.Inspect(s.tree, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !slices.Contains(sink.calls, types.ExprString(call.Fun)) {
					return true
				}
				if used[s.dir] = true; sink.except[s.dir] == "" {
					t.Errorf("%s/%s:%d: %s: go through %s", s.dir, s.name, s.fset.Position(n.Pos()).Line,
						types.ExprString(call.Fun), sink.way)
				}
				return true
			})
		}
	}
	for _, sink := range sinks {
		for dir := range sink.except {
			if !used[dir] {
				t.Errorf("%s is excepted for nothing", dir)
			}
		}
	}
}
