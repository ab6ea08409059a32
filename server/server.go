package server

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/server/internal/api"
	"github.com/kagewasm/kagewasm/server/internal/ui"
)

// Options of a Server. The zero value of each field but the first two is the default
// written beside it.
type Options struct {
	// Service is what answers. Required.
	Service *service.Service
	// Token is what clients have to show. Required.
	Token string
	// Hosts are the names that requests may be addressed to, without ports, beside
	// localhost and addresses in figures: another name may be anybody's.
	Hosts []string
	// Pages answers for all that is not the API's. Default the pages of an operator.
	Pages http.Handler
	// Version is the program's, for the API's description.
	Version string
	// MaxBody is how long the body of a request may be, in bytes. Default 64 MiB.
	MaxBody int64
	// Rate is how many requests a second a client may make, one address being one
	// client; twice as many at once. Default 2,000; negative is no limit. Clients on this
	// machine that show the token, and the operator over the Unix socket, have none.
	Rate float64
	// Stop is called when the operator, over the Unix socket, asks the server to end. Default nobody can.
	Stop func()
	// Log hears of each request and of what goes wrong. Default nothing is said.
	Log *slog.Logger
}

// Server is the handler of all requests.
type Server struct {
	opts    Options
	handler http.Handler
	metrics *metrics
	guard   *guard

	mu   sync.Mutex
	busy int       // requests that are being answered
	last time.Time // when the last one ended
}

// New makes a Server.
func New(opts Options) *Server {
	opts.MaxBody = cmp.Or(opts.MaxBody, 64<<20)
	opts.Rate = cmp.Or(opts.Rate, 2000)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	if opts.Pages == nil {
		opts.Pages = ui.New(opts.Service, opts.Log)
	}
	s := &Server{opts: opts, last: time.Now(), metrics: newMetrics(opts.Service), guard: newGuard(&opts)}
	mux := http.NewServeMux()
	api.Register(mux, api.Options{Service: opts.Service, Version: opts.Version, MaxBody: opts.MaxBody, Log: opts.Log})
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("GET /open", s.guard.open)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("POST /stop", s.stop)
	mux.HandleFunc("/api/", notFound)
	mux.Handle("/", opts.Pages)
	s.handler = s.logged(s.recovered(s.guard.around(mux)))
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.counted(1)
	defer s.counted(-1)
	body := r.Body
	s.handler.ServeHTTP(w, r)
	drain(r, body)
}

// maxDrained is the most that is read of a body which nobody wanted: net/http goes by the same.
const maxDrained = 256 << 10

// drain reads what is left of a body. A connection that is closed with something unread in it is reset, and the
// client may lose the answer for that. A client that asks first whether to send its body need not send it now.
func drain(r *http.Request, body io.Reader) {
	if body != nil && !strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		_, _ = io.CopyN(io.Discard, body, maxDrained)
	}
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) {
	if trusted, _ := r.Context().Value(trustedKey{}).(bool); !trusted || s.opts.Stop == nil {
		notFound(w, r)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	s.opts.Stop()
}

func (s *Server) counted(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy += n
	s.last = time.Now()
}

// Idle is closed when nobody has asked for anything for so long, and nobody watches; never
// where that is 0.
func (s *Server) Idle(most time.Duration) <-chan struct{} {
	idle := make(chan struct{})
	if most > 0 {
		time.AfterFunc(most, func() { s.look(most, idle) })
	}
	return idle
}

func (s *Server) look(most time.Duration, idle chan struct{}) {
	s.mu.Lock()
	since, busy := time.Since(s.last), s.busy
	s.mu.Unlock()
	switch {
	case busy > 0:
		time.AfterFunc(most, func() { s.look(most, idle) })
	case since < most:
		time.AfterFunc(most-since, func() { s.look(most, idle) })
	default:
		close(idle)
	}
}

// OpenPath is where a browser is sent to be known from then on: it holds the token.
func (s *Server) OpenPath() string { return s.guard.openPath() }

func notFound(w http.ResponseWriter, r *http.Request) {
	api.WriteProblem(w, &api.Problem{Status: http.StatusNotFound, Code: "not_found",
		Detail: "there is nothing at this address",
		Hint:   "/api/v1/openapi.json describes what there is"})
}

// HTTP is an http.Server with the limits of time that untrusted clients need. Connections
// to a Unix socket are trusted: who may open it is the file's to say.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if c.LocalAddr().Network() == "unix" {
				return Trusted(ctx)
			}
			return ctx
		},
	}
}

type trustedKey struct{}

// Trusted marks a connection whose other end is known to be the operator.
func Trusted(ctx context.Context) context.Context { return context.WithValue(ctx, trustedKey{}, true) }
