package abi

import (
	"slices"
	"strings"
)

// oneWord is what a command takes behind its name where that is any one word: the name of a model, a path.
const oneWord = "*"

// setups are the commands of Claude Code and its like that set up the program or a session of it, with what may stand
// behind one where a person typed it as it is: nothing, one word, or one of these words, with one more or, where it
// ends in dots, with any. Persons begin a task with the path of a page alike ("/login fails"): a command with other
// words behind it is none of these. Nor is one that asks the agent for work, as "/init" and "/review" do.
var setups = map[string]string{
	"add-dir": oneWord, "agents": "list reload refresh enable disable config", "approvals": "", "bashes": "",
	"clear": "", "color": oneWord, "compact": "", "config": "", "context": "detail all", "copy": "", "cost": "",
	"doctor": "", "effort": oneWord, "exit": "", "export": "html md json jsonl", "fast": "on off", "help": "",
	"hooks": "list panel enable disable", "ide": "enable disable install status", "kagewasm": oneWord,
	"keybindings": "", "login": "", "logout": "",
	"mcp":    "list ls desc nodesc schema auth refresh reload reconnect enable disable",
	"memory": "show list add... refresh reload inbox", "migrate-installer": "", "model": oneWord, "new": "",
	"output-style": oneWord, "permissions": "trust", "plugin": "list install uninstall enable disable marketplace",
	"plugins": "list", "privacy-settings": "", "quit": "", "reasoning": "on off stream", "release-notes": "",
	"rename": oneWord, "resume": "list save resume delete share debug", "rewind": "",
	"sandbox": "enable disable status", "skills": "list enable disable reload link", "stats": "session model tools",
	"status": "", "tasks": "", "terminal-setup": "", "theme": oneWord, "todos": "", "undo": "", "upgrade": "",
	"usage": "", "vim": "",
}

// typedSetups are more of them, of Gemini CLI, Qwen Code, Codex, opencode, aider, goose, Cursor, Copilot CLI and
// OpenClaw, which log a command as it was typed. A wrapped one is a command of a person's own with that name.
var typedSetups = map[string]string{
	"?": "", "about": "", "account": "", "activation": "mention always", "add": "", "allow-all": "",
	"approval-mode": oneWord, "apps": "", "auth": "", "auto-run": "on off", "bug": "", "builtin": oneWord,
	"cd": oneWord, "chat": "list save resume load delete share debug", "chat-mode": oneWord,
	"commands": "list reload", "compress": "", "connect": "", "copy-context": "", "corgi": "", "cwd": oneWord,
	"debug-config": "", "details": "", "diff": "", "dir": "add show", "directory": "add show", "docs": "", "drop": "",
	"edit": "", "editor": "", "editor-model": oneWord, "elevated": "on off ask full", "endplan": "",
	"experimental": "", "extension": "",
	"extensions": "list install uninstall update enable disable explore restart link config", "feedback": "",
	"footer": "", "fork": "", "language": "ui output", "list-dirs": "", "load": "", "ls": "", "map": "",
	"map-refresh": "", "max-mode": "on off", "mcps": "", "memories": "", "mention": "",
	"mode": "auto approve chat smart_approve plan", "models": "", "multiline-mode": "", "new-chat": "", "paste": "",
	"personality": "", "plan": "", "policies": "list", "privacy": "", "prompts": "", "ps": "", "q": "",
	"queue": "steer followup collect", "r": "", "read-only": "", "reasoning-effort": oneWord, "redo": "", "reset": "",
	"reset-allowed-tools": "", "restore": "", "rollout": "", "save": "", "session": "", "sessions": "",
	"settings": "", "setup-default-sandbox": "", "setup-github": "", "setup-terminal": "", "share": "", "shells": "",
	"shortcuts": "", "statusline": "", "stop": "", "summarize": "", "t": "", "themes": "",
	"think": "off minimal low medium high", "think-tokens": oneWord, "thinking": "", "timeline": "", "timestamps": "",
	"title": "", "tokens": "", "tools": "desc nodesc descriptions nodescriptions", "toolsets": "", "trust": "",
	"unshare": "", "variants": "", "verbose": "on off full", "version": "", "voice": "on off", "weak-model": oneWord,
	"whoami": "", "yolo": "",
}

// setsUp reports whether a command that a harness wrapped sets up the program or a session of it: with whatever
// arguments, it asks the agent for nothing.
func setsUp(name string) bool {
	_, ok := setups[name]
	return ok
}

// isTypedSetup reports whether a text is one line with a command that sets up the program and nothing else, as a person
// typed it. Some harnesses log it as a message.
func isTypedSetup(text string) bool {
	command, ok := strings.CutPrefix(text, "/")
	if !ok {
		return false
	}
	name, args, _ := strings.Cut(command, " ")
	takes, ok := setups[name]
	if !ok {
		takes, ok = typedSetups[name]
	}
	if args = strings.TrimSpace(args); !ok || args == "" {
		return ok
	}
	first, more, _ := strings.Cut(args, " ")
	words := strings.Fields(takes)
	switch {
	case strings.Contains(args, "\n"):
		return false
	case takes == oneWord:
		return more == ""
	}
	return !strings.Contains(more, " ") && slices.Contains(words, first) || slices.Contains(words, first+"...")
}

// isTypedSetup reports whether m is nothing but such a command, and what a harness added.
func (m *Message) isTypedSetup() bool {
	return m.isUser() && isTypedSetup(strings.TrimSpace(withoutElements(m.Text())))
}

// maxCommands is how many commands of a harness are looked for in one text: a search for each takes the whole text.
const maxCommands = 16

// withoutCommands is a text without the commands of a harness that it begins with, but for those that ask the agent for
// something, and without what a harness wrote behind them.
func withoutCommands(text string) string {
	rest, asked := cutCommands(text)
	if a := asideOf(rest); a != nil && rest != text {
		rest = a.behind(rest)
	}
	if rest != "" {
		asked = append(asked, rest)
	}
	return strings.Join(asked, "\n")
}

// cutCommands is a text without the commands of a harness that it begins with, and those of them that ask the agent for
// something.
func cutCommands(text string) (rest string, asked []string) {
	rest = text
	for range maxCommands {
		command, ok := element(rest, "command-name")
		if !ok {
			break
		}
		args, _ := element(rest, "command-args")
		rest = strings.TrimSpace(withoutElement(withoutElement(rest, "command-name"), "command-args"))
		if args != "" && !setsUp(strings.TrimPrefix(command, "/")) {
			asked = append(asked, command+" "+args)
		}
	}
	return rest, asked
}
