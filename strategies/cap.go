package strategies

import "github.com/kagewasm/kagewasm/abi"

// capped returns edits that bring each single tool result, and each single call's arguments, within
// limit tokens, in the current turn too: one giant message must not make every request fail. Media in a
// result that is over the limit become a reference ("[image image/png, 1.2 MB]"); texts keep their
// beginning and end. Where not even that fits, only the notice is left. Pinned messages stay as they
// are. Where may is set, only messages for which it reports true are cut. A limit of 0 or less is none.
func capped(v *View, limit int, may func(i int) bool) []abi.Edit {
	if limit <= 0 {
		return nil
	}
	var edits []abi.Edit
	for i := range v.Messages {
		m := &v.Messages[i]
		if v.Pinned[i] || may != nil && !may(i) {
			continue
		}
		if m.Role == abi.RoleTool && v.Tokens[i] > limit {
			if s, ok := capResult(m, v.Tokens[i], limit, v.Count); ok {
				edits = append(edits, s.Edit)
			}
		}
		edits = editCalls(edits, m, v.Count, func(args string) (string, int) { return capArguments(args, limit, v.Count) })
	}
	return edits
}

func capResult(m *abi.Message, tokens, limit int, count abi.Counter) (shortened, bool) {
	most := limit
	if m.Content.IsParts() { // media alone may be what is too much
		short := *m
		short.Content = abi.Text(abi.Defuse(plain(m.Content)))
		most = min(limit, count.Message(&short), tokens-1)
	}
	if s, ok := shorten(m, tokens, most, most, count); ok && s.tokens <= limit {
		return s, true
	}
	return replace(m, tokens, pruneNotice(tokens), count)
}

// capArguments returns arguments within the limit, and the tokens that they had. A token has at least a
// byte: arguments that have no more bytes than that are not counted.
func capArguments(args string, limit int, count abi.Counter) (string, int) {
	if textBytes(args) <= limit {
		return args, 0
	}
	n := count.Text(args)
	if n <= limit {
		return args, n
	}
	a := takeApart(args, count.Text)
	if short := a.clipped(n, limit, count.Text); count.Text(short) <= limit {
		return short, n
	}
	return a.clipped(n, 1, count.Text), n
}
