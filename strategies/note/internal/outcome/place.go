package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Compilers, interpreters and test runners say below an error where it is, and Python above it. Who goes on looks
// there first.

// maxFrames is how many lines from an error its place is looked for.
const maxFrames = 40

// Place returns the index of the line that says where the error of line at is, -1 where none does: the arrow of
// Rust, or the frame of a stack that is nearest to the error and no library's.
func Place(lines []string, at int) int {
	for i := at + 1; i < min(len(lines), at+1+maxFrames); i++ {
		if line := strings.TrimSpace(lines[i]); strings.HasPrefix(line, "--> ") || isFrame(line) {
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

// isFrame reports whether a line is the frame of a stack in a file of the project: "at run (/w/a.ts:3:5)" of
// JavaScript, "at a.B.run(B.java:12)" of Java, "/w/a.go:41 +0x39c" of Go.
func isFrame(line string) bool {
	rest, called := strings.CutPrefix(line, "at ")
	if !called && !strings.HasPrefix(line, "/") || len(line) > maxError || isLibrary(line) {
		return false
	}
	if called {
		return hasLine(strings.TrimSuffix(rest, ")"))
	}
	file, _, _ := strings.Cut(line, " +0x") // of a call that is inlined there is none
	return hasLine(file) && strings.HasSuffix(file[:strings.LastIndexByte(file, ':')], ".go")
}

// hasLine reports whether a text ends with the number of a line in a file.
func hasLine(text string) bool {
	i := strings.LastIndexByte(text, ':')
	return i > 0 && i+1 < len(text) && clip.Digits(text[i+1:]) == len(text)-i-1 &&
		strings.IndexByte(text[:i], '.') >= 0
}

// libraries are parts of the places in stacks that are no project's.
var libraries = []string{"/node_modules/", "node:internal", "(internal/", "/src/runtime/", "/src/testing/",
	"/src/reflect/", "site-packages/", "/lib/python", "<frozen ", "/rustc/", "at java.", "at jdk.", "at sun.",
	"at org.junit."}

func isLibrary(line string) bool { return toolcall.HasAny(line, libraries) }
