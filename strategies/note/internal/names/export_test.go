package names

import "strings"

// ScanAll lists what scan finds, each with the letter of its class: p, s or n.
func ScanAll(s string, listing bool) []string {
	var list []string
	as := words
	if listing {
		as = output
	}
	new(lexicon).scan(s, as, func(name string, c class, _ string) {
		list = append(list, string("-psn"[c])+":"+name)
	})
	return list
}

// Render writes all that fits into a budget, as a note has it: the lists, and in a tenth
// of it the last commands and failures.
func (l *Names) Render(budget int, count func(string) int) string {
	text, _ := Fit(budget, 0, 60, count, func(budget int) string {
		var events []string
		left := budget / 10
		add := func(text string) {
			if n := count(text) + 1; n <= left {
				events, left = append(events, text), left-n
			}
		}
		if commands := l.Commands(budget/200, ""); len(commands) > 0 {
			add(HeadCommands + "\n- " + strings.Join(commands, "\n- "))
		}
		if fails := l.Failures(); len(fails) > 0 {
			add(HeadFailed + "\n" + blockMark + "\n" + fails[len(fails)-1].Text + "\n" + blockMark)
		}
		n := l.Lists(budget*9/10+left, "", count)
		var parts []string
		for _, text := range append([]string{n.Root, n.Modified, n.Read, n.Rest}, events...) {
			if text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, "\n\n")
	})
	return text
}

// WithoutTimes is [withoutTimes].
func WithoutTimes(s string) string { return withoutTimes(s) }

// Texts is how many texts were looked through.
func (f *Found) Texts() int { return len(f.in) }

// ListedAsRead reports whether a file of this name that was read is listed as such. Short: people say its name alone.
// Rooted: it lies below the folder that paths are relative to.
func ListedAsRead(name string, short, rooted bool) bool {
	return (&item{name: name, class: path, short: short, rooted: rooted, use: read}).list() == listRead
}
