package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// family are the conversations of one session of an agent: the one it leads, what was
// forked or edited, and what else the agent asks under the same name (a title, a check).
// They are told apart by what they say.
type family struct {
	id, agent string

	mu       sync.Mutex
	branches []*branch // the one that was used last at the end
	known    digests   // of the last request
	restored bool      // what the store has of it was looked for
}

// branch is one conversation, as far as the proxy has seen it.
type branch struct {
	seen []digest
	// plans are the compactions in force, oldest first.
	plans []*plan
	// last is when the model was called. reported is what its provider said of the request, counted what the last look
	// counted of one.
	last              time.Time
	reported, counted measured
	// uncounted is how many tokens more its provider counted than were counted here: a small request corrects no scale.
	uncounted int
	// wanted is the compaction that a plugin wants; telling says that plugins are being told of the end of a turn.
	wanted  *wish
	held    held
	telling bool
	// quiet is a size up to which a look has found nothing to do. over says that a bound of the policy is out of reach:
	// the last look could not get well below it.
	quiet   int
	over    bool
	flights flights
}

// measured is how many tokens a request had, of so many elements under a plan.
type measured struct {
	tokens, elements int
	under            *plan
}

// maxBranches bounds the branches of a family: more are of a client that says something
// else each time.
const maxBranches = 32

// owns reports whether a session of the store is one of the family's conversations.
func (f *family) owns(id string) bool { return id == f.id || strings.HasPrefix(id, f.id+"~") }

// branch is the one that goes on with what a request has, a new one where none does. count says how many messages the
// first elements of the request are.
func (f *family) branch(seen []digest, count func(elements int) int) *branch {
	var best *branch
	shared := 0
	for _, b := range slices.Backward(f.branches) {
		if n := common(b.seen, seen); best == nil || n > shared {
			best, shared = b, n
		}
	}
	switch {
	case best != nil && (shared == len(best.seen) || shared == len(seen)):
		f.branches = slices.DeleteFunc(f.branches, func(b *branch) bool { return b == best })
	default:
		fork := &branch{}
		if shared > 0 {
			fork.plans, fork.last = best.until(shared, count), best.last
		}
		best = fork
		if len(f.branches) >= maxBranches {
			f.branches = f.branches[1:]
		}
	}
	if len(seen) > len(best.seen) {
		best.seen = seen
	}
	f.branches = append(f.branches, best)
	return best
}

// until are the plans that are about the first n elements alone. The last one may have left more as it came.
func (b *branch) until(n int, count func(elements int) int) []*plan {
	for end := len(b.plans); end > 0; end-- {
		last := b.plans[end-1]
		if last.elements > n && last.begins() <= n {
			last = last.cutTo(n, count(n))
		}
		if last != nil && last.elements <= n {
			return append(slices.Clone(b.plans[:end-1]), last)
		}
	}
	return nil
}

// has reports whether a compaction is in force in the conversation.
func (b *branch) has(record string) bool {
	return slices.ContainsFunc(b.plans, func(p *plan) bool { return p.record == record })
}

// plan is the one to apply to a request of so many elements, nil where there is none.
func (b *branch) plan(elements int, count func(elements int) int) *plan {
	if plans := b.until(elements, count); len(plans) > 0 {
		return plans[len(plans)-1]
	}
	return nil
}

func common(a, b []digest) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// families are those that were used lately.
type families struct {
	mu   sync.Mutex
	byID map[string]*family
	used []string // the latest at the end
}

// maxFamilies bounds the sessions that are kept in memory. One that went is restored from
// the store.
const maxFamilies = 1000

func (fs *families) of(id, agent string) *family {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	name := id + "#" + agent
	f := fs.byID[name]
	if f == nil {
		if fs.byID == nil {
			fs.byID = make(map[string]*family)
		}
		f = &family{id: id, agent: agent}
		fs.byID[name] = f
		if len(fs.used) >= maxFamilies {
			delete(fs.byID, fs.used[0])
			fs.used = fs.used[1:]
		}
		fs.used = append(fs.used, name)
		return f
	}
	if last := len(fs.used) - 1; fs.used[last] != name {
		i := slices.Index(fs.used, name)
		fs.used = append(slices.Delete(fs.used, i, i+1), name)
	}
	return f
}

// sessionHeaders name the session of an agent, agentHeaders the agent in it.
var (
	sessionHeaders = []string{"Kagewasm-Session", "X-Claude-Code-Session-Id", "Thread-Id", "Session-Id", "Session_id",
		"X-Session-Id", "X-Session-Affinity"}
	agentHeaders = []string{"Kagewasm-Agent", "X-Claude-Code-Agent-Id"}
)

// identity is the session of a request and the agent in it: by what the client says, else
// by how the conversation begins.
func (w *wire) identity(h http.Header, d *document) (id, agent string) {
	for _, name := range sessionHeaders {
		if id = plainID(h.Get(name)); id != "" {
			break
		}
	}
	for _, name := range agentHeaders {
		if agent = plainID(h.Get(name)); agent != "" {
			break
		}
	}
	if id == "" {
		hash := sha256.New()
		if end := d.lead; end < len(d.els) {
			_, _ = hash.Write(w.bare(d, d.els[end]))
		}
		id = "chain-" + hex.EncodeToString(hash.Sum(nil)[:8])
	}
	return id, agent
}

// plainID is an id as long as it can stand in a key.
func plainID(id string) string {
	if len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '#' ||
			r == '/'
	}) {
		return ""
	}
	return id
}
