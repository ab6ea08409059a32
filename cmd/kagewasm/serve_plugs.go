package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/internal/service"
)

// plugHosts are the hosts of the plugs that ask a server, each with the settings that kagewasm install wrote for it.
type plugHosts struct {
	mu   sync.Mutex
	open map[string]*plugHost
}

type plugHost struct {
	*serveHost
	policy []string // flags of a compaction, as they were installed
}

// Plug implements service.Host. A plug that was installed again with other flags gets a new host.
func (h *serveHost) Plug(name, version string) (service.Host, error) {
	if own := readVersion().build(); version != own {
		return nil, &abi.Error{Code: abi.CodeConflict, Op: "plug", Message: fmt.Sprintf("the plug in %s is of kagewasm %s, "+
			"and the server is %s", name, cmp.Or(version, "no version"), own),
			Hint: "kagewasm install " + name + ", and kagewasm serve --stop where the server is the older one"}
	}
	if _, err := agentNamed(name); err != nil { // it would be a path
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "plug", Message: err.Error(), Err: err}
	}
	record, err := plug.Open(filepath.Join(cmp.Or(h.flags.state, h.e.stateHome), agentsFolder), name)
	if err != nil {
		return nil, err
	}
	if !record.Installed() {
		return nil, &abi.Error{Code: abi.CodeConflict, Op: "plug", Message: "kagewasm is not installed in " + name,
			Hint: "kagewasm install " + name}
	}
	h.plugs.mu.Lock()
	defer h.plugs.mu.Unlock()
	was := h.plugs.open[name]
	if was != nil && slices.Equal(was.policy, record.Calls.Policy) {
		return was, nil
	}
	flags := *h.flags
	flags.path, flags.off, flags.compact.plugins = "", false, nil
	for i := 0; i+1 < len(record.Calls.Policy); i += 2 {
		switch value := record.Calls.Policy[i+1]; record.Calls.Policy[i] {
		case "--config":
			flags.path = value
		case "--plugin":
			flags.compact.plugins = append(flags.compact.plugins, value)
		}
	}
	next, err := flags.openHost(h.e, h.store, h.log, h.audit)
	if err != nil {
		return nil, err
	}
	next.breaker = h.breaker
	if was != nil {
		was.mu.Lock()
		was.replace(newGeneration(nil)) // which closes its plugins when nobody uses them any more
		was.seen = nil
		was.mu.Unlock()
	}
	if h.plugs.open == nil {
		h.plugs.open = make(map[string]*plugHost)
	}
	h.plugs.open[name] = &plugHost{next, slices.Clone(record.Calls.Policy)}
	return h.plugs.open[name], nil
}

func (p *plugHosts) close(ctx context.Context) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.open {
		err = errors.Join(err, h.Close(ctx))
	}
	return err
}
