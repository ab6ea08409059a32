package toolcall

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// Command is one command of a script: a program and its arguments.
type Command struct {
	// Words are the program and its arguments without their quotes, without what
	// stands before the program (settings, sudo, a time limit) and without redirections.
	Words []string
	// Text is the command as it is written, without redirections of its errors and
	// without the text that is fed to it. Options of git's own before what it does are left out of Words and Text.
	Text string
	// Quote is the command as it is written, with [LeftOut] in the place of text that is fed to it, and of the words of
	// the shell before it ("then").
	Quote string
	// Dir is the folder that the script changed to before, or that git does, empty where neither did.
	Dir string
	// Writes are the files that its output replaces, Appends those that it adds to.
	Writes, Appends []string
	// Then is what joins it to the next one: "&&", "||", "|", "&", ";", or empty.
	Then string
	// Apart: more than Then stands between it and the next one, a line break or a parenthesis.
	Apart bool

	fed *string // nil where it is fed nothing
}

// Fed is the text below the command that is fed to it, empty where there is none.
func (c *Command) Fed() string {
	if c.fed == nil {
		return ""
	}
	return *c.fed
}

// maxShell is how much of a script is read, in bytes.
const maxShell = 64 << 10

// Commands returns the commands of a shell script in order. Text that is fed to a
// command, comments, and what is substituted into an argument are none.
func Commands(script string) []Command {
	r := shell{s: clip.Head(script, maxShell)}
	for r.i < len(r.s) {
		r.step()
	}
	r.end("")
	return r.list
}

// shell reads a script, a word or an operator at a time.
type shell struct {
	s       string
	i       int
	list    []Command
	now     Command // the one that is read
	start   int     // of its text
	dir     string
	outer   []string // folders of the shells around the one in parentheses
	word    []byte
	inWord  bool
	into    *[]string // where the next word goes that is a file of a redirection
	cut     [][2]int  // what is left out of the text, from and to
	waiting []feed    // texts that begin on the next line
}

// feed is a text that is fed to a command.
type feed struct {
	delimiter string
	text      *string
}

func (r *shell) step() {
	c := r.s[r.i]
	rest := r.s[r.i:]
	switch {
	case c == '\\' && len(rest) > 1:
		if rest[1] != '\n' {
			r.add(rest[1:2])
		}
		r.i += 2
	case c == '\'':
		r.quoted(strings.IndexByte(rest[1:], '\''))
	case c == '"':
		r.double()
	case c == '`', strings.HasPrefix(rest, "$("), r.isProcess(rest):
		n := substitution(rest)
		r.add(rest[:n])
		r.i += n
	case c == '#' && !r.inWord:
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		r.cut = append(r.cut, [2]int{r.i, r.i + n})
		r.i += n
	case c == '\n':
		r.i++
		r.end(";")
		r.apart()
		r.fed()
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		r.end(rest[:2])
		r.i += 2
	case (c == '>' || c == '<') && !r.compares() || strings.HasPrefix(rest, "&>"):
		r.redirect(rest)
	case c == ';', c == '&':
		r.end(rest[:1])
		r.i++
	case c == '|':
		r.end("|")
		r.i += len(rest) - len(strings.TrimPrefix(rest[1:], "&"))
		r.start = r.i
	case c == '(' || c == ')':
		r.parenthesis(c)
		r.i++
	case c == ' ' || c == '\t' || c == '\r':
		r.flush()
		r.i++
	default:
		r.add(rest[:1])
		r.i++
	}
}

// isProcess reports whether commands in parentheses stand in the place of a file: "diff <(sort a) <(sort b)".
func (r *shell) isProcess(s string) bool {
	return !r.inWord && !r.compares() && (strings.HasPrefix(s, "<(") || strings.HasPrefix(s, ">("))
}

// compares reports whether the command that is read compares: then nothing is
// redirected.
func (r *shell) compares() bool { return len(r.now.Words) > 0 && r.now.Words[0] == "[[" }

