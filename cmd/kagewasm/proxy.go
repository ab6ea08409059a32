package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/store"
)

// proxyFlags are the flags of proxy. Of those of compact it has the ones about settings and
// plugins.
type proxyFlags struct {
	compactFlags
	upstream, listen string
	idle             time.Duration
	keep             bool
}

func newProxy(e env) *cobra.Command {
	f := &proxyFlags{}
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Stand between an agent and its provider, and keep its conversations in the window",
		Long: `Pass an agent's requests on to its provider, and compact its conversations where
they reach the model's window, or where that costs nothing. The agent needs
another base URL, and nothing else: http://127.0.0.1:4180 for --upstream
https://api.anthropic.com, and with /v1 behind both for OpenAI.

It knows OpenAI's chat completions and Responses, Anthropic's Messages, Gemini's
generateContent and Ollama's own chat, streamed and not; all else is passed on as
it comes. The header Kagewasm-Compaction of a response says what was done. Whatever
fails, the request goes on as it came. Keys pass through and are not kept.

What was compacted is kept in the state folder: kagewasm sessions and lost show
it, undo takes it back. --state :memory: keeps nothing.`,
		Example: `  kagewasm proxy --upstream https://api.anthropic.com
  ANTHROPIC_BASE_URL=http://127.0.0.1:4180 claude
  kagewasm proxy --upstream https://api.openai.com/v1 --listen 127.0.0.1:4181`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			f.given = c.Flags().Changed
			return f.run(c.Context(), e)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.upstream, "upstream", "", "`URL` of the provider, as an agent would have it for its base URL; codex "+
		"is what Codex talks to, by a login or a key")
	fs.StringVar(&f.listen, "listen", proxyAddress, "`HOST:PORT` to listen on, of this machine alone")
	fs.DurationVar(&f.idle, "idle", 0, "end when nothing was asked for that long, such as 30m (default: never)")
	fs.BoolVar(&f.keep, "keep-answering", false, "pass requests on where the configuration or the state folder "+
		"cannot be used, instead of ending, until it can")
	fs.IntVar(&f.window, "window", 0, "context window of all models in `TOKENS` (default: the configuration's, else each "+
		"model's own)")
	registerSettings(&f.compactFlags, e, cmd)
	return cmd
}

// proxyAddress is where agents are told to look for the proxy.
const proxyAddress = "127.0.0.1:4180"

