package proxy

import (
	"context"
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// keeper stores what need not be stored before a request goes on: what calls cost, and
// what the audit log is told. One goroutine does, in order.
type keeper struct {
	store *store.Store
	log   func(string)
	notes chan func(context.Context, *store.Tx) error
	done  sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// maxNotes is how much may wait for a store that is slow. What comes on top is told in the
// log and not kept.
const maxNotes = 4096

func newKeeper(s *store.Store, log func(string)) *keeper {
	k := &keeper{store: s, log: log, notes: make(chan func(context.Context, *store.Tx) error, maxNotes)}
	if s != nil {
		k.done.Go(k.run)
	}
	return k
}

func (k *keeper) run() {
	for note := range k.notes {
		batch := []func(context.Context, *store.Tx) error{note}
		for more := true; more && len(batch) < 64; {
			select {
			case next, ok := <-k.notes:
				if more = ok; ok {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		ctx := context.Background()
		err := k.store.Update(ctx, func(tx *store.Tx) error {
			for _, note := range batch {
				if err := note(ctx, tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			k.log("proxy: not kept: " + err.Error())
		}
	}
}

func (k *keeper) note(do func(context.Context, *store.Tx) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil || k.closed {
		return
	}
	select {
	case k.notes <- do:
	default:
		k.log("proxy: the store is too slow: a cost or an event is not kept")
	}
}

func (k *keeper) close() {
	k.mu.Lock()
	if !k.closed {
		k.closed = true
		close(k.notes)
	}
	k.mu.Unlock()
	k.done.Wait()
}

// spend notes what a call cost the agent.
func (k *keeper) spend(_ context.Context, e *exchange) {
	u, prices := e.usage, e.engine.Model.Prices
	cost := store.Cost{Spender: store.Primary, Model: e.engine.Model.Name(), PriceUnknown: prices == nil,
		ModelUsage: abi.ModelUsage{Calls: 1, InputTokens: u.Input + u.CacheRead + u.CacheWrite, OutputTokens: u.Output,
			Cost: prices.Cost(u)}}
	key := e.key()
	k.note(func(ctx context.Context, tx *store.Tx) error { return tx.Spend(ctx, key, cost) })
}

// Audit is for the Audit of the compactors: it keeps what they tell.
func (p *Proxy) Audit(e kagewasm.Event) {
	p.keeper.note(func(ctx context.Context, tx *store.Tx) error { return tx.Log(ctx, e) })
}

// key names the conversation in the store.
func (e *exchange) key() string {
	id := e.family.id
	switch {
	case e.plan != nil:
		id = e.plan.session
	case e.origin != nil:
		id = e.origin.Session
	}
	return session.Key(abi.Session{ID: id, AgentPath: e.family.agent})
}
