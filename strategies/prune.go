package strategies

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// PruneConfig tunes [Prune], [PruneArguments] and [Trim]. The zero value is the
// default: protect 40,000 tokens and the tools read and skill, act from 20,000
// tokens of savings, leave arguments alone. Negative numbers mean zero.
type PruneConfig struct {
	// Off switches pruning off, but not trimming.
	Off bool
	// ProtectTokens is how many tokens of the newest tool output stay. Default 40,000.
	ProtectTokens int
	// MinimumSavings is the number of tokens below which nothing is done. Default 20,000.
	MinimumSavings int
	// ProtectedTools are never pruned, whatever the case of their names. Nil
	// is read and skill.
	ProtectedTools []string

	// ShortenTokens, where set, is a tier before that: tool output of more
	// tokens keeps EndTokens of its beginning and of its end. 2,000 is a good
	// value. MinimumSavings holds for both tiers together; with a small window
	// it has to be lower, too. Default off.
	ShortenTokens int
	// EndTokens is what is kept at each end. Default 500.
	EndTokens int
	// Reference makes the notice name what was read or run, so that the agent
	// can do it again. Default off.
	Reference bool

	// Arguments says when the arguments of old tool calls are pruned. Default
	// [ArgumentsOff].
	Arguments ArgumentMode
	// ProtectPercent is the part of the window, in percent, at the end of the session, in which
	// arguments stay. Default 30.
	ProtectPercent int
	// ArgThreshold is the number of tokens above which a call's arguments are
	// pruned. Default 200.
	ArgThreshold int

	// Trim is about synthetic messages that repeat themselves.
	Trim TrimConfig
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
	defaultEndTokens      = 500
)

var defaultProtectedTools = []string{"read", "skill"}

// Prune returns edits that replace old tool output by a notice. The newest ProtectTokens of tool
// results stay, and so do pinned messages, protected tools, notices, and results that the notice would
// not shorten.
//
// With ShortenTokens, longer results among the newest ProtectTokens keep only their beginning and end,
// and count as what is left of them. Pinned messages, protected tools and the current turn stay as they
// are.
//
// It returns no edits unless they save MinimumSavings in all: what is rewritten is lost to the
// provider's cache, so it is rewritten seldom.
func Prune(l List, cfg PruneConfig, count abi.Counter) []abi.Edit {
	protect := orDefault(cfg.ProtectTokens, defaultProtectTokens)
	minimum := orDefault(cfg.MinimumSavings, defaultMinimumSavings)
	tools := cfg.ProtectedTools
	if tools == nil {
		tools = defaultProtectedTools
	}
	long := func(n int) bool { return cfg.ShortenTokens > 0 && n > cfg.ShortenTokens }
	if cfg.Off || !canPay(l, protect, minimum, long) {
		return nil
	}
	var turn []bool
	if cfg.ShortenTokens > 0 {
		turn = abi.CurrentTurn(l.Messages)
	}
	calls := callsOf(l.Messages)
	var edits []abi.Edit
	seen, saved := 0, 0
	for i := len(l.Messages) - 1; i >= 0; i-- {
		m := &l.Messages[i]
		if m.Role != abi.RoleTool {
			continue
		}
		var s shortened
		ok := false
		switch old := seen >= protect; {
		case !old && !long(l.Tokens[i]), l.Pinned[i], isProtected(m, calls[i], tools):
		case old:
			s, ok = withNotice(m, l.Tokens[i], calls[i], cfg.Reference, count)
		case !turn[i]:
			s, ok = shorten(m, l.Tokens[i], cfg.ShortenTokens, orDefault(cfg.EndTokens, defaultEndTokens), count)
		}
		seen += l.Tokens[i]
		if ok {
			saved += l.Tokens[i] - s.tokens
			seen -= l.Tokens[i] - s.tokens
			edits = append(edits, s.Edit)
		}
	}
	if saved < minimum {
		return nil
	}
	slices.Reverse(edits)
	return edits
}

// canPay reports, with a quick look, whether all that is old or long adds up to the minimum. Notices
// cannot go, and a session that was pruned before is full of them.
func canPay(l List, protect, minimum int, long func(int) bool) bool {
	seen, most := 0, 0
	for i := len(l.Messages) - 1; i >= 0; i-- {
		m := &l.Messages[i]
		if m.Role != abi.RoleTool {
			continue
		}
		if (seen >= protect || long(l.Tokens[i])) && (m.Content.IsParts() || !isNotice(m.Text())) {
			most += l.Tokens[i]
		}
		seen += l.Tokens[i]
	}
	return most > 0 && most >= minimum
}

// withNotice returns the edit that replaces a result by a notice: the one with a reference where that
// saves something, else the plain one.
func withNotice(m *abi.Message, tokens int, call *abi.ToolCall, reference bool, count abi.Counter) (shortened, bool) {
	if reference {
		if s, ok := replace(m, tokens, referenceNotice(tokens, call), count); ok {
			return s, true
		}
	}
	return replace(m, tokens, pruneNotice(tokens), count)
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
