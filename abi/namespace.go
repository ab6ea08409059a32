package abi

import (
	"cmp"
	"encoding/hex"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/sum"
)

// A namespace is where stored data of a plugin lies:
//
//	markdown                        the plugin of that name
//	markdown+3f9a12cd07be           another module that goes by the same name
//	markdown@reviewer-0b1c2d3e4f5a  its data for the agent "reviewer" alone
//
// Names that begin with "_" are the host's own: no plugin's name does.
var namespaceRE = lazy.Regexp(`^[a-z0-9_][a-z0-9_-]{0,63}(\+[0-9a-f]{12})?(@[a-z0-9-]{1,40})?$`)

// ValidNamespace reports whether s can name a namespace. It is a safe name of
// a folder.
func ValidNamespace(s string) bool { return namespaceRE().MatchString(s) }

// NamespaceOf returns the namespace of a module that shares the name of
// another: digest is "sha256:" and 64 hex digits.
func NamespaceOf(plugin, digest string) string {
	return plugin + "+" + strings.TrimPrefix(digest, "sha256:")[:12]
}

// AgentNamespace returns the part of a plugin's namespace that belongs to an
// agent. For the empty path that is the namespace itself. The part has the last
// letters of the path, for people to read, and a digest of the path, which
// tells agents apart.
func AgentNamespace(namespace, agentPath string) string {
	if agentPath == "" {
		return namespace
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(agentPath))
	name = strings.Trim(name[max(0, len(name)-24):], "-")
	name = cmp.Or(name, "agent")
	whole := sum.Of(agentPath)
	return namespace + "@" + name + "-" + hex.EncodeToString(whole[:6])
}
