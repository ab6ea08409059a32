package redact

import (
	"slices"
	"strings"
	"sync"
)

// argument is where one of the arguments of programs is a secret. The lists have
// spaces between their words.
type argument struct {
	programs string
	when     string // only with this argument among the others
	flags    string // after one of these flags,
	glued    string // or right after one of these, as in -psecret
	named    bool   // or after an argument that names a secret
	nth      int    // or the one of this number, flags not counted
	begins   string // or one that begins so, and then all after that
	holds    string // only one that has this sign in it,
	behind   string // only what stands after this sign in it,
	until    string // up to that one
}

var arguments = []argument{
	{programs: "mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlsh mycli", glued: "-p"},
	{programs: "mariadb mariadb-dump mariadb-admin", glued: "-p"},
	{programs: "mysql mysqldump mariadb mongo mongosh mongodump mongorestore", flags: "--password"},
	{programs: "sudo"}, // which takes one from another program
	{programs: "mysqladmin", when: "password", named: true},
	{programs: "aws npm yarn pnpm git gcloud poetry pip composer conda", when: "config configure", named: true},
	{programs: "sshpass mongo mongosh mongodump mongorestore", flags: "-p", glued: "-p"},
	{programs: "redis-cli valkey-cli", flags: "-a --pass"},
	{programs: "curl", flags: "-u --user -U --proxy-user", glued: "-u", behind: ":"},
	{programs: "curl", flags: "-b --cookie", holds: "="},
	{programs: "docker podman nerdctl buildah skopeo helm oras cf oc", when: "login", flags: "-p"},
	{programs: "az", when: "login", flags: "-p"},
	{programs: "az", when: "secret", flags: "--value"},
	{programs: "gh", when: "secret", flags: "-b --body"},
	{programs: "aws", flags: "--secret-string"},
	{programs: "aws", when: "SecureString", flags: "--value"},
	{programs: "htpasswd", when: "-b -bc -cb -nb -bn -nbB -Bbn -bnB", nth: -1},
	{programs: "openssl", begins: "pass:"},
	{programs: "openssl", flags: "-k -K"},
	{programs: "vault", when: "login", nth: 2},
	{programs: "vault", when: "put write patch", behind: "="},
	{programs: "kubectl oc", when: "secret", flags: "--from-literal", behind: "="},
	{programs: "kubectl oc", when: "secret", begins: "--from-literal=", behind: "="},
	{programs: "smbclient rpcclient smbmap net", flags: "-U", behind: "%"},
	{programs: "lftp", flags: "-u", behind: ","},
	{programs: "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", flags: "-w -s"},
	{programs: "sqlcmd bcp", flags: "-P", glued: "-P"},
	{programs: "sqlplus", behind: "/", until: "@"},
	{programs: "ssh-keygen", flags: "-N -P"},
	{programs: "zip unzip", flags: "-P"},
	{programs: "7z 7za", glued: "-p"},
	{programs: "keytool jarsigner", flags: "-storepass -keypass"},
	{programs: "rabbitmqctl", when: "add_user change_password", nth: 3},
	{programs: "mc", when: "alias", nth: 6},
	{programs: "mc", when: "alias", nth: 5},
	{programs: "net", when: "/add", nth: 3},
	{programs: "ipmitool", flags: "-P"},
	{programs: "wpa_passphrase", nth: 2},
}

// echoes are programs whose output goes into another one, and takers what that has
// to be to take a secret in.
var (
	echoes = []string{"echo", "printf"}
	takers = []string{"--password-stdin", "--with-token", "sudo -S", "chpasswd", "passwd --stdin", "--passphrase-fd 0",
		"vault login -"}
)

// byProgram returns the arguments by the programs that have them.
var byProgram = sync.OnceValue(func() map[string][]argument {
	m := make(map[string][]argument)
	for _, a := range arguments {
		for _, p := range strings.Fields(a.programs) {
			m[p] = append(m[p], a)
		}
	}
	return m
})

// programs returns the words by which commands are found.
func programs() (list []string) {
	for p := range byProgram() {
		list = append(list, p)
	}
	return append(list, echoes...)
}

// commanded finds secrets among the arguments of a command.
func commanded(text string, at int) (secrets []span, next int) {
	args, end := argsAt(text, at)
	if len(args) < 2 {
		return nil, 0
	}
	seen := make(map[string]bool)
	for _, a := range args {
		program := programOf(a.of(text))
		if seen[program] {
			continue
		}
		seen[program] = true
		for _, may := range byProgram()[program] {
			if may.applies(text, args) {
				secrets = append(secrets, may.find(text, args)...)
			}
		}
	}
	return append(secrets, echoed(text, args, end)...), end
}

