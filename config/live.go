package config

import (
	"sync"
	"sync/atomic"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
)

// LiveOptions of a live configuration.
type LiveOptions struct {
	Options
	// Every is how often, at most, the files are looked at. Default 100 ms.
	Every time.Duration
	// OnReload, where set, is called when a change was read: with the new
	// configuration, or with the error for which the last good one stays. It
	// runs within the call that noticed, so it must not block, nor ask the same
	// Live.
	OnReload func(*Config, error)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

const defaultEvery = 100 * time.Millisecond

// Live is a configuration that is read again when its file, or a prompt that it
// names, changes (FEATURES T11). There is nothing to start and nothing to
// close: whoever asks looks at the files, now and then. It is safe for
// concurrent use.
type Live struct {
	path    string
	opts    LiveOptions
	started time.Time
	// due is when to look again, in nanoseconds since started.
	due     atomic.Int64
	current atomic.Pointer[reading]

	mu     sync.Mutex // of looking and reading
	stamps []stamp
}

// reading is what came of the last reading.
type reading struct {
	config *Config // the last good one
	err    error   // why there is none newer
}

// Open reads a configuration to follow. The first reading has to succeed.
func Open(path string, opts LiveOptions) (*Live, error) {
	if opts.Every == 0 {
		opts.Every = defaultEvery
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	l := &Live{path: path, opts: opts, started: opts.Now()}
	c, err := l.load()
	if err != nil {
		return nil, err
	}
	l.current.Store(&reading{config: c})
	l.due.Store(int64(opts.Every))
	return l, nil
}

// Current is the newest configuration that could be read.
func (l *Live) Current() *Config {
	l.look()
	return l.current.Load().config
}

// Policy is the policy of an agent as it is now, for [kagewasm.Options].
func (l *Live) Policy(agentPath string) kagewasm.Policy { return l.Current().Policy(agentPath) }

// Err is why the configuration as it stands in the file is not the current
// one; nil where it is.
func (l *Live) Err() error {
	l.look()
	return l.current.Load().err
}

// Reload looks at the files at once, whenever that was done last.
func (l *Live) Reload() error {
	l.mu.Lock()
	l.refresh(l.opts.Now())
	l.mu.Unlock()
	return l.current.Load().err
}

// look looks at the files where it is time to. Who comes while somebody else
// looks goes on with what there is.
func (l *Live) look() {
	now := l.opts.Now()
	if int64(now.Sub(l.started)) < l.due.Load() || !l.mu.TryLock() {
		return
	}
	l.refresh(now)
	l.mu.Unlock()
}

// refresh reads again what has changed. The caller holds the lock.
func (l *Live) refresh(now time.Time) {
	l.due.Store(int64(now.Sub(l.started) + l.opts.Every))
	if !l.changed(now) {
		return
	}
	next, err := l.load()
	if err != nil {
		next = l.current.Load().config
	}
	l.current.Store(&reading{config: next, err: err})
	if l.opts.OnReload != nil {
		l.opts.OnReload(next, err)
	}
}

func (l *Live) changed(now time.Time) bool {
	changed := false
	for i, s := range l.stamps {
		next, same := s.same(now)
		l.stamps[i] = next
		changed = changed || !same
	}
	return changed
}

// load reads the configuration, and keeps what its files look like. What was
// there before does not become nothing: editors empty a file before they write.
func (l *Live) load() (*Config, error) {
	c, stamps, err := loadFiles(l.path, l.opts.Options, l.opts.Now(), l.current.Load() == nil)
	l.stamps = stamps
	return c, err
}
