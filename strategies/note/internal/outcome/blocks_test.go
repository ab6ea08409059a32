package outcome_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// TestBlocks: failures that are told in several lines, or in a way of their own, and what only looks like them.
func TestBlocks(t *testing.T) {
	features.Proves(t, "N8", "I10")
	alone := map[string]string{ // why a check failed, where one line says it and no block does
		"a place above code": "TypeError: x", "includes": "src/b.h:5:2: warning: unused",
	}
	for _, tc := range []struct{ why, text, want string }{
		{"a file above its errors", "src/a.js\n  1:1  warning  x y  r\n  2:7  error  'x' is never used  r\n" +
			"  3:7  error  no z  r\n",
			"src/a.js / 2:7  error  'x' is never used  r / 3:7  error  no z  r"},
		{"no error below a file", "src/a.js\n  1:1  warning  An error is likely  r\n", ""},
		{"lines of a file that is shown", "src/a.js\n12  const x = 1\n13  return x\n", ""},
		{"a table", " Line   src/a.php\n ------\n  12     No such method.\n", "Line   src/a.php / 12     No such method."},
		{"what came before what was expected", "Sum is wrong\n  got: 1\n  want: 2\n", "Sum is wrong / got: 1 / want: 2"},
		{"one value alone", "Sum\n  expected: 2\n  and no more\n", ""},
		{"fields of an object", "code: 'X',\nactual: 1,\nexpected: 2,\n", ""},
		{"a place, and the message below", "a_test.cpp:7: Failure\nExpected equality of these values:\n  x\n" +
			"    Which is: 1\n  2\n",
			"a_test.cpp:7: Failure / Expected equality of these values: / x / Which is: 1 / 2"},
		{"a place alone", "a_test.php:7\n\nFAILURES!\n", ""},
		{"a place above code", "/w/a.js:7\n  throw x\n  ^\n\nTypeError: x\n", ""},
		{"includes", "In file included from src/a.c:3:\nsrc/b.h:5:2: warning: unused\n", ""},
		{"a host", "listening on example.com:80\nready\n", ""},
		{"frames", "at run (/w/a.ts:3:5)\nat main (/w/b.ts:1:1)\n", ""},
		{"an error that goes on", "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n",
			"AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: / 1 !== 2"},
		{"a test of Maven", "[INFO] Scanning\n[ERROR] Failures: \n[ERROR]   CartTest.merges:33 expected: <2> but was: <3>\n",
			"[ERROR]   CartTest.merges:33 expected: <2> but was: <3>"},
		{"a compiler under Maven", "[ERROR] /w/A.java:[12,8] cannot find symbol\n",
			"[ERROR] /w/A.java:[12,8] cannot find symbol"},
		{"a test of Gradle", "> Task :test FAILED\n\nCartTest > merges FAILED\n    Error at CartTest.java:33\n",
			"CartTest > merges FAILED / Error at CartTest.java:33"},
		{"a bundler", "vite v5\nerror during build:\nCould not resolve './x' from 'src/a.ts'\n",
			"error during build: / Could not resolve './x' from 'src/a.ts'"},
		{"a marked message", "e: file:///w/a.kt:3:5 Unresolved reference 'x'.\nw: file:///w/b.kt:3:5 Unused variable 'y'.\n",
			"e: file:///w/a.kt:3:5 Unresolved reference 'x'."},
		{"a search", "src/a.ts:3:const x = 1\nsrc/a.ts:9:use of x\n", ""},
		{"a log", "INFO server.go:12:\nready\n", ""},
		{"not more than three", strings.Repeat("e: file:///w/a.kt:3:5 Unresolved x.\ne: file:///w/a.kt:4:5 Unresolved y.\n"+
			"e: file:///w/a.kt:5:5 Unresolved z.\ne: file:///w/a.kt:6:5 Unresolved q.\n", 2),
			"e: file:///w/a.kt:3:5 Unresolved x. / e: file:///w/a.kt:4:5 Unresolved y. / e: file:///w/a.kt:5:5 Unresolved z."},
	} {
		t.Run(tc.why, func(t *testing.T) {
			lines := strings.Split(tc.text, "\n")
			var got []string
			for _, i := range outcome.Telling(lines) {
				got = append(got, strings.TrimSpace(lines[i]))
			}
			if s := strings.Join(got, " / "); s != tc.want {
				t.Errorf("%q, want %q", s, tc.want)
			}
			first, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(tc.want, "[ERROR]"), " "), " ")
			if reason := outcome.Reason(tc.text); tc.want == "" && reason != alone[tc.why] ||
				!strings.HasPrefix(reason, first) {
				t.Errorf("reason %q", reason)
			}
		})
	}
}

// TestPlaces: the line that says where an error is.
func TestPlaces(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, text, want string }{
		{"an arrow", "x\n ❯ src/a.test.ts:7:2\n", "❯ src/a.test.ts:7:2"},
		{"a module of Java", "x\nat app//org.junit.A.fail(A.java:1)\nat app//com.acme.B.c(B.java:7)\n",
			"at app//com.acme.B.c(B.java:7)"},
		{".NET", "x\n   at A.B() in /w/B.cs:line 7\n", "at A.B() in /w/B.cs:line 7"},
		{"Ruby", "x\n# /g/gems/r/a.rb:1:in `x'\n# ./spec/a_spec.rb:7:in `block'\n", "# ./spec/a_spec.rb:7:in `block'"},
		{"Terraform", "x\n│   on a.tf line 7, in resource \"b\" \"c\":\n", "│   on a.tf line 7, in resource \"b\" \"c\":"},
		{"a file alone", "x\n/w/aTest.php:7\n", "/w/aTest.php:7"},
		{"a step of a build", "x\nDockerfile:7\n", "Dockerfile:7"},
		{"a library from elsewhere", "x\nat f (https://jsr.io/a.ts:1:2)\nat file:///w/a.ts:7:3\n", "at file:///w/a.ts:7:3"},
		{"a host", "x\n127.0.0.1:8080\nexample.com:443\n", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			lines, got := strings.Split(tc.text, "\n"), ""
			if i := outcome.Place(lines, 0); i >= 0 {
				got = strings.TrimSpace(lines[i])
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestUntoldFailure: of a check whose harness says nothing of how it ended what it put out tells that it failed.
func TestUntoldFailure(t *testing.T) {
	features.Proves(t, "N8", "I4")
	const errors = "src/a.js\n  2:7  error  'x' is never used  r\n"
	for _, tc := range []struct {
		why, command, text string
		marks, want        bool
	}{
		{"a check", "npx eslint .", errors, false, true},
		{"one whose harness marks failures", "npx eslint .", errors, true, false},
		{"something else", "cat lint.txt", errors, false, false},
		{"one that warns", "npx eslint .", strings.ReplaceAll(errors, "error", "warning"), false, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			args, err := json.Marshal(map[string]string{"command": tc.command})
			if err != nil {
				t.Fatal(err)
			}
			h := outcome.Harness{Marks: tc.marks, GoOn: func() bool { return true }}
			o := h.Of(&abi.Message{Role: abi.RoleTool, Content: abi.Text(tc.text)},
				action.Of(&abi.ToolCall{Name: "bash", Arguments: string(args)}))
			if o.Failed != tc.want {
				t.Errorf("failed %v, want %v", o.Failed, tc.want)
			}
		})
	}
}
