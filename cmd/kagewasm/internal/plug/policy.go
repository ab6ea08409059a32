package plug

import "fmt"

// Policy is the configuration that compactions of an agent go by, as it is written first.
func Policy(a Agent) []byte {
	return fmt.Appendf(nil, `# How kagewasm compacts for %s: this file, whatever configuration a repository brings.
#   kagewasm config explain --config FILE   shows what holds, and where each value comes from
#   kagewasm init                           writes a file with all settings, to copy from
agents:
  main:
    compaction:
      # lower_threshold: 0.6  # the share of the window, and of the conversation, that is left
`, a.Title)
}