// programOf returns the name of a program, without the folder it is in.
func programOf(s string) string {
	return strings.TrimSuffix(s[strings.LastIndexAny(s, `/\`)+1:], ".exe")
}

func (a *argument) applies(text string, args []span) bool {
	if a.when == "" {
		return true
	}
	for word := range strings.FieldsSeq(a.when) {
		for _, arg := range args {
			if arg.of(text) == word {
				return true
			}
		}
	}
	return false
}

// place is where an argument stands among those of its program.
type place struct {
	before string // the argument before it
	flag   bool   // it begins as one
	nth    int    // how many stand up to it that are no flags
	last   bool
}

// find returns the secrets in the arguments of a program.
func (a *argument) find(text string, args []span) (secrets []span) {
	program := slices.IndexFunc(args, func(arg span) bool { return isOneOf(a.programs, programOf(arg.of(text))) })
	if program < 0 {
		return nil
	}
	at := place{}
	for i := program + 1; i < len(args); i++ {
		at.before, at.flag, at.last = args[i-1].of(text), text[args[i].from] == '-', i == len(args)-1
		if !at.flag {
			at.nth++
		}
		secrets = append(secrets, a.secrets(text, args[i], at)...)
	}
	return secrets
}

// secrets returns the secrets in an argument that stands at a place.
func (a *argument) secrets(text string, arg span, at place) (list []span) {
	switch {
	case a.is(at):
		return a.meant(text, arg)
	case a.begins != "" && strings.HasPrefix(arg.of(text), a.begins):
		return a.meant(text, span{arg.from + len(a.begins), arg.to})
	}
	for _, v := range a.behindFlags(text, arg) {
		if a.behind == "" && weak(v.of(text)) {
			list = append(list, v)
		} else {
			list = append(list, a.meant(text, v)...)
		}
	}
	return list
}

// is reports whether an argument is a secret for the place at which it stands.
func (a *argument) is(at place) bool {
	switch {
	case isOneOf(a.flags, at.before), a.nth < 0 && at.last && at.nth > 2:
		return true
	case at.flag:
		return false
	case a.nth > 0 && at.nth == a.nth, a.named && isName(at.before):
		return true
	}
	return a.flags == "" && a.begins == "" && a.glued == "" && a.behind != ""
}

// meant returns the part of an argument that is the secret, where it can be one.
func (a *argument) meant(text string, s span) []span {
	if s, ok := a.part(text, inside(text, s)); ok && meant(s.of(text)) {
		return []span{s}
	}
	return nil
}

// behindFlags returns what stands in an argument right after a flag.
func (a *argument) behindFlags(text string, arg span) (values []span) {
	for flag := range strings.FieldsSeq(a.glued) {
		if rest, ok := strings.CutPrefix(arg.of(text), flag); ok && rest != "" {
			values = append(values, inside(text, span{arg.from + len(flag), arg.to}))
		}
	}
	return values
}

// part returns the part of an argument that is the secret.
func (a *argument) part(text string, s span) (span, bool) {
	if !strings.Contains(s.of(text), a.holds) {
		return s, false
	}
	if a.behind != "" {
		_, after, found := strings.Cut(s.of(text), a.behind)
		if !found {
			return s, false
		}
		s.from = s.to - len(after)
	}
	if a.until != "" {
		before, _, found := strings.Cut(s.of(text), a.until)
		if !found {
			return s, false
		}
		s.to = s.from + len(before)
	}
	return s, true
}

func isOneOf(list, s string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == s {
			return true
		}
	}
	return false
}

// isName reports whether an argument names a secret: aws_secret_access_key.
func isName(s string) bool {
	for i := range s {
		if i > 0 && isWord(s[i-1]) && s[i-1] != '_' && s[i-1] != '-' {
			continue
		}
		if n, end := nameAt(s, i); end == len(s) && s[0] != '-' && n.text != "pass" {
			return true
		}
	}
	return false
}

// echoed returns the secrets that a command prints for another one that takes a secret in, or that
// follow <<<.
func echoed(text string, args []span, end int) (secrets []span) {
	if program := args[0].of(text); program == echoes[0] || program == echoes[1] {
		next, _, _ := strings.Cut(text[end:min(len(text), end+maxCommand)], "\n")
		if !strings.HasPrefix(next, "|") || !containsAny(next, takers) {
			return nil
		}
		for _, arg := range args[1:] {
			s := inside(text, arg)
			if v := s.of(text); strings.Contains(next, "chpasswd") {
				s.from += strings.IndexByte(v, ':') + 1
			}
			if v := s.of(text); v != "" && v[0] != '-' && meant(v) {
				secrets = append(secrets, s)
			}
		}
		return secrets
	}
	for i, arg := range args[1:] {
		if args[i].of(text) == "<<<" && containsAny(text[args[0].from:arg.from], takers) {
			if s := inside(text, arg); meant(s.of(text)) {
				secrets = append(secrets, s)
			}
		}
	}
	return secrets
}

func containsAny(s string, list []string) bool {
	return slices.ContainsFunc(list, func(word string) bool { return strings.Contains(s, word) })
}

// inside returns an argument without the quotes around it.
func inside(text string, s span) span {
	for s.from < s.to && strings.IndexByte("\\\"'", text[s.from]) >= 0 && s.to > s.from {
		s.from++
	}
	for s.to > s.from && strings.IndexByte("\\\"'", text[s.to-1]) >= 0 {
		s.to--
	}
	return s
}

// maxCommand is how much of a command is read, in bytes.
const maxCommand = 2048

// argsAt returns the words of the command that stands at a place, with the quotes they have, and where
// it ends: at the end of the line, before a pipe or the next command, or where the quoted text ends
// that the command stands in.
func argsAt(text string, at int) (args []span, end int) {
	i, limit := at, min(len(text), at+maxCommand)
	for {
		for i < limit && (text[i] == ' ' || text[i] == '\t' || isContinued(text, i)) {
			if text[i] == '\\' {
				i++
			}
			i++
		}
		from := i
		if i = wordEnd(text, i, limit); i == from {
			return args, i
		}
		args = append(args, span{from, i})
		if len(args) == 1 && (i == limit || text[i] != ' ') {
			return args, i
		}
	}
}

// isContinued reports whether the line goes on after a backslash.
func isContinued(text string, i int) bool {
	return text[i] == '\\' && i+1 < len(text) && text[i+1] == '\n'
}

// wordEnd returns where the word of a command ends that begins at from.
func wordEnd(text string, from, limit int) int {
	for i := from; i < limit; {
		if isWord(text[i]) { // as most are
			i++
			continue
		}
		quote := quoteAt(text[:limit], i)
		switch c := text[i]; {
		case c <= ' ', strings.IndexByte("|;&`()", c) >= 0, c == '\\' && isLineBreak(text[i:limit]),
			i == from && strings.HasPrefix(text[i:limit], leftOut):
			return i
		case strings.HasPrefix(text[i:], markOpen):
			before, _, _ := strings.Cut(text[i:limit], markClose)
			i += len(before) + len(markClose)
		case quote != "":
			line, _, _ := strings.Cut(text[i+len(quote):limit], "\n")
			n := strings.Index(line, quote)
			if n < 0 || !opens(text, from, i) {
				return i
			}
			i += n + 2*len(quote)
		default:
			i++
		}
	}
	return limit
}

// isLineBreak reports whether a text begins with a line break, or with one as it is
// written in a text in quotes.
func isLineBreak(s string) bool {
	s = strings.TrimLeft(s, `\`)
	return s != "" && (s[0] == '\n' || s[0] == 'n')
}

// quoteAt returns the quote at a place, with the backslashes before it, or "".
func quoteAt(text string, i int) string {
	end := i
	for end < len(text) && text[end] == '\\' {
		end++
	}
	if end == len(text) || text[end] != '"' && text[end] != '\'' {
		return ""
	}
	return text[i : end+1]
}

// opens reports whether a quote at i in a word is the beginning of a text, and not
// the end of the one that the command is in.
func opens(text string, from, i int) bool {
	return i == from || i == from+2 && text[from] == '-' || strings.IndexByte("=:,%", text[i-1]) >= 0
}

// flagged finds the value of a flag that names a secret, whatever the program is:
// --client-secret s3cret.
func flagged(text string, at int) ([]span, int) {
	for at < len(text) && strings.IndexByte(" \t-", text[at]) >= 0 {
		at++
	}
	end := at
	for end < len(text) && end < at+maxKey && isWord(text[end]) {
		end++
	}
	if end == at || end == len(text) || text[end] != ' ' || !isName(text[at:end]) && lower(text[at:end]) != "pass" {
		return nil, at // all places before this one lead here
	}
	from := skipSpace(text, end)
	limit := min(len(text), from+maxValue)
	s := inside(text, span{from, wordEnd(text, from, limit)})
	v := s.of(text)
	switch {
	case v == "" || v[0] == '-' || !meant(v) || reference(v):
		return nil, at
	case s.from > from && !ordinary(v), len(v) >= 6 && hasDigit(v):
		return []span{s}, s.to
	case strings.HasSuffix(lower(text[at:end]), "token"), ordinary(v), !endsCommand(text, s.to):
		return nil, at
	}
	return []span{s}, s.to
}

// endsCommand reports whether a command ends at a place, or another flag follows.
func endsCommand(text string, at int) bool {
	rest := strings.TrimLeft(text[at:min(len(text), at+maxSpace)], " ")
	return rest == "" || strings.IndexByte("\n\r-|;&\\\"'`)", rest[0]) >= 0 || strings.HasPrefix(rest, leftOut)
}
