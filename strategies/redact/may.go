package redact

import "strings"

// What follows says by the next few bytes where an expression cannot match. It is compiled when it is first tried, and
// most sessions never need it then. Each of these says yes wherever its expression matches: see TestMay.

// space is what \s matches.
const space = " \t\n\f\r"

// lettersEnd returns where the letters of ASCII end that stand at a place.
func lettersEnd(text string, at int) int {
	for at < len(text) && 'a' <= text[at]|0x20 && text[at]|0x20 <= 'z' {
		at++
	}
	return at
}

// spaceEnd returns where the white space ends that stands at a place.
func spaceEnd(text string, at int) int {
	for at < len(text) && strings.IndexByte(space, text[at]) >= 0 {
		at++
	}
	return at
}

// logsIn reports whether "@" may end who logs in at the address that goes on with "://" at a place.
func logsIn(text string, at int) bool {
	rest := text[at+len("://"):]
	sign := strings.IndexAny(rest, "@/[]<>\"'`"+space)
	return sign >= 0 && rest[sign] == '@'
}

// dotted reports whether a dot ends the letters, digits, "_" and "-" that stand at a place.
func dotted(text string, at int) bool {
	for at < len(text) && isWord(text[at]) {
		at++
	}
	return at < len(text) && text[at] == '.'
}

// namesLogin reports whether a word that may be "password" stands behind "login", and a name, at a place.
func namesLogin(text string, at int) bool {
	at = spaceEnd(text, at+len("login"))
	for at < len(text) && strings.IndexByte("\"'`\\"+space, text[at]) < 0 {
		at++
	}
	for at < len(text) && strings.IndexByte(space+"\\", text[at]) >= 0 {
		if text[at] == '\\' {
			at++ // of "\n"
		}
		at++
	}
	return at < len(text) && text[at]|0x20 == 'p'
}

// tellsToken reports whether the name of a token at a place may go on with what it is.
func tellsToken(text string, at int) bool {
	end := lettersEnd(text, at)
	if end+1 >= len(text) {
		return false
	}
	first := low[text[at]]
	if kind := low[text[end+1]]; first != 't' && strings.IndexByte(" _-", text[end]) >= 0 &&
		(kind == 'k' || kind == 't' || kind >= 0x80) {
		return true // an API key, a secret token
	} else if first != 't' && first != 's' {
		return false
	}
	const said = "':-" // or a word, of which the first letter is one of these
	next := spaceEnd(text, end)
	switch {
	case next == len(text):
		return false
	case next == end:
		return strings.IndexByte(said, text[next]) >= 0 || text[next] >= 0x80
	}
	return strings.IndexByte(said+"adefijloptvw", text[next]) >= 0 || text[next] >= 0x80
}

// namesToken reports whether a word with a digit or a capital in it stands behind the name of a token at a place.
func namesToken(text string, at int) bool {
	end := lettersEnd(text, at)
	at = spaceEnd(text, end)
	if at == end || at == len(text) {
		return false
	}
	if strings.IndexByte("\"'`", text[at]) >= 0 {
		at++
	}
	for at < len(text) && ('a' <= text[at] && text[at] <= 'z' || text[at] == '_' || text[at] == '-') {
		at++
	}
	return at < len(text) && ('0' <= text[at] && text[at] <= '9' || 'A' <= text[at] && text[at] <= 'Z')
}

// goesOn reports whether white space or a colon ends the word at a place.
func goesOn(text string, at int) bool {
	end := lettersEnd(text, at)
	return end < len(text) && strings.IndexByte(":"+space, text[end]) >= 0
}
