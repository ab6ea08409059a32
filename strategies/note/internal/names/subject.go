package names

// maxSubject is what [Subject] is cut to, in bytes: a path that is cut is none.
const maxSubject = 160

// Subject says what a tool call is about, by its arguments: the command it runs,
// or the file, or else the first short text in it (a pattern, an address). It is
// cut to a line of about 160 bytes, and empty where the arguments say nothing.
func Subject(arguments string) string {
	var command, file, other string
	eachString(arguments, func(key, value string) {
		switch {
		case commandKeys[key] && command == "":
			command = commandLine(value)
		case pathKeys[key] && file == "":
			file = value
		case key != "" && other == "" && len(value) <= maxSubject:
			other = value
		}
	})
	switch {
	case editorVerbs[command] && file != "":
		return cut(command+" "+file, maxSubject)
	case command != "":
		return cut(command, maxSubject)
	case file != "":
		return cut(file, maxSubject)
	}
	return other
}
