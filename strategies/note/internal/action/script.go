package action

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/internal/wordlist"
)

//go:embed words.txt
var wordFile string

var (
	wordLists    = wordlist.Read(wordFile)
	checks       = newBeginnings("checks")
	runners      = newBeginnings("runners")
	checkWords   = set.Of(wordLists["check words"]...)
	wrappers     = newBeginnings("wrappers")
	acts         = newBeginnings("acts")
	actsThatLook = newBeginnings("acts that look")
	showsChanges = newBeginnings("shows changes")
	prepares     = newBeginnings("prepares")
	shows        = set.Of(wordLists["shows"]...)
	searching    = set.Of(wordLists["searching"]...)
	looking      = newBeginnings("looking")
	looksNot     = set.Of(wordLists["looks not"]...)
	lookers      = set.Of(wordLists["looks"]...)
	readers      = set.Of(wordLists["reads"]...)
	doers        = set.Of(wordLists["acts in names"]...)
	silent       = set.Of(wordLists["silent"]...)
	asks         = set.Of(wordLists["asks"]...)
	agents       = set.Of(wordLists["agents"]...)
)

// Step is a command of a script that does something.
type Step struct {
	Kind StepKind
	// Text is the command as it is compared, Dir the folder it runs in, empty where the
	// script does not say.
	Text, Dir string
	// At is its place among the commands of the script.
	At int
	// Files are the files that it changes or shows.
	Files []File
	// Removes are the patterns of files that it deletes, see [Matches].
	Removes []string
	// Makes are the folders that it makes.
	Makes []string
	// Applies are the files with patches that it applies, see [Patches].
	Applies []string
}

// StepKind is what kind of thing a command does.
type StepKind uint8

const (
	Shows    StepKind = iota // it shows the files of the step
	Checks                   // a test, a build or the like
	Prepares                 // it installs, makes folders, formats
	Acts                     // it changes something outside of the files of the step
	Writes                   // it changes the files of the step, and nothing else
)

// steps reads the commands of the script.
func (a *Action) steps() {
	for i := range a.Commands {
		c := &a.Commands[i]
		n := filesOf(c, a.fed(i))
		kind := kindOf(c, &n)
		if kind == Shows && len(n.files) == 0 {
			continue
		}
		a.Steps = append(a.Steps, Step{Kind: kind, Text: toolcall.Normal(c.Text), Dir: c.Dir, At: i, Files: n.files,
			Removes: n.removes, Makes: n.makes, Applies: n.applies})
		a.Files = append(a.Files, n.files...)
	}
}

// fed is the text that a command is fed: what stands below it, or what the command before it says.
func (a *Action) fed(i int) string {
	text := a.Commands[i].Fed()
	if i == 0 || text != "" || a.Commands[i-1].Then != "|" {
		return text
	}
	switch before := &a.Commands[i-1]; {
	case len(before.Words) == 0:
	case before.Words[0] == "cat":
		return before.Fed()
	case before.Words[0] == "echo", before.Words[0] == "printf":
		return strings.ReplaceAll(strings.Join(before.Words[1:], "\n"), `\n`, "\n")
	}
	return ""
}

// writes reports whether a word of a program that looks has it write files: awk that prints into one, or changes them
// in place, and sed that writes lines out.
func writes(program, word string) bool {
	switch program {
	case "awk", "gawk":
		return word == "inplace" || strings.Contains(word, ">")
	case "sed":
		return writesOut().MatchString(word)
	case "tree":
		return word == "-o"
	}
	return false
}

// writesOut is a script of sed that writes into a file.
var writesOut = lazy.Regexp(`(^|[;/0-9gp ])w \S`)

// OnlyLooks reports whether the script reads files or looks for something in them, and does nothing else.
func (a *Action) OnlyLooks() bool {
	looks := false
	for i := range a.Commands {
		c := &a.Commands[i]
		if c.SetsScene() {
			continue
		}
		if len(c.Words) == 0 || slices.ContainsFunc(c.Words, func(w string) bool {
			option, _, _ := strings.Cut(w, "=")
			return looksNot[option] || writes(c.Words[0], option)
		}) ||
			slices.ContainsFunc(a.Steps, func(s Step) bool { return s.At == i && s.Kind != Shows }) {
			return false
		}
		line := strings.Join(c.Words, " ")
		switch program := c.Words[0]; {
		case shows[program], searching[program], looking.begins(line), actsThatLook.begins(line):
			looks = true
		case !besideChecks[program]:
			return false
		}
	}
	return looks
}

