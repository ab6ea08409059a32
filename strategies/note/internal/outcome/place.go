package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

// Compilers, interpreters and test runners say below an error where it is, and Python above it. Who goes on looks
// there first.

// maxFrames is how many lines from an error its place is looked for.
const maxFrames = 40

// Place returns the index of the line that says where the error of line at is, -1 where none does: the arrow of
// Rust, the frame of a stack that is nearest to the error and no library's, or a line that is a place and no more. Of
// what pytest sums up it stands above.
func Place(lines []string, at int) int {
	if sumsUp(strings.TrimSpace(lines[at])) {
		return raised(lines, at)
	}
	for i := at + 1; i < min(len(lines), at+1+maxFrames); i++ {
		if line := bare(lines[i]); isFrame(line) || isPlace(line) {
			return i
		}
	}
	if name := strings.TrimSpace(lines[at]); !namesError(name) {
		return -1
	}
	for i := at - 1; i >= max(0, at-maxFrames); i-- {
		line := strings.TrimSpace(lines[i])
		if strings.HasPrefix(line, `File "`) && strings.Contains(line, `", line `) && !isLibrary(line) {
			return i
		}
		if strings.HasPrefix(line, "Traceback ") {
			break
		}
	}
	return -1
}

// raised is the last line above one that says where pytest met an error: "src/a.py:9: ValueError".
func raised(lines []string, at int) int {
	for i := at - 1; i >= max(0, at-maxFrames); i-- {
		line := strings.TrimSpace(lines[i])
		if rest, plain, ok := located(clip.Head(line, maxError)); ok && plain && !isLibrary(line) {
			if name, ok := strings.CutPrefix(rest, ": "); ok && name != "" && !strings.ContainsAny(name, " \t") {
				return i
			}
		}
	}
	return -1
}

// isPlace reports whether a line says where something is, and no more: "--> src/a.rs:3:5", "❯ a.test.ts:3:5",
// "# ./a_spec.rb:3:in `block'", "on a.tf line 3, in resource", "Dockerfile:3".
func isPlace(line string) bool {
	if line == "" || len(line) > maxError || isLibrary(line) {
		return false
	}
	if strings.HasPrefix(line, "--> ") {
		return true
	}
	if rest, ok := strings.CutPrefix(line, "on "); ok { // of Terraform
		file, rest, ok := strings.Cut(rest, " line ")
		return ok && isFile(file) && clip.Digits(rest) > 0
	}
	marked := line
	for _, mark := range []string{"❯ ", "# "} {
		marked = strings.TrimPrefix(marked, mark)
	}
	rest, plain, ok := located(marked)
	switch {
	case !ok || !plain:
		return false
	case rest == "":
		return marked != line || strings.Contains(line, "/") || fileNames[line[:strings.IndexByte(line, ':')]]
	}
	return strings.HasPrefix(rest, ":in ") || strings.HasPrefix(rest, ": (")
}

// isFrame reports whether a line is the frame of a stack in a file of the project: "at run (/w/a.ts:3:5)" of
// JavaScript, "at a.B.run(B.java:12)" of Java, "at A.B.Run() in /w/B.cs:line 12" of .NET, "/w/a.go:41 +0x39c" of Go.
func isFrame(line string) bool {
	rest, called := strings.CutPrefix(line, "at ")
	if !called && !strings.HasPrefix(line, "/") || len(line) > maxError {
		return false
	}
	if called {
		_, own, module := strings.Cut(rest, "//") // "app//org.junit.Assertions.fail(…)"
		if module && strings.IndexByte(rest, '/') < strings.IndexByte(rest+":", ':') {
			rest = own
		}
		if isLibrary("at " + rest) {
			return false
		}
		if _, at, ok := strings.Cut(rest, ":line "); ok {
			return at != "" && clip.Digits(at) == len(at)
		}
		return hasLine(strings.TrimSuffix(rest, ")"))
	}
	file, _, _ := strings.Cut(line, " +0x") // of a call that is inlined there is none
	return !isLibrary(line) && hasLine(file) && strings.HasSuffix(file[:strings.LastIndexByte(file, ':')], ".go")
}

// hasLine reports whether a text ends with the number of a line in a file.
func hasLine(text string) bool {
	i := strings.LastIndexByte(text, ':')
	return i > 0 && i+1 < len(text) && clip.Digits(text[i+1:]) == len(text)-i-1 &&
		strings.IndexByte(text[:i], '.') >= 0
}

// libraries are parts of the places in stacks that are no project's.
var libraries = wordlist.Of("/node_modules/", "node:internal", "node:async_hooks", "(internal/", "/src/runtime/",
	"/src/testing/", "/src/reflect/", "site-packages/", "/lib/python", "<frozen ", "/rustc/", "at java.", "at jdk.",
	"at sun.", "at org.junit.", "at org.opentest4j.", "https://", "http://", "/gems/", "/vendor/", "/deps/")

func isLibrary(line string) bool { return libraries.In(line) }
