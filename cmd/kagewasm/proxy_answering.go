package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/proxy"
)

// answering is a proxy that goes on answering where its settings, a plugin or the state folder cannot be used: an agent
// whose provider it is could do nothing otherwise. Requests are passed on until they can be used.
type answering struct {
	e     env
	start func() (*proxy.Proxy, func(), error)
	// passes passes requests on. It reads what this state folder has sealed, where it can.
	passes *proxy.Proxy

	mu      sync.Mutex
	now     *proxy.Proxy // nil while requests are passed on
	done    func()       // ends now
	why     error        // that they are
	looks   bool         // whether it can start by now
	looked  time.Time
	stopped bool
}

// lookAgain is how long it waits between two looks.
const lookAgain = time.Second

// answers starts the proxy, or what passes requests on for it.
func (f *proxyFlags) answers(
	ctx context.Context, e env, upstream *url.URL, route func(http.Header) *url.URL,
) (*answering, error) {
	a := &answering{e: e, start: func() (*proxy.Proxy, func(), error) { return f.proxy(ctx, e, upstream, route) }}
	if !f.keep {
		var err error
		a.now, a.done, err = a.start()
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
	p, done, err := a.start()
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
		done()
	default:
		if a.now, a.done, a.why = p, done, nil; was != nil {
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
		return a.now
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

// passing says why requests are passed on, in a line; empty where they are compacted. It looks first.
func (a *answering) passing() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due() {
		a.mu.Unlock()
		a.look()
		a.mu.Lock()
	}
	if a.why == nil {
		return ""
	}
	line, _, _ := strings.Cut(a.why.Error(), "\n")
	return line
}

func (a *answering) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	if a.now != nil {
		a.done()
	}
	if a.passes != nil {
		a.passes.Close()
	}
}
