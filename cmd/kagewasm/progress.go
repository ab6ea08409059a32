package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressDelay is how long work may take before anything is said about it.
const progressDelay = 300 * time.Millisecond

// progress is one line on a terminal that says what is being done. It appears
// only for work that takes a while, and nothing of it stays.
type progress struct {
	w     io.Writer // nil: nobody watches
	mu    sync.Mutex
	now   string
	shown bool
	timer *time.Timer
}

func newProgress(e env) *progress {
	p := &progress{}
	if e.terminal {
		p.w = e.stderr
	}
	return p
}

func (p *progress) step(format string, args ...any) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = fmt.Sprintf(format, args...)
	if p.shown {
		p.draw()
	} else if p.timer == nil {
		p.timer = time.AfterFunc(progressDelay, p.show)
	}
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != "" {
		p.shown = true
		p.draw()
	}
}

func (p *progress) draw() { fmt.Fprintf(p.w, "\r\x1b[K%s …", p.now) }

// done takes the line away.
func (p *progress) done() {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.now, p.shown, p.timer = "", false, nil
}
