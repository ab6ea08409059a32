package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Compilers, linters and test runners write a place in a file in many ways: "a.go:3:5", "a.ts(3,5)", "A.java:[3,5]",
// "a.tsx (3:9)", "In a.sh line 3". And they put marks of their own before what they say.

// maxLine is how much of a line is read, in bytes.
const maxLine = 2000

// bare is a line without what a program puts before all that it passes on, or draws around an error.
func bare(line string) string {
	line = strings.TrimSpace(clip.Head(line, maxLine))
	for _, mark := range []string{"│", "[ERROR]", "[error]", "E  "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	return withoutStep(line)
}

// withoutStep is a line without the step of a build that it is of, and the time: "#7 1.912 ERROR: no such package".
func withoutStep(line string) string {
	rest, ok := strings.CutPrefix(line, "#")
	n := clip.Digits(rest)
	if !ok || n == 0 || !strings.HasPrefix(rest[n:], " ") {
		return line
	}
	rest = rest[n+1:]
	time, after, ok := strings.Cut(rest, " ")
	switch {
	case ok && strings.Contains(time, ".") && strings.Trim(time, "0123456789.") == "":
		return strings.TrimSpace(after)
	case time == "ERROR:":
		return rest
	}
	return line
}

// located reads the place that a text begins with, and returns what stands behind it. Plain: it is written
// "file:line" or "file:line:column".
func located(text string) (rest string, plain, ok bool) {
	text = strings.TrimPrefix(text, "file://")
	end := 0
	for end < len(text) && !behindFile[text[end]] {
		end++
	}
	if end == 0 || end == len(text) || !isFile(text[:end]) {
		return "", false, false
	}
	rest = text[end:]
	for _, form := range [][3]string{{":[", ",", "]"}, {"(", ",", ")"}, {" (", ":", ")"}} {
		if inner, ok := strings.CutPrefix(rest, form[0]); ok {
			line := clip.Digits(inner)
			column, ok := strings.CutPrefix(inner[line:], form[1])
			n := clip.Digits(column)
			if after, closed := strings.CutPrefix(column[n:], form[2]); line > 0 && ok && n > 0 && closed {
				return after, false, true
			}
			return "", false, false
		}
	}
	rest, colon := strings.CutPrefix(rest, ":")
	n := clip.Digits(rest)
	if !colon || n == 0 {
		return "", false, false
	}
	if rest = rest[n:]; strings.HasPrefix(rest, ":") {
		if n := clip.Digits(rest[1:]); n > 0 {
			rest = rest[1+n:]
		}
	}
	return rest, true, true
}

// behindFile may stand behind the name of a file, notInFiles not within.
var behindFile, notInFiles = marked(":( \t"), marked("\"'<>|*=,;`{}$")

// marked marks signs.
func marked(signs string) (is [256]bool) {
	for _, c := range []byte(signs) {
		is[c] = true
	}
	return is
}

// isFile reports whether a word is the name of a file, and not a host or a number.
func isFile(name string) bool {
	for i := range len(name) {
		if notInFiles[name[i]] {
			return false
		}
	}
	if strings.Contains(name, "://") {
		return false
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	if fileNames[base] {
		return true
	}
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 || dot+1 == len(base) || len(base)-dot > maxSuffix || hosts[base[dot+1:]] {
		return false
	}
	c := base[dot+1] | 0x20
	return 'a' <= c && c <= 'z'
}

// maxSuffix is how long the dot and the suffix of a file are at the most.
const maxSuffix = 11

var (
	fileNames = set.Of("Dockerfile", "Makefile", "BUILD", "WORKSPACE", "Gemfile", "Rakefile", "Containerfile",
		"Jenkinsfile")
	hosts = set.Of("com", "org", "net", "io", "local", "internal")
)

// endsInPlace reports whether the last word of a line is a place, in brackets or not, and a colon may stand behind it.
func endsInPlace(line string) bool {
	if rest, ok := strings.CutPrefix(line, "In "); ok { // "In a.sh line 3:"
		file, number, ok := strings.Cut(strings.TrimSuffix(rest, ":"), " line ")
		return ok && isFile(file) && number != "" && clip.Digits(number) == len(number)
	}
	line = strings.TrimRight(line, " :")
	line = strings.TrimRight(line, "])")
	word := line[strings.LastIndexAny(line, " \t[(")+1:]
	rest, _, ok := located(word)
	return ok && rest == ""
}

// hasPlaceIn reports whether one of the words of a line is a place.
func hasPlaceIn(line string) bool {
	for word := range strings.FieldsSeq(clip.Head(line, maxError)) {
		if _, _, ok := located(strings.Trim(word, "[]()")); ok {
			return true
		}
	}
	return false
}

// isCode reports whether a line shows code below an error, or marks a place in it: "12 | x := 1", "> 12 | x", "^~~~".
func isCode(line string) bool {
	line = strings.TrimSpace(strings.TrimPrefix(line, ">"))
	if strings.Trim(line, "|│^~-_=─━⎯* +.") == "" {
		return true
	}
	rest := strings.TrimSpace(line[clip.Digits(line):])
	return strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "│")
}
