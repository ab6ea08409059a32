package sandbox

import (
	"slices"
	"time"
)

// pool keeps instances of one plugin ready for its next calls. The protocol:
//
//   - An instance serves one call and never comes back. It is pristine: it was
//     restored from the snapshot, and no code of the guest has run in it.
//   - Instances are made by one goroutine of the pool, the refiller, which runs
//     while there is something to do. A call that found a snapshot wakes it
//     when it ends. The first call of a plugin leaves nothing behind but the
//     snapshot, so a plugin called once costs no more than that.
//   - take gives an instance to a call, the youngest one, or nil at once where
//     none is ready; the call then makes its own. It never waits.
//   - retire gets the instance back from the call, whatever became of it, and
//     leaves it to the refiller to close. The call does not look at it again.
//   - What is idle counts in the idle cache of the engine, which may take the
//     oldest away from any pool; and all of it is given up when no call took
//     an instance for idleTime.
//   - The engine closes the pool, once and after its last call. close waits for
//     the refiller; nothing of the pool is left when it returns.
type pool struct {
	cache *idleCache
	size  int // how many are idle at most
	make  func(export string) (*instance, error)

	// All of these are under the mutex of the idle cache.
	idle      []*instance // oldest first
	used      []*instance // to be closed
	wanted    bool        // a call ended, and the idle ones are not complete again
	export    string      // what the last call called
	taken     bool        // an instance, since the timer began
	timer     *time.Timer // of idleTime; nil while it does not run
	refilling chan struct{}
	closed    bool
}

// idleTime is how long instances wait for a call before they are given up.
const idleTime = time.Minute

// take returns an instance to call the export in, or nil.
func (p *pool) take(export string) *instance {
	if p == nil {
		return nil
	}
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	p.export = export
	if len(p.idle) == 0 {
		return nil
	}
	p.taken = true
	return p.remove(len(p.idle) - 1)
}

// retire takes the instance of a call that is over.
func (p *pool) retire(i *instance) {
	if p == nil {
		i.close()
		return
	}
	p.cache.mu.Lock()
	behind := len(p.used) >= maxUsed
	if !behind {
		p.used = append(p.used, i)
	}
	p.wanted = true
	p.wake()
	p.cache.mu.Unlock()
	if behind {
		i.close()
	}
}

// maxUsed is how many instances wait to be closed at most: their memory is
// still taken. Calls that are faster than the refiller close their own.
const maxUsed = 4

// close closes all instances.
func (p *pool) close() {
	if p == nil {
		return
	}
	p.cache.mu.Lock()
	p.closed = true
	delete(p.cache.pools, p)
	p.dropIdle()
	p.wake()
	refilling := p.refilling
	p.cache.mu.Unlock()
	if refilling != nil {
		<-refilling
	}
}

// wake starts the refiller where there is none and there is something to do.
// The mutex is held.
func (p *pool) wake() {
	if p.refilling == nil && (p.missing() || len(p.used) > 0) {
		p.refilling = make(chan struct{})
		go p.refill(p.refilling)
	}
}

// missing reports whether an instance is to be made. The mutex is held.
func (p *pool) missing() bool { return p.wanted && !p.closed && len(p.idle) < p.size }

// refill is the refiller: it makes what is missing and closes what is used,
// until there is neither.
func (p *pool) refill(done chan struct{}) {
	defer close(done)
	for {
		p.cache.mu.Lock()
		used, missing, export := p.used, p.missing(), p.export
		p.used = nil
		if len(used) == 0 && !missing {
			p.wanted, p.refilling = false, nil
			p.cache.mu.Unlock()
			return
		}
		p.cache.mu.Unlock()
		for _, i := range used {
			i.close()
		}
		if missing {
			p.add(export)
		}
	}
}

// add makes one instance.
func (p *pool) add(export string) {
	i, err := p.make(export)
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	switch {
	case err != nil:
		p.wanted = false // the next call makes its own, and fails with a reason
		return
	case p.closed:
		p.used = append(p.used, i)
		return
	}
	p.cache.made++
	i.made = p.cache.made
	p.idle = append(p.idle, i)
	p.cache.bytes += i.size
	if p.timer == nil {
		p.taken = false
		p.timer = time.AfterFunc(idleTime, p.expire)
	}
	p.cache.shrink()
}

// remove takes an instance out of the idle ones. The mutex is held.
func (p *pool) remove(at int) *instance {
	i := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	p.cache.bytes -= i.size
	return i
}

// dropIdle leaves all idle instances to the refiller. The mutex is held.
func (p *pool) dropIdle() {
	for len(p.idle) > 0 {
		p.used = append(p.used, p.remove(len(p.idle)-1))
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// expire gives up the idle instances where no call took one for idleTime.
func (p *pool) expire() {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	if p.timer == nil {
		return // closed meanwhile
	}
	if p.taken {
		p.taken = false
		p.timer.Reset(idleTime)
		return
	}
	p.wanted = false
	p.dropIdle()
	p.wake()
}
