package strategies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// PruneConfig tunes [Prune]. The zero value is the default: protect 40,000
// tokens and the tools read and skill, act from 20,000 tokens of savings
// (FEATURES K20). Negative numbers mean zero.
type PruneConfig struct {
	// Off switches pruning off.
	Off bool
	// ProtectTokens of the newest tool output stay. Default 40,000.
	ProtectTokens int
	// MinimumSavings in tokens below which nothing is done. Default 20,000.
	MinimumSavings int
	// ProtectedTools are never pruned, whatever the case of their names. Nil
	// is read and skill.
	ProtectedTools []string

	// ShortenTokens, where set, is tier 1 of ion (I7): tool output of more
	// tokens than that keeps EndTokens of its beginning and of its end. Ion's
	// own is 2,000. Default off.
	ShortenTokens int
	// EndTokens is what is kept at each end. Default 500.
	EndTokens int
	// Reference makes the notice name what was read or run, so that the agent
	// can do it again: tier 2 of ion. Default off.
	Reference bool

	// Arguments says when the arguments of old tool calls are pruned (A13).
	// Default [ArgumentsOff].
	Arguments ArgumentMode
	// ProtectPercent of the window, at the end of the session, in which
	// arguments stay. Default 30.
	ProtectPercent int
	// ArgThreshold is the least number of tokens that arguments have to have to
	// be pruned. Default 200.
	ArgThreshold int
}

// ArgumentMode says when tool-call arguments are pruned.
type ArgumentMode string

const (
	ArgumentsOff        ArgumentMode = ""
	ArgumentsIteration  ArgumentMode = "iteration"  // before every model call
	ArgumentsCompaction ArgumentMode = "compaction" // when a compaction is due
)

const (
	defaultProtectTokens  = 40_000
	defaultMinimumSavings = 20_000
)

var defaultProtectedTools = []string{"read", "skill"}

// PruneNotice is what stands for pruned tool output of n tokens.
func PruneNotice(n int) string { return fmt.Sprintf("[Pruned — %d tokens]", n) }

// isNotice reports whether text is what PruneNotice writes. One notice may be
// shorter than another, and yet says more than one about itself.
func isNotice(text string) bool {
	var n int
	_, err := fmt.Sscanf(text, "[Pruned — %d tokens]", &n)
	return err == nil && text == PruneNotice(n)
}

// Prune replaces old tool output by a notice: newest to oldest over tool
// results, the newest ProtectTokens stay; so do pinned messages, protected
// tools, notices, and results the notice would not shorten. It returns no
// edits unless they save MinimumSavings in all.
//
// pinned marks messages that stay as they are; count is the cost of a message.
func Prune(msgs []abi.Message, tokens []int, pinned []bool, cfg PruneConfig, count func(*abi.Message) int) []abi.Edit {
	if cfg.Off {
		return nil
	}
	protect := orDefault(cfg.ProtectTokens, defaultProtectTokens)
	tools := cfg.ProtectedTools
	if tools == nil {
		tools = defaultProtectedTools
	}
	names := toolNames(msgs)
	var edits []abi.Edit
	seen, saved := 0, 0
	for i := len(msgs) - 1; i >= 0; i-- {
		m := &msgs[i]
		if m.Role != abi.RoleTool {
			continue
		}
		protected := seen < protect
		seen += tokens[i]
		if protected || pinned[i] || isProtected(names[i], tools) || isNotice(m.Text()) {
			continue
		}
		short := *m
		short.Content = abi.Text(PruneNotice(tokens[i]))
		if n := tokens[i] - count(&short); n > 0 {
			saved += n
			edits = append(edits, abi.Edit{ID: m.ID, Call: abi.EditContent, Text: short.Text()})
		}
	}
	if saved < orDefault(cfg.MinimumSavings, defaultMinimumSavings) {
		return nil
	}
	slices.Reverse(edits)
	return edits
}

func orDefault(n, def int) int {
	switch {
	case n == 0:
		return def
	case n < 0:
		return 0
	}
	return n
}

func isProtected(name string, tools []string) bool {
	return slices.ContainsFunc(tools, func(t string) bool { return strings.EqualFold(t, name) })
}

// toolNames returns the name of the tool each result is from: its own, or that
// of the call it answers.
func toolNames(msgs []abi.Message) []string {
	names := make([]string, len(msgs))
	open := make(map[string]string)
	for i := range msgs {
		m := &msgs[i]
		for _, c := range m.ToolCalls {
			open[c.ID] = c.Name
		}
		if m.Role == abi.RoleTool {
			if names[i] = m.Name; names[i] == "" {
				names[i] = open[m.ToolCallID]
			}
			delete(open, m.ToolCallID)
		}
	}
	return names
}
