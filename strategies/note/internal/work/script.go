package work

import (
	_ "embed"
	"iter"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

//go:embed words.txt
var wordFile string

var (
	wordLists = wordlist.Read(wordFile)
	checks    = newBeginnings("checks")
	acts      = newBeginnings("acts")
	looks     = set.Of(wordLists["looks"]...)
	reads     = set.Of(wordLists["reads"]...)
	silent    = set.Of(wordLists["silent"]...)
	asks      = set.Of(wordLists["asks"]...)
	agents    = set.Of(wordLists["agents"]...)
)

// beginnings are beginnings of commands, by their first word.
type beginnings map[string][]string

func newBeginnings(name string) beginnings {
	b := make(beginnings)
	for _, w := range wordLists[name] {
		w = strings.ReplaceAll(w, "_", " ")
		program, _, _ := strings.Cut(w, " ")
		b[program] = append(b[program], w)
	}
	return b
}

// begins reports whether a command begins with one of them, whole words: "mise run
// test" is "mise run test:ci" too.
func (b beginnings) begins(command string) bool {
	program, _, _ := strings.Cut(command, " ")
	for _, w := range b[program] {
		if rest, ok := strings.CutPrefix(command+" ", strings.TrimSuffix(w, " ")); ok && (rest[0] == ' ' || rest[0] == ':') {
			return true
		}
	}
	return false
}

// segments are the commands of a script, each without what stands before its
// program. Text that is fed to a command is none.
func segments(script string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if i := strings.Index(script, "<<"); i > 0 && !strings.HasPrefix(script[i:], "<<<") {
			script = script[:i] // what follows is mostly text
		}
		for line := range strings.Lines(clip.Head(script, 4000)) {
			for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", ";"), ";") {
				part, _, _ = strings.Cut(part, "|")
				if part = toolcall.Normal(part); part != "" && !yield(part) {
					return
				}
			}
		}
	}
}

// effect says what a script did that changes something: a commit by its hash, what
// has an address by that, else the command. What ended well did all of it.
func effect(script, output string, ended bool) string {
	if hash, subject := committed(script, output); hash != "" {
		s := Committed + hash + " " + clip.Line(subject, maxCommand)
		if ended && strings.Contains(script, "git push") {
			s += ", then pushed"
		}
		return s
	}
	s := Ran + quoted(script)
	if strings.Contains(script, "gh ") || strings.Contains(script, "glab ") {
		if i := strings.Index(output, "https://"); i >= 0 {
			s += Result + strings.Fields(clip.Head(output[i:], 4000))[0]
		}
	}
	return s
}

// committed is the commit that a script made, if its output tells one. One in a
// repository to try something in is none.
func committed(script, output string) (hash, subject string) {
	if !strings.Contains(script, "commit") || strings.Contains(script, "git init") {
		return "", ""
	}
	for line := range strings.Lines(clip.Head(output, 8000)) {
		if hash, subject, ok := commit(strings.TrimSpace(line)); ok {
			return hash, subject
		}
	}
	return "", ""
}

// commit reads "[main 3f2a1bc] subject".
func commit(line string) (hash, subject string, ok bool) {
	inner, subject, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	if !ok || !strings.HasPrefix(line, "[") {
		return "", "", false
	}
	hash = inner[strings.LastIndexByte(inner, ' ')+1:]
	return hash, subject, len(hash) >= 7 && len(hash) <= 40 && hash != inner && strings.Trim(hash, "0123456789abcdef") == ""
}

// quoted is a script in one line, as it is told.
func quoted(script string) string {
	line := toolcall.Normal(script)
	if i := strings.Index(line, " <<"); i > 0 {
		line = line[:i]
	}
	return "`" + clip.Words(line, maxCommand) + "`"
}
