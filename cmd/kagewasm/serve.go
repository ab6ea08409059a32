package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/server"
	"github.com/kagewasm/kagewasm/store"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	pluginFlags
	configFlag
	compact  compactFlags // what compact shares: plugins that are named, and windows that were learned
	listen   string
	socket   string
	hosts    []string
	database string
	idle     time.Duration
	apart    bool
	stop     bool
	onDemand bool // it is what apart starts
	recall   bool
	keep     int
	verbose  bool
	asJSON   bool
}

func newServe(e env) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Keep sessions for agents in any language, over HTTP and a Unix socket",
		Long: `Answer over HTTP for the sessions in the state folder: the API, which is described at
/api/v1/openapi.json, and metrics. Agents append what arrives, ask what their model
should see, and report what it cost; POST /api/v1/compact compacts messages that the
caller keeps.

Everybody has to show the token of the file serve-token in the state folder, which
nobody else can read; who speaks over the socket, which nobody else can open, need not.
The configuration is read as compact does, and read again when it changes. An interrupt
ends it when the requests at hand are answered; a second one ends it at once.`,
		Example: `  kagewasm serve
  kagewasm serve --listen 0.0.0.0:7433 --host kagewasm.example.org
  kagewasm serve --background
  kagewasm serve --stop`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case f.stop:
				return f.end(c, e)
			case f.apart:
				return f.background(c, e)
			}
			return f.run(c.Context(), e)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.listen, "listen", "127.0.0.1:7433", "`HOST:PORT` to listen on, or none")
	fs.StringVar(&f.socket, "socket", "", "`PATH` of the Unix socket, or none (default: "+state.SocketFile+
		" in the state folder)")
	fs.StringSliceVar(&f.hosts, "host", nil, "`NAME` by which clients address the server, beside localhost and "+
		"addresses in figures; may be repeated")
	fs.StringVar(&f.database, "database", "", "`ADDRESS` of a PostgreSQL that keeps the sessions, postgres://... "+
		"(default: the file "+state.SessionsFile+" in the state folder)")
	fs.DurationVar(&f.idle, "idle", 0, "end when nobody has asked for anything for `TIME`, such as 10m (default: never)")
	fs.BoolVar(&f.apart, "background", false, "have it run by itself, over the socket alone, until nobody has asked for "+
		"anything for --idle (default 30m) or its program is another one; where one runs already, that is it, and a serve "+
		"without --background takes its place")
	fs.BoolVar(&f.onDemand, "on-demand", false, "be the server that --background starts")
	_ = fs.MarkHidden("on-demand") // the flag is there
	fs.BoolVar(&f.stop, "stop", false, "end the server of the state folder, when the requests at hand are answered")
	fs.BoolVar(&f.recall, "recall", false, "let agents search what compactions took away")
	fs.IntVar(&f.keep, "keep", 1000, "`MEGABYTES` of sessions that are held at most behind a compaction that is "+
		"recorded: the oldest go first")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "log each request")
	fs.BoolVar(&f.asJSON, "json", false, "print where it listens as JSON, and log JSON")
	e.pluginFlag(cmd, &f.compact.plugins, pluginUsage)
	f.configFlag.registerUsed(cmd)
	f.pluginFlags.register(cmd)
	return cmd
}

