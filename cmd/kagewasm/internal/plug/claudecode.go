package plug

import (
	"cmp"
	"path/filepath"

	"github.com/kagewasm/kagewasm/integrations"
)

// claudeCode loads a mod from its skills folder by itself, so that none of its settings has to be touched.
var claudeCode = Agent{
	Name: "claude-code", Title: "Claude Code", Program: "claude",
	Get: "npm install -g @anthropic-ai/claude-code", Try: tryClaudeCode, Served: true,
	Plan: func(s Setup) (Plan, error) {
		home := claudeHome(s)
		files := integrations.Files("claude-code")
		files["hooks/command.js"] = s.script("How this mod calls kagewasm: kagewasm install wrote it.")
		mod := below(claudeMod(s), files)
		if s.Version != "" && Older(s.Version, modsSince) {
			p := claudeClassic(s)
			p.Former.Files = mod
			return p, nil
		}
		p := Plan{
			Files: mod,
			Rivals: append(naming("session.compact", filepath.Join(home, "skills")),
				naming("session.compact", filepath.Join(home, "plugins", "cache"))...),
			Next: "sessions that are open load it with /reload-plugins",
		}
		p.Former.Edits = []Edit{editClassic(s)}
		return p, nil
	},
}

func claudeHome(s Setup) string {
	return cmp.Or(s.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(s.Home, ".claude"))
}

// claudeMod is the folder of the mod.
func claudeMod(s Setup) string { return filepath.Join(claudeHome(s), "skills", "kagewasm") }
