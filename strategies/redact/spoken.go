package redact

import "strings"

// Patterns of what people call secrets, and of what they say between that and the secret.
const (
	passwords = `password|passwd|passphrase|passcode|pwd|pw|passwort|kennwort|mot de passe|mdp|contraseña|contrasena|` +
		`clave|senha|parola|wachtwoord|hasło|haslo|heslo|lösenordet|lösenord|adgangskode|salasana|şifre|sifre|` +
		`парол(?:ь|я|ем)|密码|密碼|口令|パスワード|비밀번호|암호`
	tokens = `(?:api|access|auth|secret|private|bearer)[ _-](?:key|token)|token|secret`
	whose  = `(?:[ \t]+(?:for|of|to|on|in|von|für|pour|du|de|del|para|per|da|do|от|для|к|на)` +
		`[ \t]+[^\s.,;:!?0-9]+(?:[ \t]+[^\s.,;:!?]+){0,3}?)?`
	isSaid = `(?:\s+` +
		`(?:is|was|are|ist|war|lautet|est|était|es|era|è|é|är|er|on|jest|je)(?:\s+(?:now|still|jetzt|ora|ahora))?\s*:?\s` +
		`|'s\s|\s*(?:是|为|為|は|が|는|은|가)\s?|\s*(?:[:：]|-+>|→|—|–)\s?|\s+(?:to|auf|à|a|на)\s)\s*`
	toldValue = "(?:\\\\?[\"„“«「](.+?)\\\\?[\"”“»」]|`([^`\n]+)`|'([^'\n]+)'|\\*\\*(\\S+)\\*\\*|([!-~]+))"
)

