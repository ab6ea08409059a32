package redact

import (
	"encoding/base64"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/internal/lazy"
)

// name is what a secret is called where it is assigned.
type name struct {
	text string // "_" stands for "_", "-", a space or nothing
	// weak: other things have the name too, so that the value has to look like a
	// secret, or more of the name to be there.
	weak  bool
	parts []string // of the text
}

// secretNames are the names, longer ones first.
var secretNames = []name{
	{text: "password"}, {text: "passwd"}, {text: "passphrase"}, {text: "passcode"}, {text: "pwd"},
	{text: "secret_access_key"}, {text: "secret_key"}, {text: "secret"}, {text: "api_key"}, {text: "api_token"},
	{text: "app_key"}, {text: "access_key"}, {text: "account_key"}, {text: "private_key"}, {text: "signing_key"},
	{text: "encryption_key"}, {text: "master_key"}, {text: "auth_key"}, {text: "access_token"}, {text: "auth_token"},
	{text: "refresh_token"}, {text: "session_token"}, {text: "bearer_token"}, {text: "bot_token"},
	{text: "deploy_token"},
	{text: "passwort"}, {text: "kennwort"}, {text: "mot de passe"}, {text: "contraseña"}, {text: "contrasena"},
	{text: "wachtwoord"}, {text: "senha"}, {text: "hasło"}, {text: "heslo"}, {text: "lösenord"}, {text: "şifre"},
	{text: "пароль"}, {text: "Пароль"}, {text: "密码"}, {text: "密碼"}, {text: "口令"}, {text: "パスワード"},
	{text: "비밀번호"}, {text: "ssh_pass"},
	{text: "token", weak: true}, {text: "pass", weak: true}, {text: "pw", weak: true}, {text: "auth", weak: true},
}

// assignedWords returns the words by which a name is found.
func assignedWords() (list []string) {
	for _, n := range secretNames {
		first, _, _ := strings.Cut(n.text, "_")
		list = append(list, first)
	}
	return list
}

// names returns the names of secrets by their first byte, in the order of secretNames.
var names = sync.OnceValue(func() *[256][]name {
	by := new([256][]name)
	for _, n := range secretNames {
		n.parts = strings.Split(n.text, "_")
		by[n.text[0]] = append(by[n.text[0]], n)
	}
	return by
})

// nameAt returns the name of a secret that stands at a place, and where it ends.
func nameAt(text string, at int) (n name, end int) {
	if at == len(text) {
		return name{}, 0
	}
	for _, n := range names()[low[text[at]]] {
		if end := n.match(text, at); end > at {
			return n, end
		}
	}
	return name{}, 0
}

func (n name) match(text string, at int) (end int) {
	for _, part := range n.parts {
		if at < len(text) && end > 0 && strings.IndexByte("_- ", text[at]) >= 0 {
			at++
		}
		if end = at + len(part); end > len(text) || !strings.EqualFold(text[at:end], part) {
			return 0
		}
		at = end
	}
	return end
}

// assigned finds the value that is assigned to the name of a secret.
func assigned(text string, at int) ([]span, int) {
	n, end := nameAt(text, at)
	if end == 0 {
		return nil, 0
	}
	a := assignment{name: n.text, weak: n.weak, line: text[max(0, at-maxKey):at], upper: text[at] <= 'Z'}
	if n.weak && at > 0 {
		switch c := text[at-1]; {
		case c == '_' && (a.upper || n.text != "token"), c == '-' && n.text == "pass":
			a.weak = false // DB_PASS, GITHUB_TOKEN
		case isWord(c):
			return nil, 0
		}
	}
	from, ok := a.sign(text, end)
	if !ok {
		return nil, 0
	}
	s, ok := a.value(text, from)
	if !ok {
		return nil, 0
	}
	return []span{s}, s.to
}

const (
	// maxKey is how much before the name of a setting is looked at, in bytes,
	// maxSpace how much may stand between it and the value, and maxValue how long
	// that may be in quotes.
	maxKey   = 64
	maxValue = 512
	maxSpace = 16
)

