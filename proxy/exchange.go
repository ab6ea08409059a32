package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// exchange is one request of a conversation, and what was done to it.
type exchange struct {
	p      *Proxy
	wire   *wire
	model  string
	engine Engine
	// client is the body as it came, doc what it says; nil where nothing is looked at.
	// whole is what is left where the asking is taken out.
	client, whole, doc *document
	how                asking // for a compaction
	// origin is the compaction that the conversation goes on from, where the client keeps an item of it.
	origin *sealed
	// body is what is sent, as long as it may have to be sent again; nil where it is not known.
	body   []byte
	seen   []digest
	family *family
	branch *branch
	plan   *plan // applied to what is sent
	began  time.Time
	cold   bool
	usage  tokens.Usage
	// managed is what the client wants its provider to do by itself, noted the block that it
	// keeps of an earlier time, note what the last compaction says, and inject what the answer
	// says of it.
	managed *managed
	noted   *noted
	note    string
	inject  *injection
	// item answers a client that asked for a compaction; spent is what models took for it.
	item  json.RawMessage
	spent tokens.Usage
	says  says
	// last is the last look at the request; nil where there was none. refused says that the provider refused it.
	last    *kagewasm.Result
	refused bool
	turn    *turn // what the answer says of the agent's turn; nil where nobody hears of it
	// waits says that the request waits for another one of its branch, until the time at which it has waited for long.
	waits bool
	until time.Time
}

// begin reads a request and makes it fit. The error is one of reading it; whatever else
// fails leaves the request as it came.
func (p *Proxy) begin(r *http.Request, w *wire, model string) (*exchange, error) {
	e := &exchange{p: p, wire: w, model: model, began: p.opts.Now(), says: says{what: "none", reason: "not_understood"}}
	b, err := readBody(r, p.opts.MaxBody)
	if err != nil {
		return nil, err
	}
	if r.Body = b.reader(); b.rest == nil {
		e.body = b.came
	}
	if b.plain == nil {
		return e, nil
	}
	if w == &ollama {
		if sized := p.withNumCtx(b.plain); sized != nil {
			b.plain = sized
			e.setBody(r, sized)
		}
	}
	client := w.read(b.plain)
	if client == nil {
		return e, nil
	}
	open, origin := p.opened(w, client)
	how, doc := w.asksFor(r.URL.Path, open)
	if how == askedNot {
		e.managed, doc = w.manages(doc)
	}
	if e.whole, e.noted = doc, p.noted(w, doc); e.noted != nil {
		if bare := w.withoutBlocks(doc, e.noted, nil); bare != nil {
			doc = bare
		}
	}
	if e.managed != nil || e.noted != nil {
		unbeta(r.Header, compactBeta)
	}
	if slices.ContainsFunc(w.elsewhere, doc.has) {
		e.says.reason = "kept_elsewhere"
		return e, nil
	}
	e.doc, e.how, e.client, e.origin = doc, how, client, origin
	sent := e.prepared(r)
	switch {
	case how != askedNot && open == client:
		sent = nil // the provider answers what we do not
	case how != askedNot:
		sent = open.doc
	case sent == nil && e.doc != client:
		sent = e.doc.doc
	}
	if sent != nil {
		e.setBody(r, sent)
	}
	return e, nil
}

// setBody makes a body that is not compressed that of a request.
func (e *exchange) setBody(r *http.Request, data []byte) {
	e.body = data
	setBody(r, data)
}

func setBody(r *http.Request, data []byte) {
	r.Body = &once{data}
	r.ContentLength = int64(len(data))
	r.TransferEncoding = nil
	r.Header.Set("Content-Length", strconv.Itoa(len(data)))
	r.Header.Del("Content-Encoding")
}

// prepared is the body to send, nil where that is the one that came.
func (e *exchange) prepared(r *http.Request) (sent []byte) {
	defer e.rescue(&sent)
	e.model = cmp.Or(e.model, e.doc.text("model"))
	var err error
	if e.engine, err = e.p.opts.Engine(e.wire.provider + e.model); err != nil {
		e.failed(err)
		return nil
	}
	if e.wire == &ollama {
		e.engine.Model.ContextWindow = e.loaded(r)
	}
	ending{e}.watch()
	e.family = e.p.families.of(e.wire.identity(r.Header, e.doc))
	e.family.mu.Lock()
	defer e.family.mu.Unlock()
	now := flight{e}
	defer now.begin()
	if err := now.between(r.Context(), func() error { return now.fit(r.Context()) }); err != nil {
		e.failed(err)
	}
	if e.how != askedNot || e.item != nil || e.plan == nil {
		return nil
	}
	if e.says.what == "none" {
		e.says.what, e.says.record = "applied", e.plan.record
	}
	return e.plan.apply(e.doc)
}

