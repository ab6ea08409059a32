package ui

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Work that takes less than progressDelay passes without a word.
const progressDelay = 300 * time.Millisecond

// Progress is one line on a terminal that says what is being done. It appears
// only for work that takes a while, and nothing of it stays.
type Progress struct {
	w     io.Writer // nil: nobody watches
	width int       // of the terminal, in columns; 0 where it is not known
	mu    sync.Mutex
	now   safe
	shown bool
	timer *time.Timer
}

// NewProgress begins with nothing to say. Where nobody watches, w is nil, and
// nothing is ever written. A line that is wider than the terminal would not be taken
// away again, so it is cut.
func NewProgress(w io.Writer, width int) *Progress { return &Progress{w: w, width: width} }

// Step says what is being done now.
func (p *Progress) Step(format string, args ...any) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = safef(format, args...)
	if room := p.width - len(" ..."); p.width > 0 && columns(string(p.now)) > room {
		p.now = safe(shortened(string(p.now), max(1, room)))
	}
	if p.shown {
		p.draw()
	} else if p.timer == nil {
		p.timer = time.AfterFunc(progressDelay, p.show)
	}
}

func (p *Progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != "" {
		p.shown = true
		p.draw()
	}
}

func (p *Progress) draw() { fmt.Fprintf(p.w, "\r\x1b[K%s …", p.now) }

// Done takes the line away.
func (p *Progress) Done() {
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