// parenthesis begins or ends commands that run in a shell of their own.
func (r *shell) parenthesis(c byte) {
	r.flush()
	switch n := len(r.outer); {
	case c == ')':
		if r.end(";"); n > 0 {
			r.dir, r.outer = r.outer[n-1], r.outer[:n-1]
		}
		r.apart()
	case len(r.now.Words) == 0:
		r.end(";")
		r.apart()
		r.outer = append(r.outer, r.dir)
	}
}

// apart notes that more than an operator stands behind the last command.
func (r *shell) apart() {
	if n := len(r.list); n > 0 {
		r.list[n-1].Apart = true
	}
}

// add adds to the word that is read.
func (r *shell) add(s string) { r.word, r.inWord = append(r.word, s...), true }

// quoted reads what stands in single quotes, n bytes long.
func (r *shell) quoted(n int) {
	if n < 0 {
		n = len(r.s) - r.i - 1
	}
	r.add(r.s[r.i+1 : r.i+1+n])
	r.i += n + 2
	r.i = min(r.i, len(r.s))
}

// double reads what stands in double quotes.
func (r *shell) double() {
	r.inWord = true
	for r.i++; r.i < len(r.s) && r.s[r.i] != '"'; {
		rest := r.s[r.i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			r.add(rest[1:2])
			r.i += 2
		case rest[0] == '`', strings.HasPrefix(rest, "$("):
			n := substitution(rest)
			r.add(rest[:n])
			r.i += n
		default:
			r.add(rest[:1])
			r.i++
		}
	}
	r.i = min(r.i+1, len(r.s))
}

