package tokens

import "context"

// Head returns the beginning of s, at most n tokens of it: the first n of the
// text, or a token or two less. It ends with a whole character, and takes about
// twice as long as counting what it returns.
func (c *Counter) Head(ctx context.Context, s string, n int) (string, error) {
	return c.within(ctx, n, func(most int) (string, error) {
		end, err := c.engine.Offset(ctx, s, most)
		return s[:end], err
	})
}

// Tail is [Counter.Head] from the end. It counts all of s.
func (c *Counter) Tail(ctx context.Context, s string, n int) (string, error) {
	all, err := c.TextContext(ctx, s)
	if err != nil {
		return "", err
	}
	return c.within(ctx, n, func(most int) (string, error) {
		from, err := c.engine.Offset(ctx, s, max(0, all-most))
		return s[from:], err
	})
}

// within cuts at fewer tokens until what is left has no more than n: where a
// text is cut, tokens may part.
func (c *Counter) within(ctx context.Context, n int, cut func(most int) (string, error)) (string, error) {
	for most := n; most > 0; {
		s, err := cut(most)
		if err != nil {
			return "", err
		}
		count, err := c.engine.Count(ctx, s)
		if err != nil {
			return "", err
		}
		if count <= n {
			return s, nil
		}
		most -= count - n
	}
	return "", nil
}