// assignment is a value that is assigned to the name of a secret.
type assignment struct {
	name        string
	line        string // before the name
	weak, upper bool
	tight       bool // "=" without spaces
	tag         bool // <password>value</password>
}

var suffix = lazy.Regexp(`\A(?:_?[0-9]{1,2}|(?i:_base))?(?:\\*["'` + "`" + `]\]?)?`)

// sign reads what stands between a name and its value, and returns where the value begins.
func (a *assignment) sign(text string, at int) (int, bool) {
	rest := text[at:min(len(text), at+maxSpace)]
	at += suffix().FindStringIndex(rest)[1]
	space := skipSpace(text, at)
	rest = text[space:]
	if len(rest) == 0 {
		return 0, false
	}
	if rest[0] == '>' && strings.ContainsAny(a.line[max(0, len(a.line)-1):], "<:") {
		a.tag = true
		return space + 1, true
	}
	for _, sign := range []string{":=", "=>", "=", ":", "：", `value=`} {
		if !strings.HasPrefix(rest, sign) {
			continue
		}
		from := skipSpace(text, space+len(sign))
		a.tight = sign == "=" && space == at && from == space+1
		return from, !strings.HasPrefix(text[from:], "=")
	}
	return 0, false
}

func skipSpace(text string, at int) int {
	rest := text[at:min(len(text), at+maxSpace)]
	return at + len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
}

// value returns the secret that is assigned at a place.
func (a *assignment) value(text string, from int) (span, bool) {
	i := from
	for i < len(text) && text[i] == '\\' && i < from+4 {
		i++
	}
	if i < len(text) && strings.IndexByte("\"'`", text[i]) >= 0 {
		return a.quoted(text, i+1, text[i])
	}
	return a.bare(text, from)
}

// bare returns a value without quotes.
func (a *assignment) bare(text string, from int) (span, bool) {
	s := span{from, bareEnd(text[:min(len(text), from+maxTried)], from, a.tight)}
	if n := strings.IndexByte(s.of(text), '#'); n >= 0 && strings.ContainsAny(a.line[max(0, len(a.line)-1):], "?&") {
		s.to = from + n // of a link
	}
	if v := s.of(text); len(v) == maxTried && (a.tight || hasDigit(v)) {
		s.to = bareEnd(text, from, a.tight)
		return s, true
	}
	return a.judged(text, s)
}

// judged returns a value without quotes, and whether it is a secret, which what it looks like and where
// it stands decide.
func (a *assignment) judged(text string, s span) (span, bool) {
	switch v := s.of(text); {
	case !meant(v), !a.tight && (reference(v) || hasSize(v)):
		return s, false
	case a.tag:
		return s, s.to < len(text) && text[s.to] == '<' && !ordinary(v)
	case a.weak:
		return s, a.looksLike(v) && ends(text, s.to, ")}]")
	case a.tight && ends(text, s.to, ""), random(text, s):
		return s, true
	case a.alone(text, s) && !ordinary(strings.TrimRight(v, ".")):
		return trimmed(text, s), true
	}
	return s, false
}

// random reports whether a value looks like nothing but a secret: it is long, and has digits.
func random(text string, s span) bool {
	v := s.of(text)
	return len(v) >= 8 && hasDigit(v) && ends(text, s.to, ")}].") && !strings.HasPrefix(text[s.to:], ".") &&
		strings.IndexByte(v, ':') < 0
}

// quoted returns a value between two quotes.
func (a *assignment) quoted(text string, from int, quote byte) (span, bool) {
	end := strings.IndexByte(text[from:min(len(text), from+maxValue)], quote)
	if end < 0 {
		return span{}, false
	}
	s := span{from, from + end}
	for s.to > s.from && text[s.to-1] == '\\' {
		s.to--
	}
	v := s.of(text)
	switch {
	case !meant(v), ordinary(v):
		return s, false
	case a.name == "auth":
		return s, isLogin(v)
	case a.name == "passphrase" && strings.Count(v, " ") > 2, a.upper && a.tight && strings.Contains(v, " "):
		return s, !sentence(v)
	case strings.ContainsAny(v, " \t\n"), !a.tight && strings.ContainsAny(v, "([{,;\\<>"):
		return s, false
	}
	return s, !a.weak || a.looksLike(v)
}

