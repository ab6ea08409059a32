package abi

import (
	"slices"
	"strings"
)

// instructionHeads begin messages that hold the instructions of a project, as
// harnesses place them in a log.
var instructionHeads = []string{"# AGENTS.md instructions", "# CLAUDE.md instructions", "<user_instructions>",
	"<project_instructions>", "<INSTRUCTIONS>"}

// fileHeads begin the same where a file's name follows, see [namesInstructions].
var fileHeads = []string{"--- Context from: ", "Instructions from: "}

// shownHeads begin the lines at which elements of a harness show such a file.
var shownHeads = slices.Concat(fileHeads, []string{"Contents of "})

// instructionFiles are the names of files in which projects keep their instructions.
var instructionFiles = []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md"}

// instructionWords are of what each such form has one.
var instructionWords = []string{"nstructions", "INSTRUCTIONS", ".md", "claudeMd", "<rules>"}

// IsInstructions reports whether m holds the instructions of a project: its kind
// says so, or it has the form in which harnesses place such a file in a log.
func (m *Message) IsInstructions() bool {
	if m.Kind != "" || m.Role != RoleUser && m.Role != RoleSystem {
		return m.Kind == KindInstructions
	}
	parts := m.Content.Parts()
	return areInstructions(m.Text()) ||
		len(parts) > 1 && m.Words() == "" && slices.ContainsFunc(parts, func(p Part) bool { return areInstructions(p.Text) })
}

// areInstructions reports whether a text has the form in which harnesses place the instructions of a project, also
// behind other things that they write. Elements of theirs that show such a file are none beside words of a person.
func areInstructions(text string) bool {
	if !slices.ContainsFunc(instructionWords, func(s string) bool { return strings.Contains(text, s) }) {
		return false // most texts; others are read several times
	}
	text = strings.TrimSpace(text)
	for range maxCommands {
		if a := asideOf(text); a != nil {
			rest := a.behind(text)
			said, _ := words(rest)
			if a.instructions || a.shows && said == "" && showsInstructions(strings.TrimSuffix(text, rest)) {
				return true
			}
			text = rest
			continue
		}
		if text == "" || text[0] != '<' {
			return false
		}
		if said, _ := words(text); said == "" && showInstructions(text) {
			return true
		}
		rest, _ := cutCommands(strings.TrimSpace(withoutElements(text)))
		if rest == text {
			return false
		}
		text = rest
	}
	return false
}

// ruleElements are the elements of harnesses that hold instructions of a project: the rules of Cursor, and what
// OpenHands read in the repository.
var ruleElements = []string{"rules", "repository_instructions"}

// showInstructions reports whether one of the elements of a harness in a text holds instructions of a project, or shows
// a file of them: CLAUDE.md as Claude Code sends it, that of a folder which is read later, or GEMINI.md.
func showInstructions(text string) bool {
	for {
		at, name := nextElement(text)
		if at < 0 {
			return false
		}
		end := endOf(text[at:], name)
		if end < 0 {
			return false
		}
		if slices.Contains(ruleElements, strings.ToLower(name)) ||
			(name == "system-reminder" || name == "session_context") && showsInstructions(text[at:at+end]) {
			return true
		}
		text = text[at+end:]
	}
}

// showsInstructions reports whether a line of an element is where a file of instructions begins.
func showsInstructions(element string) bool {
	for more := true; more; {
		var line string
		line, element, more = strings.Cut(element, "\n")
		if line == "# claudeMd" {
			return true
		}
		for _, head := range shownHeads {
			if path, ok := strings.CutPrefix(line, head); ok && isInstructionFile(path) {
				return true
			}
		}
	}
	return false
}

// namesInstructions reports whether a text begins with the path of a file of instructions, and goes on behind its line.
func namesInstructions(text string) bool {
	line, rest, _ := strings.Cut(text, "\n")
	return isInstructionFile(line) && strings.TrimSpace(rest) != ""
}

// isInstructionFile reports whether a path is that of a file of instructions, with what stands behind it in its line.
func isInstructionFile(path string) bool {
	path, _, _ = strings.Cut(strings.TrimSpace(path), " (") // what kind it is
	path = strings.TrimSuffix(strings.TrimSuffix(path, " ---"), ":")
	return slices.Contains(instructionFiles, path[strings.LastIndexAny(path, `/\`)+1:])
}
