package strategies

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	defaultProtectPercent = 30
	defaultArgThreshold   = 200
)

// due reports whether arguments are pruned now.
func (m ArgumentMode) due(compaction bool) bool {
	return m == ArgumentsIteration || m == ArgumentsCompaction && compaction
}

// PruneArguments returns edits that take the long texts out of old tool calls. Where a call's arguments
// have more than ArgThreshold tokens, and stand before the newest ProtectPercent of the window, texts
// of more than 256 bytes become notices. Keys and short values (paths, commands, numbers) stay, in
// their order; arguments that are no object become a notice whole. Pinned messages and the current turn
// stay. compaction says whether one is due, see [ArgumentMode].
func PruneArguments(v *View, compaction bool, cfg PruneConfig) []abi.Edit {
	if cfg.Off || !cfg.Arguments.due(compaction) {
		return nil
	}
	protect := v.Window * min(100, orDefault(cfg.ProtectPercent, defaultProtectPercent)) / 100
	threshold := orDefault(cfg.ArgThreshold, defaultArgThreshold)
	end := len(v.Messages) // what is older than that is pruned
	for seen := 0; end > 0 && seen < protect; end-- {
		seen += v.Tokens[end-1]
	}
	var edits []abi.Edit
	for i := range v.Messages[:end] {
		if v.Tokens[i] <= threshold || v.Pinned[i] || v.Turn[i] {
			continue
		}
		edits = editCalls(edits, &v.Messages[i], v.Count, func(args string) (string, int) {
			if len(args) <= threshold {
				return args, 0
			}
			n := v.Count.Text(args)
			if n <= threshold {
				return args, n
			}
			a := takeApart(args, v.Count.Text)
			return a.notices(), n
		})
	}
	return edits
}

// editCalls adds an edit for each call of m whose arguments shorter makes smaller. shorter also returns
// the tokens of the arguments as they were.
func editCalls(edits []abi.Edit, m *abi.Message, count abi.Counter,
	shorter func(args string) (short string, tokens int)) []abi.Edit {
	for k := range m.ToolCalls {
		args := m.ToolCalls[k].Arguments
		if isNotice(strings.Trim(args, `"`)) {
			continue
		}
		if short, n := shorter(args); len(short) < len(args) && count.Text(short) < n {
			edits = append(edits, abi.Edit{ID: m.ID, Call: k, Text: short})
		}
	}
	return edits
}
