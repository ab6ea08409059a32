package host

import "context"

// clock is when a call last looked at the time. Host functions that are cheap
// look now and then, the others each time.
type clock struct{ steps int }

const (
	// maxSteps is how many cheap host functions run between two looks.
	maxSteps = 256
	// stepBytes is how many bytes take as long as a cheap host function.
	stepBytes = 4 << 10
)

// tick is for cheap host functions: it stops a guest whose time is up.
func (c *clock) tick(ctx context.Context) { c.moved(ctx, 0) }

// moved is tick for host functions that copy, clear or read n bytes.
func (c *clock) moved(ctx context.Context, n int) {
	if c.steps += 1 + n/stepBytes; c.steps >= maxSteps {
		c.steps = 0
		Check(ctx)
	}
}

// Check stops a guest whose time is up, from inside of a host function. The
// context says why.
func Check(ctx context.Context) {
	if ctx.Err() != nil {
		panic(ErrStopped)
	}
}