func (f *serveFlags) run(ctx context.Context, e env) (err error) {
	f.compact.state = f.state
	e.linger(time.Minute)
	log := f.logger(e)
	place, err := f.place(ctx, e)
	if err != nil {
		return err
	}
	defer place.Close()
	s, err := f.openStore(ctx, e, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	svc, err := service.New(service.Options{Store: s, Log: log, Recall: f.recall, Keep: int64(f.keep) * mega,
		Alone: f.database == "",
		Open: func(audit func(kagewasm.Event)) (service.Host, error) {
			h, err := f.openHost(e, s, log, audit)
			if err == nil {
				err = h.keepBreaker(ctx)
			}
			return h, err
		}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	handler := server.New(server.Options{Service: svc, Token: place.Token, Hosts: f.hosts, Version: readVersion().build(),
		Stop: stop, Log: log})
	listeners, err := f.listeners(place)
	if err != nil {
		return errors.Join(err, svc.Close(context.WithoutCancel(ctx)))
	}
	outdated := f.outdated(ctx, place.Socket)
	if err := f.announce(e, place, handler, listeners); err != nil {
		return err
	}
	return f.serve(ctx, svc, handler, listeners, outdated)
}

func (f *serveFlags) openStore(ctx context.Context, e env, place *state.Served) (*store.Store, error) {
	switch {
	case f.database != "":
		return store.Open(ctx, f.database, store.Options{})
	case place.Dir == "":
		return store.Open(ctx, store.InMemory, store.Options{})
	}
	return state.OpenSessions(ctx, f.state, e.stateHome, e.say)
}

func (f *serveFlags) logger(e env) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.verbose {
		o.Level = slog.LevelDebug
	}
	if f.asJSON {
		return slog.New(slog.NewJSONHandler(e.stderr, o))
	}
	return slog.New(slog.NewTextHandler(e.stderr, o))
}

// listeners are where clients come in.
func (f *serveFlags) listeners(place *state.Served) (list []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, l := range list {
				l.Close()
			}
		}
	}()
	if f.listen != "none" {
		l, err := net.Listen("tcp", f.listen)
		if err != nil {
			return nil, unusableListen(f.listen, err)
		}
		list = append(list, l)
	}
	switch f.socket {
	case "none":
	default:
		place.Socket = f.socket
		fallthrough
	case "":
		if place.Socket == "" {
			break
		}
		l, err := state.ListenSocket(place.Socket)
		if err != nil {
			return list, ui.Usagef("--socket %s: %w: give another path, or none", place.Socket, err)
		}
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, ui.Usagef("serve: --listen none and --socket none leave nobody a way in: give one of them")
	}
	return list, nil
}

func unusableListen(address string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without the call
	}
	if bad, ok := errors.AsType[*net.AddrError](err); ok {
		return ui.Usagef("--listen %s: %s: give HOST:PORT, such as 127.0.0.1:4180, or none", address, bad.Err)
	}
	if system, ok := errors.AsType[*os.SyscallError](err); ok {
		err = system.Err
	}
	return ui.Usagef("--listen %s: %w: give another port, or none", address, err)
}

// announce says where the server is.
func (f *serveFlags) announce(e env, place *state.Served, s *server.Server, listeners []net.Listener) error {
	at := daemon.Address{TokenFile: place.TokenFile, PID: os.Getpid()}
	for _, l := range listeners {
		if l.Addr().Network() == "unix" {
			at.Socket = l.Addr().String()
			continue
		}
		at.URL = "http://" + l.Addr().String()
		at.Open = at.URL + s.OpenPath()
		if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() && !f.asJSON {
			e.say("serve: others on the network can connect, and what they send is not encrypted: put a proxy with TLS in " +
				"front of it")
		}
	}
	return show(e, f.asJSON, at, func(p ui.Printer, a daemon.Address) {
		if a.URL != "" {
			p.Linef("listening on %s", a.URL)
		}
		if a.Socket != "" {
			p.Linef("listening on %s", a.Socket)
		}
		if a.TokenFile != "" {
			p.Linef("the token is in %s", a.TokenFile)
		}
		if a.Open != "" {
			p.Linef("open %s", a.Open)
		}
	})
}

// finish is how long the requests at hand may take once the server is to end.
const finish = 45 * time.Second

// serve answers until it is interrupted or idle, and lets the requests at hand end.
func (f *serveFlags) serve(ctx context.Context, svc *service.Service, s *server.Server,
	listeners []net.Listener, outdated <-chan struct{}) error {
	h := s.HTTP()
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- h.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case <-s.Idle(f.idle):
	case <-outdated:
	case err = <-failed:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	svc.Drain() // who watches, and calls that nobody will end, would be waited for
	err = errors.Join(err, h.Shutdown(ctx), svc.Close(ctx))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
