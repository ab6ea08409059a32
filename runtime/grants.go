package runtime

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// Grants are the capabilities an operator grants a plugin. The zero value
// grants none.
type Grants struct {
	KV bool // storage in the plugin's namespace
	// HTTP are the origins that requests may go to:
	//
	//	api.example.com, api.example.com:8443   https
	//	http://api.example.com                  http, readable on its way
	//	private+https://memory.corp             a name that may lead into a private network
	//	localhost:8888, 127.0.0.1:8888          this machine, http or https
	//	http://10.0.0.7:8080                    that very address
	HTTP              []string
	Model             bool // completions at the operator's cost
	CompactionRequest bool // asking for a compaction
	CompactionSummary bool // an observer's summary or cancel
	MessagesSearch    bool // searching what compactions superseded
}

// flag is the field of a capability that is granted or is not; nil for http,
// which is granted by origin, and for what is no capability.
func (g *Grants) flag(c abi.Capability) *bool {
	switch c {
	case abi.CapKV:
		return &g.KV
	case abi.CapModel:
		return &g.Model
	case abi.CapCompactionRequest:
		return &g.CompactionRequest
	case abi.CapCompactionSummary:
		return &g.CompactionSummary
	case abi.CapMessagesSearch:
		return &g.MessagesSearch
	}
	return nil
}

// Allows reports whether c is granted.
func (g Grants) Allows(c abi.Capability) bool {
	if c == abi.CapHTTP {
		return len(g.HTTP) > 0
	}
	f := g.flag(c)
	return f != nil && *f
}

// Grant adds a capability; origins are what http is granted for. The error, of
// code usage, is of a capability that does not exist, of http without an
// origin or with one that is none, and of an origin for anything else.
func (g *Grants) Grant(c abi.Capability, origins ...string) error {
	switch f := g.flag(c); {
	case c == abi.CapHTTP && len(origins) == 0:
		return grantError("capability http: name an origin, such as api.example.com")
	case c == abi.CapHTTP:
		if _, err := egress.New(egress.Options{Grants: origins}); err != nil {
			return grantError(abi.AsError(err).Message)
		}
		g.HTTP = append(g.HTTP, origins...)
	case f == nil:
		return unknownCapability(c)
	case len(origins) > 0:
		return grantError(fmt.Sprintf("capability %s takes no value", c))
	default:
		*f = true
	}
	return nil
}

// Deny takes a capability away.
func (g *Grants) Deny(c abi.Capability) error {
	f := g.flag(c)
	switch {
	case c == abi.CapHTTP:
		g.HTTP = nil
	case f == nil:
		return unknownCapability(c)
	default:
		*f = false
	}
	return nil
}

func unknownCapability(c abi.Capability) error {
	return grantError(fmt.Sprintf("capability %q: known are %s", host.Shorten(string(c), 80), joinNames(abi.Capabilities)))
}

func grantError(message string) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "grant", Message: message}
}