// compact compacts where the client asks for it, has it managed, or the request is too long.
func (e *exchange) compact(ctx context.Context) (err error) {
	if e.engine.Model.ContextWindow == nil { // which the policy may want to be known
		if _, err := e.engine.Compactor.Limits(e.forPolicy()); err != nil {
			return err
		}
	}
	if e.how != askedNot {
		e.item, err = e.compacted(ctx)
		return err
	}
	if e.managed != nil {
		switch err := e.manage(ctx); {
		case errors.Is(err, errInFlight):
			return err
		case err != nil:
			e.failed(err)
		}
	}
	if e.item != nil {
		return nil
	}
	if why, due := reasons(ctx, e); due {
		if _, err = e.look(ctx, why); why.reason == abi.TriggerPlugin && errors.Is(err, errInFlight) {
			e.branch.wanted = &wish{why.instructions}
		}
	}
	return err
}

// reasons says why the compactor is to look at the request, if it is.
func reasons(ctx context.Context, e *exchange) (why look, due bool) {
	if e.inject != nil {
		return why, false
	}
	if w := (ending{e}).wanted(ctx); w != nil {
		return look{reason: abi.TriggerPlugin, instructions: w.instructions}, true
	}
	if e.cold {
		return look{reason: abi.TriggerIdle}, e.due()
	}
	return look{reason: abi.TriggerThreshold}, e.due()
}

// rescue is for whatever nobody has thought of: the request goes on as it came.
func (e *exchange) rescue(sent *[]byte) {
	if broken := recover(); broken != nil {
		e.p.opts.Log(fmt.Sprintf("proxy: %v\n%s", broken, debug.Stack()))
		e.plan, *sent = nil, nil
		e.failed(&abi.Error{Code: abi.CodeInternal, Op: "proxy", Message: fmt.Sprint(broken)})
	}
}

// failed notes that a request was to be compacted, and is not.
func (e *exchange) failed(err error) {
	e.says = says{what: "failed", reason: string(abi.CodeOf(err))}
	e.p.opts.Log("proxy: the request is passed on without a compaction: " + err.Error())
}

// estimateError is what counts may be off by where they are corrected already.
const estimateError = 0.02

// window is the room for the request: what the model takes without the answer.
func (e *exchange) window() int {
	window, reserve := windows(e)
	return window - reserve
}

// windows are what the model takes, and what of it is no room for the request. A window that is assumed is no more
// exact without what counts may be off by.
func windows(e *exchange) (window, reserve int) {
	known := e.engine.Model.ContextWindow
	policy, _ := e.policy() // what is wrong with it the next look says
	window = policy.When.Window(known)
	room := min(max(e.doc.most(e.wire.room...), e.doc.option("num_predict")), window/4)
	if e.branch != nil {
		room += min(e.branch.uncounted, window/4) // which Ollama would cut without a word
	}
	if known == nil {
		return window, room
	}
	return window, window - int(float64(window-room)*(1-estimateError))
}

// due reports whether the request may be so long that it is worth to be counted. That takes
// no time where the provider has counted the most of it already.
func (e *exchange) due() bool { return extent{e}.reaches(e.floor()) }

// policy is the one that holds for the conversation.
func (e *exchange) policy() (kagewasm.Policy, error) {
	return e.engine.Compactor.Policy(e.forPolicy())
}

// forPolicy is the conversation as far as policies go by it.
func (e *exchange) forPolicy() abi.Session {
	return abi.Session{ID: e.family.id, AgentPath: e.family.agent, Model: e.engine.Model.Name()}
}

// floor is the least size at which a compaction can be due. What the last look found holds up to a bound, and no
// further, but where that look could not get below the bound.
func (e *exchange) floor() int {
	policy, err := e.policy()
	if err != nil {
		return 0
	}
	when, window := policy.When, e.window()
	share, _ := when.Thresholds(e.engine.Model.Name())
	if e.cold {
		share = min(share, when.IdleUpper)
	}
	floor := int(share * float64(window))
	if when.ReserveTokens > 0 {
		floor = min(floor, window-when.ReserveTokens)
	}
	if !e.cold {
		floor = max(floor, e.branch.quiet+1)
	}
	if (extent{e}).held() {
		return floor
	}
	return min(floor, bound(e, &when))
}

// bound is the size up to which no bound is passed that the policy sets in tokens or bytes: 0 where one is.
func bound(e *exchange, when *kagewasm.When) int {
	switch {
	case when.MaxBytes > 0 && (extent{e}).messageBytes() > when.MaxBytes:
		return 0
	case when.MaxTokens > 0:
		return when.MaxTokens
	}
	return math.MaxInt
}

// answered notes what the provider said of a request.
func (e *exchange) answered(ctx context.Context) {
	total := e.usage.Input + e.usage.CacheRead + e.usage.CacheWrite
	if total == 0 || e.branch == nil {
		return
	}
	e.family.mu.Lock()
	b := e.branch
	b.last = e.p.opts.Now()
	b.reported = measured{total, len(e.seen), e.plan}
	if c := b.counted; e.wire == &ollama && c.elements == len(e.seen) && c.under == e.plan {
		b.uncounted = max(0, total-int(float64(c.tokens)*extent{e}.scale()))
	}
	e.family.mu.Unlock()
	e.p.keeper.spend(ctx, e)
}
