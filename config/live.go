package config

import "sync"

// Live is a configuration that is read again when its file, or a prompt that it names, changes: call
// [Live.Current] each time one is needed. There is nothing to start and nothing to close: Current looks
// at the files, each time. It is safe for concurrent use.
type Live struct {
	path string

	mu     sync.Mutex
	seen   seen
	config *Config // the last good one
	err    error   // why there is none newer
}

// Follow reads a configuration to follow. The first reading must succeed.
func Follow(path string) (*Live, error) {
	l := &Live{path: path}
	if _, err := l.Current(); err != nil {
		return nil, err
	}
	return l, nil
}

// Current returns the newest configuration that could be read. It is the same one until something
// changes. The error says why the files as they are now could not be read.
func (l *Live) Current() (*Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed() {
		l.reload()
	}
	return l.config, l.err
}

// changed reports whether a file is another one than when it was read.
func (l *Live) changed() bool {
	f, err := openFolder(l.path)
	if err != nil || l.seen == nil {
		return true
	}
	defer f.close()
	for name, sum := range l.seen {
		if _, _ = f.read(name); f.seen[name] != sum {
			return true
		}
	}
	return false
}

func (l *Live) reload() {
	config, seen, err := load(l.path, l.config != nil)
	if l.seen, l.err = seen, err; err == nil {
		l.config = config
	}
}
