package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/types"
	"testing"
)

// TestCaseNames: a case that fails is found by its name, which a place in a
// table does not give it.
func TestCaseNames(t *testing.T) {
	for _, s := range sources(t, true) {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && numbered(call) {
				t.Errorf("%s/%s:%d: %s is named by a number: say what the case is, or what the number counts",
					s.dir, s.name, s.fset.Position(n.Pos()).Line, types.ExprString(call.Fun))
			}
			return true
		})
	}
}

// numbered reports whether a call runs a test or a benchmark whose name is one
// printed value and nothing else.
func numbered(run *ast.CallExpr) bool {
	method, ok := run.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Run" || len(run.Args) != 2 {
		return false
	}
	name, ok := run.Args[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	switch types.ExprString(name.Fun) {
	case "strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint":
		return true
	case "fmt.Sprint":
		return len(name.Args) == 1
	case "fmt.Sprintf":
		format := types.ExprString(name.Args[0])
		return format == `"%d"` || format == `"%v"`
	}
	return false
}

// TestNumbered: the look itself, at calls that are written here.
func TestNumbered(t *testing.T) {
	for call, want := range map[string]bool{
		`t.Run(fmt.Sprint(i), f)`:                       true,
		`b.Run(fmt.Sprint(c.size), f)`:                  true,
		`t.Run(strconv.Itoa(len(doc)), f)`:              true,
		`t.Run(fmt.Sprintf("%d", i), f)`:                true,
		`t.Run(fmt.Sprintf("seed %d", i), f)`:           false,
		`t.Run(fmt.Sprint(c.name, c.params), f)`:        false,
		`t.Run(string(hook), f)`:                        false,
		`t.Run(c.name, f)`:                              false,
		`t.Log(fmt.Sprint(i), f)`:                       false,
		`cmd.Run()`:                                     false,
		`run(fmt.Sprint(i), f)`:                         false,
		`t.Run(strings.TrimSpace(fmt.Sprint(a, b)), f)`: false,
	} {
		t.Run(call, func(t *testing.T) {
			expr, err := parser.ParseExpr(call)
			if err != nil {
				t.Fatal(err)
			}
			if got := numbered(expr.(*ast.CallExpr)); got != want {
				t.Errorf("numbered %v, want %v", got, want)
			}
		})
	}
}
