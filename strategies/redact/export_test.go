package redact

// Untold is the redactor of [Defaults] which tries each expression wherever a word of it stands.
func Untold() *Redactor {
	all := Defaults()
	for i := range all {
		all[i].may = nil
	}
	return compiled(all)
}
