package strategies

import "github.com/kagewasm/kagewasm/abi"

// Limits are the most that one tool result, or the arguments of one call, may
// be. Zero is no limit.
type Limits struct {
	// Tokens of the message that holds the result, or of the arguments.
	Tokens int
	// Bytes of either in a request body, see [Bytes].
	Bytes int
}

// over returns what something of n tokens and so many bytes has to come down to,
// in tokens, and whether it has to.
func (l Limits) over(n, bytes int) (tokens int, over bool) {
	tokens = n
	if l.Tokens > 0 {
		tokens = min(tokens, l.Tokens)
	}
	if l.Bytes > 0 && bytes > l.Bytes {
		tokens = min(tokens, int(float64(n)*float64(l.Bytes)/float64(bytes)*7/8))
	}
	return tokens, tokens < n
}

// attempts is how often a text is cut again because it was within its tokens and
// not within its bytes, before the notice stands for it.
const attempts = 4

// Cap returns edits that bring each single tool result, and each single call's
// arguments, within the limits, in the current turn too: one giant message must
// not make every request fail. Media in a result that is over them become a
// reference ("[image image/png, 1.2 MB]"); texts keep their beginning and end.
// Where not even that fits, the notice stands alone. Pinned messages stay, and
// so do those in gone, which leave the session anyway.
func Cap(v *View, gone []string, limits Limits, count abi.Counter) []abi.Edit {
	left := setOf(gone)
	var edits []abi.Edit
	for i := range v.Messages {
		m := &v.Messages[i]
		if v.Pinned[i] || left[m.ID] {
			continue
		}
		if m.Role == abi.RoleTool {
			if s, ok := capResult(m, v.Tokens[i], limits, count); ok {
				edits = append(edits, s.Edit)
			}
		}
		edits = editCalls(edits, m, count, func(args string) (string, int) { return capArguments(args, limits, count) })
	}
	return edits
}

// result is over for a message of n tokens; bytes are counted where they matter.
func (l Limits) result(n int, m *abi.Message) (tokens int, over bool) {
	bytes := 0
	if l.Bytes > 0 {
		bytes = Bytes(m)
	}
	return l.over(n, bytes)
}

func capResult(m *abi.Message, tokens int, limits Limits, count abi.Counter) (s shortened, ok bool) {
	limit, over := limits.result(tokens, m)
	if !over {
		return s, false
	}
	short := *m
	if m.Content.IsParts() { // media alone may be what is too much
		short.Content = abi.Text(abi.Defuse(plain(m.Content)))
		limit, _ = limits.result(count.Message(&short), &short)
		limit = min(limit, tokens-1)
	}
	for range attempts {
		if s, ok = shorten(m, tokens, limit, limit, count); !ok {
			break
		}
		short.Content = abi.Text(s.Text)
		if limit, over = limits.result(s.tokens, &short); !over {
			return s, true
		}
	}
	return replace(m, tokens, PruneNotice(tokens), count)
}

// capArguments returns arguments within the limits, and the tokens of those it
// was given. A token is a byte at least: what is short enough is not counted.
func capArguments(args string, limits Limits, count abi.Counter) (string, int) {
	bytes := textBytes(args)
	if _, over := limits.over(bytes, bytes); !over {
		return args, 0
	}
	n := count.Text(args)
	limit, over := limits.over(n, bytes)
	if !over {
		return args, n
	}
	a := takeApart(args, count.Text)
	for range attempts {
		short := a.clipped(n, limit, count.Text)
		if limit, over = limits.over(count.Text(short), textBytes(short)); !over {
			return short, n
		}
	}
	return a.clipped(n, 1, count.Text), n
}
