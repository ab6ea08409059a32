package hooks

import (
	"fmt"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// circuit is what a breaker knows of one plugin. The breaker's lock guards it.
type circuit struct {
	plugin   string           // its name
	failures map[abi.Hook]int // in a row
	last     *abi.Error
	// until is the end of the cool-down, zero where the circuit is closed. A hook opened it, for the
	// trips-th time since that hook last worked.
	until time.Time
	hook  abi.Hook
	trips int
	trial *permit // the call on trial, or nil
}

func (c *circuit) open(hook abi.Hook, now time.Time, opts *BreakerOptions) {
	cooldown := opts.Cooldown
	for range c.trips {
		cooldown = min(2*cooldown, opts.MaxCooldown)
	}
	if c.trips < 64 { // by then it doubles no more
		c.trips++
	}
	c.until, c.hook, c.trial = now.Add(cooldown), hook, nil
}

// permit is the permission to make one call. The caller reports how the call went: failed, abandoned,
// or answered and then, once it is known to be of use, succeeded.
type permit struct {
	breaker *Breaker
	circuit *circuit
	hook    abi.Hook
}

// admit returns a permit for a call of the plugin, or why it is refused, and until when.
func (b *Breaker) admit(p Plugin, hook abi.Hook) (leave *permit, refused *abi.Error, until time.Time) {
	c := b.circuit(p)
	leave = &permit{breaker: b, circuit: c, hook: hook}
	b.update(func(now time.Time) {
		switch {
		case c.until.IsZero():
		case c.trial == nil && !now.Before(c.until):
			c.trial = leave
		default:
			refused, until = c.quarantined(), c.until.UTC()
		}
	})
	return leave, refused, until
}

func (c *circuit) quarantined() *abi.Error {
	when := "until " + c.until.UTC().Format(time.RFC3339)
	if c.trial != nil {
		when = "while another call of it is on trial"
	}
	last := "an error that nobody kept"
	if c.last != nil {
		if last = string(c.last.Code); c.last.Message != "" {
			last += ": " + c.last.Message
		}
	}
	return &abi.Error{Code: abi.CodeQuarantined, Op: "call", Phase: abi.PhaseCall,
		Message: fmt.Sprintf("not called %s: %s failed %d times in a row, at last with %s", when, c.hook,
			c.failures[c.hook], last),
		Hint: "then it is tried again; fix or replace the plugin", Err: cause(c.last)}
}

// cause returns e as an error that is nil where e is.
func cause(e *abi.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// failed counts a failure. Where that one was too many, it returns the end of the quarantine.
func (l *permit) failed(err *abi.Error) (until time.Time) {
	c := l.circuit
	l.breaker.update(func(now time.Time) {
		if !c.until.IsZero() && c.trial != l {
			return // a call from before the circuit opened
		}
		c.last = new(*err)
		c.failures[l.hook]++
		if most := l.breaker.opts.Failures; most > 0 && c.failures[l.hook] >= most {
			c.open(l.hook, now, &l.breaker.opts)
			until = c.until.UTC()
		}
	})
	l.breaker.changed()
	return until
}

// answered ends a trial: the plugin is called again. One more failure of the hook that opened the
// circuit opens it again.
func (l *permit) answered() {
	c, ended := l.circuit, false
	l.breaker.update(func(time.Time) {
		if c.trial == l {
			c.until, c.trial = time.Time{}, nil
			c.failures[c.hook] = l.breaker.opts.Failures - 1
			ended = true
		}
	})
	if ended {
		l.breaker.changed()
	}
}

// succeeded forgets the failures of the hook.
func (l *permit) succeeded() {
	c, forgot := l.circuit, false
	l.breaker.update(func(time.Time) {
		if !c.until.IsZero() {
			return
		}
		forgot = c.failures[l.hook] > 0 || c.hook == l.hook
		delete(c.failures, l.hook)
		if c.hook == l.hook {
			c.hook, c.trips = "", 0
		}
	})
	if forgot {
		l.breaker.changed()
	}
}

// abandoned says that the call neither failed nor succeeded: the plugin is not to blame for how it
// ended.
func (l *permit) abandoned() {
	c := l.circuit
	l.breaker.update(func(time.Time) {
		if c.trial == l {
			c.trial = nil
		}
	})
}