// substitution is how long the substitution is that a text begins with: $(...), <(...) or
// `...`. A text that is fed to a command in it may hold anything.
func substitution(s string) int {
	if s[0] == '`' {
		if end := strings.IndexByte(s[1:], '`'); end >= 0 {
			return end + 2
		}
		return len(s)
	}
	depth, waiting := 0, []string(nil)
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'', '"':
			if end := strings.IndexByte(s[i+1:], s[i]); end >= 0 {
				i += end + 1
			}
		case '<':
			if delimiter, n := heredoc(s[i:]); n > 0 {
				waiting = append(waiting, delimiter)
				i += n - 1
			}
		case '\n':
			for _, delimiter := range waiting {
				i += fed(s[i+1:], delimiter)
			}
			waiting = nil
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// heredoc reads the mark by which the lines below are fed to a command, and returns
// the line that ends them and how long the mark is; 0 where there is none.
func heredoc(s string) (delimiter string, size int) {
	if !strings.HasPrefix(s, "<<") || strings.HasPrefix(s, "<<<") {
		return "", 0
	}
	rest := strings.TrimLeft(s[2:], "-~ ")
	quote := ""
	if rest != "" && strings.IndexByte("'\"\\", rest[0]) >= 0 {
		quote, rest = rest[:1], rest[1:]
	}
	n := len(rest) - len(strings.TrimLeft(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"))
	if n == 0 || digit(rest[0]) {
		return "", 0 // a shift
	}
	delimiter, rest = rest[:n], rest[n:]
	return delimiter, len(s) - len(strings.TrimPrefix(rest, quote))
}

// fed is how long the lines are that a delimiter ends, with it; all of a text where
// it does not stand.
func fed(s, delimiter string) (size int) {
	for line := range strings.Lines(s) {
		size += len(line)
		if strings.TrimSpace(line) == delimiter {
			break
		}
	}
	return size
}

// fed passes over the texts that are fed to the commands of the line before.
func (r *shell) fed() {
	for _, f := range r.waiting {
		rest := r.s[r.i:]
		n := fed(rest, f.delimiter)
		text := strings.TrimSuffix(strings.TrimRight(rest[:n], " \t\r\n"), f.delimiter)
		*f.text = strings.TrimRight(text, " \t")
		r.i += n
	}
	r.waiting, r.start = nil, r.i
}

// redirect reads where output goes or input comes from.
func (r *shell) redirect(s string) {
	from := r.i
	errors := string(r.word) == "2"
	if n := len(r.word); n > 0 && strings.Trim(string(r.word), "0123456789") == "" {
		from -= n
		r.word, r.inWord = r.word[:0], false // the number of what is redirected
	}
	r.flush()
	if delimiter, n := heredoc(s); n > 0 {
		r.now.fed = new(string)
		r.waiting = append(r.waiting, feed{delimiter, r.now.fed})
		r.i += n
		r.cut = append(r.cut, [2]int{from, r.i})
		return
	}
	mark := s[:len(s)-len(strings.TrimLeft(s, "<>&|"))]
	r.i += len(mark)
	into := &[]string{}
	switch {
	case strings.HasSuffix(mark, ">&"):
		n := len(r.s[r.i:]) - len(strings.TrimLeft(r.s[r.i:], "0123456789-"))
		r.i += n
		r.cut = append(r.cut, [2]int{from, r.i})
		return
	case errors || mark[0] == '<':
	case strings.Contains(mark, ">>"):
		into = &r.now.Appends
	default:
		into = &r.now.Writes
	}
	r.into = into
	if errors {
		r.i += len(r.s[r.i:]) - len(strings.TrimLeft(r.s[r.i:], " "))
		n := strings.IndexAny(r.s[r.i:], " \t\n;|&)")
		if n < 0 {
			n = len(r.s) - r.i
		}
		r.into, r.i = nil, r.i+n
		r.cut = append(r.cut, [2]int{from, r.i})
	}
}

// flush ends a word.
func (r *shell) flush() {
	if !r.inWord {
		return
	}
	word := string(r.word)
	r.word, r.inWord = r.word[:0], false
	if r.into != nil {
		if word != "/dev/null" {
			*r.into = append(*r.into, word)
		}
		r.into = nil
		return
	}
	r.now.Words = append(r.now.Words, word)
}

// joints are words of a shell that may stand before a command.
var joints = []string{"then", "do", "else", "!", "{", "}", "fi", "done", "if", "while", "until", "elif"}

// before are programs that run the one behind them, and say nothing of what it does.
var before = []string{"sudo", "time", "nohup", "exec", "command", "builtin", "env"}

// shells run the script that they are given.
var shells = []string{"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "dash"}

// end ends a command.
func (r *shell) end(then string) {
	r.flush()
	r.into = nil
	c, said := r.now, len(r.now.Words) > 0
	c.Then, c.Dir = then, r.dir
	c.Words = program(c.Words)
	c.Text, c.Quote = r.text(false), r.text(true)
	c.ofGit()
	r.now, r.start, r.cut = Command{}, min(len(r.s), r.i+len(then)), nil
	switch {
	case len(c.Words) == 0 && len(c.Writes)+len(c.Appends) == 0:
		if said || then != "" {
			r.apart()
		}
		if n := len(r.list); n > 0 && then != ";" && then != "" && r.list[n-1].Then == ";" {
			r.list[n-1].Then = then // behind a parenthesis
		}
	case len(c.Words) == 2 && (c.Words[0] == "cd" || c.Words[0] == "pushd"):
		r.dir = within(r.dir, c.Words[1])
		r.list = append(r.list, c)
	case len(c.Words) == 3 && slices.Contains(shells, c.Words[0]) && strings.HasSuffix(c.Words[1], "c") &&
		c.Words[1][0] == '-':
		for _, inner := range Commands(c.Words[2]) {
			inner.Then = cmp.Or(inner.Then, then)
			r.list = append(r.list, inner)
		}
	default:
		r.list = append(r.list, c)
	}
}

// within is a folder as it is named from within another one.
func within(dir, name string) string {
	if path.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return path.Join(dir, name)
}

// ofGit takes options of git's own out of a command of git's: "git -C lamps commit" commits in the folder lamps.
func (c *Command) ofGit() {
	if len(c.Words) < 2 || c.Words[0] != "git" {
		return
	}
	n := 1
	for n < len(c.Words) && strings.HasPrefix(c.Words[n], "-") {
		switch option := c.Words[n]; {
		case slices.Contains(gitGiven, option) && n+1 < len(c.Words):
			if n++; option == "-C" {
				c.Dir = within(c.Dir, c.Words[n])
			}
		case !slices.Contains(gitAlone, option) && !strings.HasPrefix(option, "--git-dir=") &&
			!strings.HasPrefix(option, "--work-tree="):
			return // "git --version" is a command
		}
		n++
	}
	if n > 1 && n < len(c.Words) {
		c.Words = slices.Concat(c.Words[:1], c.Words[n:])
		c.Text = strings.Join(c.Words, " ")
	}
}

// gitGiven are options of git's own with a word behind them, gitAlone those without.
var (
	gitGiven = []string{"-C", "-c", "--git-dir", "--work-tree"}
	gitAlone = []string{"--no-pager", "-P", "-p", "--paginate", "--bare", "--no-optional-locks", "--literal-pathspecs"}
)

// program are the words of a command from its program on.
func program(words []string) []string {
	for len(words) > 0 {
		switch w := words[0]; {
		case slices.Contains(before, w), slices.Contains(joints, w), isSetting(w):
			words = words[1:]
		case (w == "timeout" || w == "gtimeout") && len(words) > 2:
			words = words[1:]
			for len(words) > 0 && (words[0] != "" && (words[0][0] == '-' || digit(words[0][0]))) {
				words = words[1:]
			}
		case slices.Contains(shells, w) && len(words) > 3 && (words[1] == "-c" || words[1] == "-lc"):
			words = words[2:] // a list of words that was joined
		default:
			return words
		}
	}
	return nil
}

// text is the command that ends here as it is written; a quotation has its redirections, and marks what is left out.
func (r *shell) text(quotes bool) string {
	var b strings.Builder
	at, mark := r.start, ""
	for _, c := range r.cut {
		if c[0] >= at && (!quotes || r.s[c[0]] == '#') {
			b.WriteString(r.s[at:c[0]])
			at = c[1]
		}
	}
	if end := min(r.i, len(r.s)); at < end {
		b.WriteString(r.s[at:end])
	}
	line := clip.OneLine(strings.TrimRight(strings.ReplaceAll(b.String(), "\\\n", " "), ";&|\n "))
	for {
		word, rest, _ := strings.Cut(line, " ")
		if !slices.Contains(joints, word) {
			break
		}
		line = rest
		if quotes {
			mark = LeftOut + " "
		}
	}
	if quotes && r.now.fed != nil {
		line += " " + LeftOut
	}
	return mark + line
}

// Masked reports whether the commands may end with another code than that of the
// first of them that fails: behind a pipe, or where something else follows whatever
// came of it.
func Masked(list []Command) bool {
	stops, pipes := false, false // whether a failure ends the script, and one in a pipe fails it
	for i, c := range list {
		switch {
		case len(c.Words) > 1 && c.Words[0] == "set":
			stops = stops || strings.HasPrefix(c.Words[1], "-") && strings.Contains(c.Words[1], "e")
			pipes = pipes || slices.Contains(c.Words, "pipefail")
		case c.Then == "&", c.Then == "||", c.Then == "|" && !pipes:
			return true
		case c.Then == ";" && i < len(list)-1 && !stops && !c.SetsScene():
			return true
		}
	}
	return false
}

// SetsScene reports whether a command only prepares for others, or announces them.
func (c *Command) SetsScene() bool {
	return (len(c.Words) == 0 || slices.Contains(scenes, c.Words[0])) && len(c.Writes)+len(c.Appends) == 0
}
