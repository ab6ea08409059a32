package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
)

// Engine is what compacts the conversations of one model.
type Engine struct {
	Compactor *kagewasm.Compactor
	Counter   *tokens.Counter
	Model     tokens.Model
}

// Options of a [Proxy]. The zero value of each field is the default written beside it.
type Options struct {
	// Upstream is the provider. Its path stands before that of requests, unless they begin
	// with it already. Required.
	Upstream *url.URL
	// Route, where set, is asked for the upstream of a request by its headers; nil is Upstream.
	Route func(http.Header) *url.URL
	// Engine is the one for a model, by the name that a request has for it, with "ollama/" before
	// it in one to Ollama's own API. It is asked for every request, and so has to be fast. Required.
	Engine func(model string) (Engine, error)
	// NumCtx is the context window that is configured for a model, by the name that a request to
	// Ollama's own API has for it; 0 is none. A request that does not say how large a window the
	// model is to be loaded with (num_ctx) says it then. Default none for any.
	NumCtx func(model string) int
	// Store keeps the conversations that were compacted, and what models cost. Default none:
	// compactions are then known as long as the process lives, and cannot be undone.
	Store *store.Store
	// Source is what the store says of where a session comes from. Default "proxy".
	Source string
	// Recall says how a session's superseded messages can be read; notes tell it. Default
	// nothing.
	Recall func(session string) string
	// Key seals the compactions that clients ask for and keep. Default one that is gone with
	// the process.
	Key []byte
	// MaxBody bounds the bodies that are looked at, in bytes, as they come and decoded.
	// Larger ones are passed on. Default 64 MiB.
	MaxBody int64
	// Transport sends requests. Default one like [http.DefaultTransport], with more idle
	// connections.
	Transport http.RoundTripper
	// Log gets a line about what went wrong beside the requests. Default nothing.
	Log func(line string)
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Proxy stands between an agent and its provider. It is safe for concurrent use. Close it.
type Proxy struct {
	opts     Options
	forward  *httputil.ReverseProxy
	families families
	keeper   *keeper
	sealer   *sealer
	loads    loads
	scales   sync.Map       // by a model's name, its scale as the last look had it
	patience time.Duration  // with a request that another one waits for
	turns    sync.WaitGroup // of which plugins are being told
	closing  chan struct{}
	once     sync.Once
}

// New makes a Proxy.
func New(opts Options) (*Proxy, error) {
	switch u := opts.Upstream; {
	case u == nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "proxy", Message: fmt.Sprintf("upstream %v: not an address", u),
			Hint: "give a provider's base URL, such as https://api.anthropic.com"}
	case opts.Engine == nil:
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "proxy", Message: "no engine"}
	}
	opts.Source, opts.MaxBody = cmp.Or(opts.Source, "proxy"), cmp.Or(opts.MaxBody, 64<<20)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = func(string) {}
	}
	if opts.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost, t.DisableCompression = 256, true
		opts.Transport = t
	}
	sealer, err := newSealer(opts.Key)
	if err != nil {
		return nil, err
	}
	p := &Proxy{opts: opts, sealer: sealer, keeper: newKeeper(opts.Store, opts.Log), patience: patience,
		closing: make(chan struct{})}
	p.forward = &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: sender{p}, FlushInterval: -1, ModifyResponse: p.response, ErrorHandler: p.failed,
		ErrorLog: log.New(lineWriter(opts.Log), "", 0),
	}
	return p, nil
}

// Close waits until all is stored that was noted. Plugins that are being told of the end of a turn are stopped.
func (p *Proxy) Close() error {
	p.once.Do(func() { close(p.closing) })
	p.turns.Wait()
	p.keeper.close()
	return nil
}

// ServeHTTP passes a request on, compacted where that is due.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wire, model := wireOf(r.URL.Path)
	switch {
	case wire == nil && p.opts.NumCtx != nil && generates(r):
		if err := p.load(r); err != nil {
			brokeOff(w, err)
			return
		}
	case wire == nil:
	case r.Header.Get("Upgrade") != "":
		refuseUpgrade(w)
		return
	case r.Method == http.MethodPost:
		e, err := p.begin(r, wire, model)
		if err != nil {
			brokeOff(w, err)
			return
		}
		defer flight{e}.land()
		if e.item != nil {
			answer{e}.reply(w)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, e))
	}
	p.forward.ServeHTTP(w, r)
}

func brokeOff(w http.ResponseWriter, err error) {
	http.Error(w, "kagewasm: the request broke off: "+err.Error(), http.StatusBadRequest)
}

// refuseUpgrade tells a client to speak HTTP: what goes over a WebSocket is no request
// that could be compacted.
func refuseUpgrade(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(Header, "none; reason=upgrade")
	w.WriteHeader(http.StatusUpgradeRequired)
	_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","code":"websocket_not_supported","message":`+
		`"kagewasm proxy speaks HTTP here, not WebSocket: send the request with POST"}}`)
}

type exchangeKey struct{}

// exchangeOf is the exchange of a request, nil where nothing is looked at.
func exchangeOf(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// upstream is the provider of a request with these headers.
func (p *Proxy) upstream(h http.Header) *url.URL {
	if p.opts.Route != nil {
		if to := p.opts.Route(h); to != nil {
			return to
		}
	}
	return p.opts.Upstream
}

// rewrite makes the request for the provider. Headers, the key among them, stay as they are.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	up := *p.upstream(r.In.Header)
	if base := strings.TrimSuffix(up.Path, "/"); base != "" && strings.HasPrefix(r.In.URL.Path, base+"/") {
		up.Path, up.RawPath = "", ""
	}
	r.SetURL(&up)
	r.Out.Host = ""
	if e := exchangeOf(r.In.Context()); e != nil && e.doc != nil {
		r.Out.Header.Set("Accept-Encoding", "identity") // so that what it says of its cost can be read
	}
}

// failed answers for a provider that did not.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has left
	}
	p.opts.Log("proxy: " + p.opts.Upstream.Host + ": " + err.Error())
	w.Header().Set("Content-Type", "application/json")
	if e := exchangeOf(r.Context()); e != nil {
		w.Header().Set(Header, e.says.String())
	}
	status := http.StatusBadGateway
	var net interface{ Timeout() bool }
	if errors.As(err, &net) && net.Timeout() {
		status = http.StatusGatewayTimeout
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"type":"error","error":{"type":"api_error",`+
		`"message":"kagewasm proxy: the provider cannot be reached"}}`)
}

type lineWriter func(string)

func (w lineWriter) Write(b []byte) (int, error) {
	w(strings.TrimSpace(string(b)))
	return len(b), nil
}
