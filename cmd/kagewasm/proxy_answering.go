package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/proxy"
)

// answering is a proxy that goes on answering where its settings or the state folder cannot be used: an agent
// whose provider it is could do nothing otherwise. Requests are passed on until they can be used.
type answering struct {
	e     env
	start func() (*proxying, error)
	end   func(*proxying)
	// passes passes requests on. It reads what this state folder has sealed, where it can.
	passes *proxy.Proxy

	mu      sync.Mutex
	now     *proxying // nil while requests are passed on
	why     error     // that they are
	looks   bool      // whether it can start by now
	looked  time.Time
	stopped bool
}

// lookAgain is how long it waits between two looks.
const lookAgain = time.Second

// answers starts the proxy, or what passes requests on for it.
func (f *proxyFlags) answers(
	ctx context.Context, e env, upstream *url.URL, route func(http.Header) *url.URL,
) (*answering, error) {
	a := &answering{e: e, start: func() (*proxying, error) { return f.proxy(ctx, e, upstream, route) },
		end: func(p *proxying) { p.end(ctx) }}
	if !f.keep {
		var err error
		a.now, err = a.start()
		return a, err
	}
	opts := proxy.Options{Upstream: upstream, Route: route, Log: e.say}
	opts.Engine = func(string) (proxy.Engine, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.why == nil { // it has just started
			return proxy.Engine{}, errors.New("it has just started")
		}
		return proxy.Engine{}, a.why
	}
	if f.state != state.InMemory {
		opts.Key, _ = f.sealKey(e) // what is wrong with the folder is said below
	}
	var err error
	if a.passes, err = proxy.New(opts); err == nil {
		a.look()
	}
	return a, err
}

// look starts the proxy where it can be. What keeps it from that is said once.
func (a *answering) look() {
	p, err := a.start()
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.why
	a.looks, a.looked = false, time.Now()
	switch {
	case err != nil:
		if a.why = err; was == nil || was.Error() != err.Error() {
			a.e.say("requests are passed on, and nothing is compacted: " + err.Error())
		}
	case a.stopped:
		a.end(p)
	default:
		if a.now, a.why = p, nil; was != nil {
			a.e.say("it compacts again")
		}
	}
}

// ServeHTTP implements http.Handler.
func (a *answering) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.current().ServeHTTP(w, r) }

func (a *answering) current() *proxy.Proxy {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now != nil {
		return a.now.Proxy
	}
	if time.Since(a.looked) > lookAgain && a.due() {
		go a.look()
	}
	return a.passes
}

// due says that there may be a look, which the caller makes then.
func (a *answering) due() bool {
	due := a.now == nil && !a.looks
	a.looks = a.looks || due
	return due
}

// state is what it says of itself. It looks first.
func (a *answering) state() plug.Who {
	who := plug.Who{Kagewasm: readVersion().build()}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due() {
		a.mu.Unlock()
		a.look()
		a.mu.Lock()
	}
	switch {
	case a.why != nil:
		who.Passing, _, _ = strings.Cut(a.why.Error(), "\n")
	case a.now != nil:
		who.Without = a.now.engines.without()
	}
	return who
}

func (a *answering) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if a.now != nil {
		a.end(a.now)
	}
	if a.passes != nil {
		a.passes.Close()
	}
}
