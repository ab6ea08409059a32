package names

// ScanAll lists what scan finds, each with the letter of its class: p, s or n.
func ScanAll(s string, listing bool) []string {
	var list []string
	scan(s, listing, func(name string, c class) {
		list = append(list, string("-psn"[c])+":"+name)
	})
	return list
}

// Intro is what tests look at by name.
const Intro = intro
