package hooks

import (
	"context"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Late are the calls of a hook that nobody waits for any more. They go on until they end or their time
// is up, even when the caller has ended.
type Late struct {
	in    *abi.Input
	calls []*running
}

// Answers waits for the calls, and returns the answers. Only what they retain and
// ask for has an effect.
func (l *Late) Answers() *Answers {
	all := &Answers{}
	if l == nil {
		return all
	}
	for _, r := range l.calls {
		<-r.done
		all.onlyRetain(l.in, r.answer, "it was not waited for: only what it retains and asks for counts")
	}
	return all
}

// after waits for the plugin's late call, so that its calls come one after the other.
func (l *Late) after(plugin string) {
	if l == nil {
		return
	}
	for _, r := range l.calls {
		if r.plugin == plugin {
			<-r.done
		}
	}
}

// running is a call that its caller can stop waiting for.
type running struct {
	plugin string
	done   chan struct{} // closed when there is an answer
	answer answer
}

// beside are calls that run side by side, in the order of the plugins.
type beside struct {
	in     *abi.Input
	calls  []*running
	detach func() bool // from the caller's context
	start  time.Time
}

// start calls the plugins that handle the hook, each after its earlier call has ended, and returns at
// once.
func (d *Dispatcher) start(ctx context.Context, plugins []Plugin, in *abi.Input, earlier *Late) *beside {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &beside{in: in, start: time.Now(), detach: context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })}
	for _, p := range plugins {
		if !handles(p, in.Hook) {
			continue
		}
		r := &running{plugin: p.Manifest().Name, done: make(chan struct{})}
		input := isolated(in) // before the caller goes on
		b.calls = append(b.calls, r)
		go func() {
			defer close(r.done)
			earlier.after(r.plugin)
			ctx, cancel := withLimit(own, d.timeout)
			defer cancel()
			r.answer = d.callOne(ctx, p, input)
		}()
	}
	return b
}

// wait waits for the calls, at most until so long after they were started.
func (b *beside) wait(most time.Duration) {
	timer := time.NewTimer(max(0, most-time.Since(b.start)))
	defer timer.Stop()
	for _, r := range b.calls {
		select {
		case <-r.done:
		case <-timer.C:
			return
		}
	}
}

// answers returns the answers that are there, and the calls that go on. The caller cannot end those any
// more.
func (b *beside) answers() (answers []answer, late *Late) {
	b.detach()
	for _, r := range b.calls {
		select {
		case <-r.done:
			answers = append(answers, r.answer)
		default:
			if late == nil {
				late = &Late{in: b.in}
			}
			late.calls = append(late.calls, r)
		}
	}
	return answers, late
}

// outcomes returns the outcomes of the calls that go on.
func (l *Late) outcomes() []Outcome {
	if l == nil {
		return nil
	}
	return lists.Map(l.calls, func(r *running) Outcome {
		o := Outcome{Plugin: r.plugin, Hook: l.in.Hook, Outcome: OutcomeLate}
		o.warn("it was not waited for, and goes on: what it retains and asks for counts, what it injects or pins does not")
		return o
	})
}

// inOrder sorts what plugins said into the order of the plugins.
func inOrder[T any](d *Dispatcher, list []T, plugin func(T) string) {
	at := make(map[string]int, len(d.all))
	for i, p := range d.all {
		at[p.Manifest().Name] = i
	}
	lists.SortStable(list, func(a, b T) int { return at[plugin(a)] - at[plugin(b)] })
}