func (f *proxyFlags) run(ctx context.Context, e env) error {
	upstream, route, err := upstreamOf(f.upstream)
	if err != nil {
		return err
	}
	listener, err := listenHere(f.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	p, err := f.answers(ctx, e, upstream, route)
	if err != nil {
		return err
	}
	defer p.close()
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	server.Handler = (&idle{after: f.idle}).over(sameMachine(said(p, p.state)), func() { server.Close() })
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	e.say(fmt.Sprintf("listening on http://%s for %s", listener.Addr(), upstream.Redacted()))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// proxying is a proxy with what it was made of.
type proxying struct {
	*proxy.Proxy
	engines *engines
	store   *store.Store // nil where nothing is kept
}

// end ends its use.
func (p *proxying) end(ctx context.Context) {
	if p.Proxy != nil {
		p.Close()
	}
	if p.engines != nil {
		p.engines.close(context.WithoutCancel(ctx))
	}
	if p.store != nil {
		p.store.Close()
	}
}

// proxy makes the proxy.
func (f *proxyFlags) proxy(
	ctx context.Context, e env, upstream *url.URL, route func(http.Header) *url.URL,
) (p *proxying, err error) {
	conf, err := f.configured(e, f.agent, f.sets)
	if err != nil {
		return nil, err
	}
	made := &proxying{}
	defer func() {
		if err != nil {
			made.end(ctx)
		}
	}()
	opts := proxy.Options{Upstream: upstream, Route: route, Log: e.say}
	if f.state != state.InMemory {
		if made.store, err = state.OpenSessions(ctx, f.state, e.stateHome, e.say); err != nil {
			return nil, err
		}
		if opts.Key, err = f.sealKey(e); err != nil {
			return nil, err
		}
		opts.Store, opts.Recall = made.store, recallCommand
	}
	es := &engines{f: f, e: e, now: newGenerated(conf), audit: func(event kagewasm.Event) { made.Audit(event) }}
	es.live, err = followed(e, &f.configFlag, conf.file, func(err error) {
		e.say("the configuration has changed and cannot be used, so the one before holds: " + err.Error())
	})
	if err != nil {
		return nil, err
	}
	es.seen, made.engines = es.live.current(), es
	opts.Engine = func(model string) (proxy.Engine, error) { return es.of(ctx, model) }
	opts.NumCtx = func(model string) int { return es.numCtx(ctx, model) }
	if _, err = es.of(ctx, ""); err == nil { // what is wrong with settings and plugins is said now
		made.Proxy, err = proxy.New(opts)
	}
	return made, err
}

// sealKey is the key of the state folder, by which the compactions are sealed that clients
// keep. It is nil where the folder can have none.
func (f *proxyFlags) sealKey(e env) ([]byte, error) {
	st, err := state.Open(f.state, e.stateHome, e.say)
	if err != nil {
		return nil, err
	}
	return st.CacheKey, st.Close()
}

// upstreamOf finds the provider. Codex has two: one for who logs in with ChatGPT, one for keys.
func upstreamOf(name string) (u *url.URL, route func(http.Header) *url.URL, err error) {
	if name == "codex" {
		keys := &url.URL{Scheme: "https", Host: "api.openai.com", Path: "/v1"}
		login := &url.URL{Scheme: "https", Host: "chatgpt.com", Path: "/backend-api/codex"}
		return keys, func(h http.Header) *url.URL {
			if h.Get("Chatgpt-Account-Id") != "" {
				return login
			}
			return keys
		}, nil
	}
	if u, err = url.Parse(name); err != nil || u.Host == "" {
		return nil, nil, ui.Usagef("--upstream %q: give the provider's base URL, such as https://api.anthropic.com, or "+
			"codex for what Codex talks to", name)
	}
	return u, nil, nil
}

// inherited is the listener that a service manager holds for this process, nil where none does.
func inherited() net.Listener {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) || os.Getenv("LISTEN_FDS") == "" {
		return nil
	}
	const first = 3 // by the protocol of systemd
	l, err := net.FileListener(os.NewFile(first, "socket"))
	if err != nil {
		return nil
	}
	return l
}

// idle ends a server that nobody has asked anything for so long. Where that is 0 it runs on.
type idle struct {
	after time.Duration
	timer *time.Timer
	mu    sync.Mutex
	busy  int
}

func (i *idle) over(next http.Handler, end func()) http.Handler {
	if i.after == 0 {
		return next
	}
	i.timer = time.AfterFunc(i.after, end)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.count(1)
		defer i.count(-1)
		next.ServeHTTP(w, r)
	})
}

func (i *idle) count(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.busy += n; i.busy > 0 {
		i.timer.Stop()
	} else {
		i.timer.Reset(i.after)
	}
}

// listenHere listens on an address of this machine that others cannot reach: who could
// would be answered with the conversations of the user.
func listenHere(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !loopback(host) {
		return nil, ui.Usagef("--listen %s: give an address that only this machine reaches, such as %s", address,
			proxyAddress)
	}
	if l := inherited(); l != nil {
		return l, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, ui.Usagef("--listen %s: %w: is another proxy running? --listen names another port", address, err)
	}
	return l, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// said answers who asks what is behind the address.
func said(next http.Handler, state func() plug.Who) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != plug.WhoPath {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(state())
	})
}

// sameMachine refuses what a page in a browser sends: one of another origin, or one that made
// its own name lead here.
func sameMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		origin, err := url.Parse(r.Header.Get("Origin"))
		if !loopback(host) || err != nil || r.Header.Get("Origin") != "" && !loopback(origin.Hostname()) {
			http.Error(w, "kagewasm proxy: not for pages of other hosts", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