// spoken returns the patterns of secrets that people tell in words.
func spoken() []Pattern {
	passwordWords := []string{"passw", "passp", "passc", "pwd", "pw", "kennwort", "mot de passe", "mdp", "contrase",
		"clave", "senha", "parola", "wachtwoord", "hasło", "haslo", "heslo", "lösenord", "adgangskode", "salasana", "şifre",
		"sifre", "парол", "Парол", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호"}
	return []Pattern{
		{Kind: "secret", Begins: true, Min: 4, Words: passwordWords,
			Expr: `(?i:` + passwords + `)(?:` + whose + isSaid + `|\s+)` + toldValue, accept: toldPassword},
		{Kind: "secret", Begins: true, Min: 4, Words: passwordWords, find: toldBefore},
		{Kind: "secret", Begins: true, Min: 4, Words: []string{"PIN"},
			Expr: `PIN(?:\s+is|:|\s+lautet|\s+ist)\s+([0-9]{4,8})\b`},
		{Kind: "secret", Begins: true, Min: 4,
			Words: []string{"token", "secret", "api", "access", "auth", "private", "bearer"},
			Expr:  `(?i:` + tokens + `)` + whose + isSaid + toldValue, may: tellsToken, accept: toldToken},
		{Kind: "secret", Begins: true, Min: 20, Words: []string{"key", "token", "secret"},
			Expr: `(?i:key|token|secret)\s+["'` + "`" + `]?([a-z_-]*[0-9A-Z][A-Za-z0-9_-]*)`, may: namesToken, accept: toldToken},
		{Kind: "secret", Begins: true, Min: 4,
			Words: []string{"credentials", "login", "creds", "zugangsdaten", "identifiants"}, may: goesOn,
			Expr: `(?i:credentials|login|creds|zugangsdaten|identifiants)(?:\s+(?:is|are|sind|sont))?\s*:?\s+` +
				`[\w.@+-]+\s*[/:]\s*([!-~]+)`,
			accept: func(text string, g []span) bool {
				return trim(text, g, true) && mixed(g[1].of(text)) && meant(g[1].of(text))
			}},
	}
}

// trim takes the end of the sentence from the secret, and what follows a sign within
// it, and reports whether anything is left.
func trim(text string, groups []span, within bool) bool {
	for i := range groups[1:] {
		g := &groups[i+1]
		for g.to > g.from && strings.IndexByte(".,;:!?)]}\"'`*\\", text[g.to-1]) >= 0 {
			g.to--
		}
		if n := strings.IndexAny(g.of(text), "\"'`\\<>()[]{};"); n > 0 && within {
			g.to = g.from + n
		}
		if g.to > g.from {
			return true
		}
	}
	return false
}

// isBare reports whether the value has no quotes: that is the last group of
// toldValue.
func isBare(groups []span) bool { return groups[len(groups)-1].to > 0 }

// toldPassword judges what was said to be a password.
func toldPassword(text string, groups []span) bool {
	if !trim(text, groups, true) {
		return false
	}
	s := secretOf(groups)[0]
	v, said := s.of(text), text[groups[0].from:s.from]
	connected := strings.TrimLeft(said, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZñłöş") != " "
	switch {
	case !meant(v), reference(v) && !mixed(v), hasSize(v), ordinary(v), callOrList(text, s):
		return false
	case !isBare(groups):
		if strings.Contains(v, " ") {
			return connected && strings.Count(v, " ") < 8 && !sentence(v)
		}
		return connected || mixed(v) || strings.HasSuffix(said, " '")
	case !connected:
		return mixed(v) && hasDigit(v) && len(v) >= 6 && v[0] != '-'
	case mixed(v), digitsOnly(v) && connected:
		return !strings.HasSuffix(strings.TrimSpace(said), " to") || mixed(v)
	case strings.Contains(said, " to "), strings.Count(v, "-") == 1, strings.ContainsAny(v, "/:._"):
		return said[0] >= 0x80 && !strings.ContainsAny(v, "/:")
	}
	return endsClause(text, groups[0].to, s.to)
}

func digitsOnly(v string) bool { return strings.Trim(v, "0123456789") == "" }

func callOrList(text string, s span) bool {
	return s.to < len(text) && strings.IndexByte("([{<", text[s.to]) >= 0
}

// endsClause reports whether what people say ends after a word, or goes on with another thing.
func endsClause(text string, matched, at int) bool {
	if matched > at {
		return true // a sign of the sentence
	}
	rest := text[at:min(len(text), at+maxSpace)]
	if rest == "" || strings.IndexByte("\n\r.,;!?)\"'", rest[0]) >= 0 || rest[0] >= 0x80 || rest[0] == '\\' {
		return true
	}
	next, _, _ := strings.Cut(rest[1:], " ")
	return rest[0] == ' ' && (strings.HasPrefix(next, "(") || strings.HasPrefix(next, leftOut) ||
		isOneOf("and for on but und für et pour y para -", next))
}

// toldToken judges what was said to be a token.
func toldToken(text string, groups []span) bool {
	if !trim(text, groups, true) {
		return false
	}
	s := secretOf(groups)[0]
	v := s.of(text)
	isKey := strings.Contains(lower(text[groups[0].from:s.from]), "key ") && len(v) >= 16 && !ordinary(v)
	return (isKey || mixed(v) && hasDigit(v) && len(v) >= 5) && meant(v) && !reference(v) && !hasSize(v) &&
		!callOrList(text, s) &&
		!strings.ContainsAny(v, "/: ")
}

// opening are signs before a secret, or before what is said of it.
const opening = "\"'`(*\\"

// toldBefore finds the secret where it is said first: "use hunter22 as the
// password".
func toldBefore(text string, at int) ([]span, int) {
	line := text[max(0, at-maxKey*2):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	i := len(line)
	back := func() (word span) {
		for i > 0 && line[i-1] == ' ' {
			i--
		}
		word.to = i
		for i > 0 && line[i-1] > ' ' {
			i--
		}
		word.from = i
		return word
	}
	verb := lower(back().of(line))
	for range 3 {
		if !isOneOf("the a my our your its das mein dein le la mon el mi tu root admin db database new", verb) {
			break
		}
		verb = lower(back().of(line))
	}
	asked := isOneOf("as als comme como come как", verb)
	if !asked && !isOneOf("is ist est es è é", verb) {
		return nil, 0
	}
	word := back()
	groups := []span{word, word}
	if !trim(line, groups, false) {
		return nil, 0
	}
	groups[1].from += strings.LastIndexAny(groups[1].of(line), opening) + 1
	v := groups[1].of(line)
	if !meant(v) || ordinary(v) || reference(v) || hasSize(v) {
		return nil, 0
	}
	use := lower(back().of(line))
	use = use[strings.LastIndexAny(use, opening)+1:]
	if !mixed(v) && !(asked && isOneOf("use using with enter type nimm benutze utilise usa", use)) {
		return nil, 0
	}
	from := at - len(line)
	return []span{{from + groups[1].from, from + groups[1].to}}, 0
}