// looksLike reports whether the value of a name that other things have as well is a
// secret.
func (a *assignment) looksLike(v string) bool {
	switch a.name {
	case "auth":
		return isLogin(v)
	case "pass", "pw":
		return mixed(v) && len(v) >= 6 && (a.name == "pw" || strings.Contains(lower(a.line), "user"))
	}
	return mixed(v) && len(v) >= 12 && hasDigit(v)
}

// isLogin reports whether a text is a user and a password in base 64.
func isLogin(v string) bool {
	plain, err := base64.StdEncoding.DecodeString(v)
	user, password, both := strings.Cut(string(plain), ":")
	return err == nil && both && user != "" && password != "" && !strings.ContainsFunc(string(plain), func(r rune) bool {
		return r < ' ' || r > '~'
	})
}

var (
	keyOnly = lazy.Regexp(`(?:\A|\n|\\n|"|: | / )[\s"'\w.-]*\z`)
	inCode  = lazy.Regexp(`\b(?:const|let|var|val|def|func)\b|\b(?:self|this)\.`)
)

// leftOut marks, in a command that is quoted, where lines of it are left out, and broken stands in a note between what
// were lines. What stands before either ended a line.
const leftOut, broken = "…", "/ "

// alone reports whether a value ends its line, and only a key stands before it, as
// in a file of settings, or words in which a person says what a password is.
func (a *assignment) alone(text string, s span) bool {
	rest := strings.TrimLeft(text[s.to:min(len(text), s.to+maxSpace)], " \t")
	end := rest == "" || strings.IndexByte("\n\r#\"'`", rest[0]) >= 0 || isLineBreak(rest) ||
		strings.HasPrefix(rest, leftOut) || strings.HasPrefix(rest, broken)
	switch v := s.of(text); {
	case !end || len(v) < 4 || inCode().MatchString(a.line):
		return false
	case keyOnly().MatchString(a.line), a.name[0] >= 0x80:
		return true
	default:
		return strings.HasPrefix(a.name, "pass") && len(v) >= 6 && v == lower(v) && !strings.HasSuffix(a.line, ".")
	}
}

// hasSize reports whether a text is a figure with a unit or a range: 8-64, 32-byte.
func hasSize(v string) bool { return sizes().MatchString(v) }

var sizes = lazy.Regexp(`\A[0-9]+(?:-[0-9a-z]+)+\z|` +
	`\A(?i:sha|aes|md|rsa|base|argon|utf|http|oauth)-?[0-9]+(?:[-_][A-Za-z]+)*\z`)

// trimmed returns a value without the full stop after it.
func trimmed(text string, s span) span {
	s.to = s.from + len(strings.TrimRight(s.of(text), ".!?"))
	return s
}

// bareEnd returns where a value without quotes ends. It does not begin or go on like a variable, a
// call, a list or a mark of ours.
func bareEnd(text string, from int, tight bool) int {
	stop := "\\&;,\"'`[](){}<>|$*%="
	if tight {
		stop = "\\&;,\"'`[](){}<>|="
	}
	i := from
	for i < len(text) && text[i] > ' ' && strings.IndexByte(stop, text[i]) < 0 {
		if text[i] >= 0x80 && strings.HasPrefix(text[i:], "，") || strings.HasPrefix(text[i:], "。") {
			break
		}
		i++
	}
	for pad := i; i > from && i < len(text) && text[i] == '=' && i < pad+2; {
		i++
	}
	return i
}

// ends reports whether a value ends at a place: at a space, the end of a statement
// or a text in quotes, or one of the other signs.
func ends(text string, at int, others string) bool {
	return at == len(text) || strings.IndexByte(" \t\n\r&;\"'\\"+others, text[at]) >= 0 ||
		others != "" && strings.IndexByte(",`", text[at]) >= 0
}
