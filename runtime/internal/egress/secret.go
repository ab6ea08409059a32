package egress

import (
	"fmt"
	"strings"
)

const secretOpen, secretClose = "{{secret:", "}}"

// expand writes secrets into a header's value, which may be most bytes long:
// a name of few bytes stands for many.
func (c *Client) expand(header, value string, most int) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(value, secretOpen)
		if len(before) > most-b.Len() {
			return "", headersTooLong()
		}
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, secretClose)
		secret, ok := c.secrets[name]
		switch {
		case !closed:
			return "", usagef("header %q: a secret without %s at its end", cut(header), secretClose)
		case !ok:
			return "", denied(fmt.Sprintf("header %q: there is no secret %q", cut(header), cut(name)),
				"the manifest names it under secrets, and the operator gives its value")
		case strings.ContainsFunc(secret, isControl):
			return "", usagef("header %q: the secret %s has control characters in it", cut(header), name)
		case len(secret) > most-b.Len():
			return "", headersTooLong()
		}
		b.WriteString(secret)
		value = after
	}
}
