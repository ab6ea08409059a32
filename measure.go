package kagewasm

import (
	"context"
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
)

// memo is what is remembered of a session from one look at it to the next, so
// that a look costs what is new in it. Nothing depends on it but speed, and
// what is said about provider caches.
type memo struct {
	messages []abi.Message
	tokens   []int
	index    map[string]int // by id
	// sent is what the model was given last, empty before the first time.
	sent Sent
}

// maxMemos is how many sessions are remembered; the one not looked at for the
// longest is forgotten.
const maxMemos = 64

// memos holds the memos of sessions that nobody is looking at right now.
type memos struct {
	mu    sync.Mutex
	of    map[string]*memo
	order []string // least recently used first
}

// take hands out the memo of a session, to be put back.
func (ms *memos) take(key string) *memo {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	m, ok := ms.of[key]
	if !ok {
		return &memo{index: make(map[string]int)}
	}
	delete(ms.of, key)
	i := slices.Index(ms.order, key)
	ms.order = slices.Delete(ms.order, i, i+1)
	return m
}

func (ms *memos) put(key string, m *memo) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.of == nil {
		ms.of = make(map[string]*memo)
	}
	if _, ok := ms.of[key]; ok {
		return // two looks at once: the first one's will do
	}
	if len(ms.order) == maxMemos {
		delete(ms.of, ms.order[0])
		ms.order = slices.Delete(ms.order, 0, 1)
	}
	ms.of[key] = m
	ms.order = append(ms.order, key)
}

func memoKey(s *abi.Session) string { return s.ID + "\x00" + s.AgentPath }

// measure counts the messages, those it has not counted before. It returns a
// usage error for ids that are missing or there twice, and stops early where
// ctx is done: the counts are of no use then.
func (m *memo) measure(ctx context.Context, msgs []abi.Message, counter abi.Counter) error {
	same := 0
	for same < min(len(msgs), len(m.messages)) && m.messages[same].Same(&msgs[same]) {
		same++
	}
	for i := same; i < len(m.messages); i++ {
		delete(m.index, m.messages[i].ID)
	}
	m.messages, m.tokens = m.messages[:same], m.tokens[:same]
	for i := same; i < len(msgs); i++ {
		id := msgs[i].ID
		if _, twice := m.index[id]; twice || id == "" {
			return usage("message %d: id %q: every message needs an id of its own", i, id)
		}
		if err := canceled(ctx); err != nil {
			return err
		}
		m.index[id] = i
		m.messages = append(m.messages, msgs[i])
		m.tokens = append(m.tokens, counter.Message(&msgs[i]))
	}
	return nil
}

// shared is what the messages at the beginning of both lists cost; costs are
// those of msgs.
func (s *Sent) shared(msgs []abi.Message, costs []int) (tokens int) {
	for i := 0; i < min(len(msgs), len(s.Messages)) && s.Messages[i].Same(&msgs[i]); i++ {
		tokens += costs[i]
	}
	return tokens
}

func sum(list []int) (n int) {
	for _, k := range list {
		n += k
	}
	return n
}
