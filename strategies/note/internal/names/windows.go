package names

import "strings"

// isWindows reports whether a path is one of Windows.
func isWindows(p string) bool {
	return strings.HasPrefix(p, `\\`) || len(p) > 3 && p[1] == ':' && p[2] == '\\'
}

// windowsPath is a path of Windows as a list has it: in the text of a program each of its signs may stand twice.
func windowsPath(p string) string {
	share := strings.HasPrefix(p, `\\`)
	if !share || strings.HasPrefix(p, `\\\\`) {
		p = strings.ReplaceAll(p, `\\`, `\`)
	}
	return escaped(p)
}

// windowsEnd is where a path of Windows ends that begins at start, with a drive, and goes on at i, 0 where there is
// none: what stands behind the colon may be the end of a line as programs write it, "Q:\nA".
func windowsEnd(s string, start, i int) int {
	if s[start]|0x20 < 'a' || s[start]|0x20 > 'z' {
		return 0
	}
	return folders(s, start, i)
}

// shareEnd is where a path ends that begins at i with a computer of a net, \\server\share\file, 0 where there is none.
func shareEnd(s string, i int) int {
	n := signs(s, i)
	if n != 2 && n != 4 || i > 0 && s[i-1] > ' ' && strings.IndexByte("\"'`([{<,;|=", s[i-1]) < 0 {
		return 0
	}
	host := wordEnd(s[:min(len(s), i+n+maxName)], i+n)
	if w := s[i+n : host]; len(w) < 3 || !isWord(strings.TrimSuffix(w, "$"), "-._") {
		return 0
	}
	if host < len(s) && s[host] == '$' { // \\wsl$\Ubuntu
		host++
	}
	if signs(s, host) != n/2 {
		return 0 // an expression that texts match
	}
	return folders(s, i, host)
}

// signs is how many signs between folders stand at i, up to five.
func signs(s string, i int) int {
	s = s[i:min(len(s), i+5)]
	return len(s) - len(strings.TrimLeft(s, `\`))
}

// folders is where the folders of a path end that begins at start, and of which the first stands behind the sign at i.
func folders(s string, start, i int) int {
	limit, quoted := min(len(s), start+maxName), false
	if start > 0 && strings.IndexByte("\"'`", s[start-1]) >= 0 {
		text, _, ends := strings.Cut(s[start:limit], s[start-1:start])
		if quoted = ends && strings.IndexByte(text, '\n') < 0; quoted {
			limit = start + len(text)
		}
	}
	end, plain := 0, false
	for i < limit && s[i] == '\\' {
		if i++; i < limit && s[i] == '\\' {
			i++
		}
		from := i
		i = folderEnd(s[:limit], i, quoted)
		name := strings.TrimRight(s[from:i], trailing+" ")
		if strings.IndexByte(name, '/') >= 0 {
			return 0
		} else if name == "" {
			break
		}
		plain = plain || strings.IndexByte("nrtux", name[0]) < 0
		end = from + len(name)
		if !quoted && strings.IndexByte(name, '.') < 0 {
			i = behindBlank(s[:limit], i)
		}
	}
	if !plain || end == start+maxName || strings.Contains(s[start:end], redacted) {
		return 0
	}
	return end
}

// folderEnd is where the name of a folder or file ends that begins at i. In quotes it may hold blanks.
func folderEnd(s string, i int, quoted bool) int {
	for from := i; i < len(s); {
		next := wordEnd(s, i)
		if next == i && (s[i] == '$' || quoted && i > from && strings.IndexByte(" ()", s[i]) >= 0) {
			next++
		}
		if next == i {
			break
		}
		i = next
	}
	return i
}

// behindBlank is where a name ends that goes on behind a blank at i, i where it does not: C:\Program Files\kw.
func behindBlank(s string, i int) int {
	if rest := s[i:]; len(rest) > 1 && rest[0] == ' ' && rest[1] >= 'A' && rest[1] <= 'Z' {
		if next := wordEnd(rest, 1); next < len(rest) && rest[next] == '\\' {
			return i + next
		}
	}
	return i
}
