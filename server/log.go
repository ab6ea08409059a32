package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/kagewasm/kagewasm/server/internal/api"
)

// logged notes each request: never what stands in its address behind the path, its
// headers or its body.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		seen := &watched{ResponseWriter: w, status: http.StatusOK}
		// A client that reads too slowly is not waited for. Streams set their own.
		_ = http.NewResponseController(w).SetWriteDeadline(begun.Add(writeTime))
		next.ServeHTTP(seen, r)
		route := cmp.Or(r.Pattern, "none")
		took := time.Since(begun)
		s.metrics.request(route, seen.status, took)
		level := slog.LevelDebug
		if seen.status >= http.StatusInternalServerError {
			level = slog.LevelWarn
		}
		s.opts.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "request", slog.String("method", r.Method),
			slog.String("path", r.URL.EscapedPath()), slog.Int("status", seen.status), slog.Int64("bytes", seen.bytes),
			slog.Duration("took", took), slog.String("client", clientOf(r)))
	})
}

// writeTime bounds how long an answer may take, compaction and all.
const writeTime = 15 * time.Minute

// watched is a response with what became of it.
type watched struct {
	http.ResponseWriter
	status int
	bytes  int64
	begun  bool
}

func (w *watched) WriteHeader(status int) {
	w.status = status
	if w.begun {
		return // the client has hung up on an answer, and huma says so
	}
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	w.begun = true
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// recovered answers for a handler that panicked.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.opts.Log.Error("a handler panicked", "path", r.URL.EscapedPath(), "panic", fmt.Sprint(v),
				"stack", string(debug.Stack()))
			if seen, ok := w.(*watched); !ok || !seen.begun {
				api.WriteProblem(w, &api.Problem{Status: http.StatusInternalServerError, Code: "internal", Detail: "internal error",
					Hint: "the server's log says more"})
			}
		}()
		next.ServeHTTP(w, r)
	})
}
