package plug

import "path/filepath"

// modsSince is the first version of Claude Code that loads mods by itself.
const modsSince = "2.1.287"

// claudeClassic is for versions without mods, which let nobody compact for them: hooks tell the model that summarizes
// what to keep, and hand the note to the conversation that begins behind the summary.
func claudeClassic(s Setup) Plan {
	settings := filepath.Join(claudeHome(s), "settings.json")
	command := s.hook("claude-code")
	return Plan{
		Edits: []Edit{editHooks(settings, "claude-code", hook{event: "PreCompact", command: command},
			hook{event: "SessionStart", matcher: "compact", command: command})},
		Next: "this version has no mods, so Claude Code goes on summarizing, and kagewasm adds its note: " + modsSince +
			" lets kagewasm compact",
	}
}
