package action

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// languages are programs that run lines of a language which stand in the script, with the options that these follow.
var languages = map[string][]string{"python": {"-c"}, "python3": {"-c"}, "node": {"-e", "--eval", "-p", "-pe"},
	"bun": {"-e", "--eval"}, "deno": {"eval"}, "ruby": {"-e"}}

// ran are the lines that such a program is given by the script: behind an option, or fed to it. What is only written to
// a file is not run.
func ran(c *toolcall.Command) string {
	if len(c.Words) == 0 || languages[c.Words[0]] == nil {
		return ""
	}
	for i, w := range c.Words[1:] {
		switch {
		case slices.Contains(languages[c.Words[0]], w):
			return strings.Join(c.Words[i+2:min(i+3, len(c.Words))], "")
		case w == "-":
			return c.Fed()
		case !strings.HasPrefix(w, "-"):
			return "" // a file with the lines; what follows is given to them
		}
	}
	return c.Fed()
}

// opened are the files that lines of such a language open to write, by names that stand there and not in another text.
func opened(program, lines string) (files []string) {
	found := opens().FindAllStringSubmatchIndex(lines, -1)
	if len(found) == 0 || strings.Contains(lines, "chdir(") {
		return nil
	}
	comment := "//"
	if program == "ruby" || strings.HasPrefix(program, "python") {
		comment = "#"
	}
	begin := literals(lines, comment)
	for _, m := range found {
		for k := 2; k < len(m); k += 2 {
			if m[k] >= 0 && slices.Contains(begin, m[k]-1) {
				files = append(files, lines[m[k]:m[k+1]])
			}
		}
	}
	return files
}

var opens = lazy.Regexp(`(?:^|[^.\w])(?:(?:io|codecs|File)\.)?open\(\s*["']([^"'\n]+)["']\s*,\s*(?:mode\s*=\s*)?` +
	`["'](?:[wax]|r\+)|` +
	`\b(?:writeFileSync|writeFile|File\.write)\(\s*["']([^"'\n]+)["']\s*,|\bPath\(\s*["']([^"'\n]+)["']\s*\)\.write_`)

// literals are where texts in quotes begin in lines of a language, outside of each other and of comments.
func literals(lines, comment string) (begin []int) {
	for i := 0; i < len(lines); {
		rest := lines[i:]
		end := ""
		switch c := rest[0]; {
		case strings.HasPrefix(rest, comment):
			i += until(rest, "\n")
			continue
		case strings.HasPrefix(rest, "/*") && comment == "//":
			i += until(rest, "*/")
			continue
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
			end = rest[:3]
		case c == '"', c == '\'', c == '`':
			begin, end = append(begin, i), rest[:1]
		default:
			i++
			continue
		}
		for i += len(end); i < len(lines) && !strings.HasPrefix(lines[i:], end); i++ {
			if lines[i] == '\\' {
				i++
			} else if lines[i] == '\n' && len(end) == 1 && end != "`" {
				break // no text of these goes on there
			}
		}
		i += len(end)
	}
	return begin
}

// until is how long a text is up to the end of an end, or of itself.
func until(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}