// ShowsChanges reports whether the script shows what was changed, or asked for.
func (a *Action) ShowsChanges() bool {
	return slices.ContainsFunc(a.Commands, func(c toolcall.Command) bool {
		return showsChanges.begins(strings.Join(c.Words, " "))
	})
}

func kindOf(c *toolcall.Command, n *named) StepKind {
	line := strings.Join(c.Words, " ")
	if rest, ok := wrappers.cut(line); ok {
		line = rest
	}
	switch {
	case acts.begins(line) && !actsThatLook.begins(line), asksServer(c), changesData(c):
		return Acts
	case isCheck(line) && !prepares.begins(line):
		return Checks
	case !n.unknown && slices.ContainsFunc(n.files, func(f File) bool { return f.Use != Read }):
		return Writes
	case prepares.begins(line), n.unknown:
		return Prepares
	}
	return Shows
}

// isCheck reports whether a command is a test, a build or the like. What a runner runs
// is told by its name: "npm run dev" is a server.
func isCheck(line string) bool {
	rest, ok := runners.cut(line)
	name := firstName(rest)
	if !ok || name == "" {
		return checks.begins(line) // "make" alone
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(":-_/.", r) })
	return slices.ContainsFunc(parts, func(part string) bool { return checkWords[part] })
}

// firstName is the first word that is no option, nor what one is given.
func firstName(words string) string {
	given := false
	for w := range strings.FieldsSeq(words) {
		switch {
		case given:
			given = false
		case w == "-C" || w == "-f" || w == "--prefix" || w == "--filter" || w == "--cwd":
			given = true
		case w[0] != '-' && strings.IndexByte(w, '=') < 0:
			return w
		}
	}
	return ""
}

// asksServer reports whether a command sends a request that changes something.
func asksServer(c *toolcall.Command) bool {
	w := c.Words
	if len(w) < 2 || w[0] != "curl" && (w[0] != "gh" || w[1] != "api") {
		return false
	}
	for i, option := range w {
		switch option {
		case "-X", "--request", "--method":
			return i+1 < len(w) && w[i+1] != "GET"
		case "-d", "--data", "-f", "-F", "--field", "--raw-field", "--input", "--data-raw", "-XPOST", "-XPUT",
			"-XDELETE", "-XPATCH":
			return true
		}
	}
	return false
}

// databases are programs that are given SQL.
var databases = set.Of("psql", "mysql", "sqlite3", "mariadb", "duckdb")

// changesData reports whether a command gives a database a statement that changes
// something.
func changesData(c *toolcall.Command) bool {
	if len(c.Words) == 0 || !databases[c.Words[0]] {
		return false
	}
	sql := " " + lower.Text(strings.Join(c.Words, " "))
	return toolcall.HasAny(sql, []string{" insert ", " update ", " delete ", " alter ", " create ", " drop ",
		" truncate "})
}

// beginnings are beginnings of commands, by their first word.
type beginnings map[string][]string

func newBeginnings(name string) beginnings {
	b := make(beginnings)
	for _, w := range wordLists[name] {
		program, _, _ := strings.Cut(w, " ")
		b[program] = append(b[program], w)
	}
	return b
}

// begins reports whether a command begins with one of them, whole words: "mise run
// test" is "mise run test:ci" too.
func (b beginnings) begins(command string) bool {
	_, ok := b.cut(command)
	return ok
}

// cut is a command behind the longest of them that it begins with.
func (b beginnings) cut(command string) (rest string, ok bool) {
	program, _, _ := strings.Cut(command, " ")
	best := ""
	for _, w := range b[program] {
		behind, begins := strings.CutPrefix(command+" ", w)
		if begins && (behind[0] == ' ' || behind[0] == ':') && len(w) > len(best) {
			best, rest, ok = w, strings.TrimSpace(behind), true
		}
	}
	return rest, ok
}
