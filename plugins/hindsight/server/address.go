package server

import "strings"

// Package net/url would be 60 KB of a guest, with all that it imports, for these two.

// segment is a text as a segment of a path, as url.PathEscape writes it.
func segment(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.~$&+:=@", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// origin is how a server is granted.
func origin(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if host == "" {
		return address
	}
	if name, _, _ := strings.Cut(host, ":"); strings.EqualFold(scheme, "http") && name != "localhost" {
		return "http://" + host
	}
	return host
}
