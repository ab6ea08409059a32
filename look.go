package kagewasm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/learned"
	"github.com/kagewasm/kagewasm/internal/msgid"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// look is a session as one call of the compactor finds it: the request, the policy, and what the
// messages cost. Nothing in it changes except the memo, which the next call of the compactor takes
// over.
type look struct {
	opts   *Options
	hooks  *hooks.Dispatcher
	req    Request
	policy Policy // with its defaults
	// secrets takes secrets out of what is inserted, stored and reported.
	secrets *redact.Redactor
	// instructions are those of the request, without secrets.
	instructions string
	limits       limits
	keepers      abi.Keepers // what plugins pinned in earlier compactions, without what the request releases
	start        time.Time
	now          string          // start, RFC 3339
	came         strategies.List // the session as it came
	// previous is what the model was given last, or else the session as it came.
	previous Sent
	memo     *memo
	// late are the plugins that compactions did not wait for.
	late *sync.WaitGroup
	// windows are the windows that providers named, by model, for all sessions.
	windows *learned.Windows
	scales  *learned.Scales
	scaled  Scale // of the session's model
	// counter counts until the call's context is done.
	counter abi.Counter
	// hearing is the model, and keeps what it answers.
	hearing *hearing
	// said is what plugins answer; nil where nobody keeps it.
	said *saying
}

// look counts the session as it came, and returns nil where the request makes no sense. A canceled
// context ends the counting early, which is an error too.
func (c *Compactor) look(ctx context.Context, req Request) (*look, error) {
	req.Reason = req.Trigger()
	policy, err := c.policy(&req)
	if err != nil {
		return nil, err
	}
	if o := req.Overrides; o.keepsLast() && *o.KeepLast == 0 && req.Target == nil {
		req.Target = o.KeepLast
	}
	secrets, err := policy.redactor()
	if err != nil {
		return nil, err
	}
	known := c.known.take(&req.Session)
	same := known.named(&req)
	l := &look{secrets: secrets, opts: &c.opts, hooks: c.hooks, late: &c.late, windows: &c.windows, scales: &c.scales,
		req: req, policy: policy, start: c.opts.Now(), memo: known, counter: stoppable{c.opts.Counter, ctx},
		hearing: &hearing{Model: c.opts.Model}}
	if c.opts.Audit != nil || req.Audit != nil {
		l.said = new(saying)
	}
	l.instructions, _ = secrets.Redact(req.Instructions)
	l.now = l.start.UTC().Format(time.RFC3339)
	gaveUp := l.memo.measure(ctx, &l.req, same, l.counter)
	if err = gaveUp; abi.CodeOf(gaveUp) != abi.CodeUsage {
		err = c.assess(l, gaveUp != nil)
	}
	if err != nil {
		c.close(l, nil)
		return nil, err
	}
	return l, gaveUp
}

// assess fills in, once the messages or some of them are counted, what the session costs, what of it
// stays, and the limits.
func (c *Compactor) assess(l *look, gaveUp bool) (err error) {
	if l.keepers, err = keepersOf(&l.req, gaveUp || l.memo.notes > 0); err != nil {
		return err
	}
	tokens := l.memo.tokens
	if gaveUp { // some are missing
		tokens = append(slices.Clip(tokens), make([]int, len(l.req.Messages)-len(tokens))...)
	}
	l.came = strategies.NewList(l.req.Messages, tokens, standing(l, gaveUp), l.req.Overhead)
	l.previous = given(l.memo.sent, &l.req, l.came.Total)
	return c.limit(l)
}

// keepersOf returns the pins that plugins made in earlier compactions, without those that the request
// releases.
func keepersOf(req *Request, noted bool) (abi.Keepers, error) {
	keepers := make(abi.Keepers)
	if noted {
		keepers = abi.KeepersOf(req.Messages)
	}
	for _, id := range req.Release {
		if len(keepers[id]) == 0 {
			return nil, usage("release %q: no plugin pinned a message of that id", id)
		}
	}
	for _, id := range req.Release {
		delete(keepers, id)
	}
	return keepers, nil
}

// given returns what the model was given last, or the session as it came where nothing is known of
// that. total is what the session costs.
func given(last Sent, req *Request, total int) Sent {
	if req.Sent != nil {
		last = *req.Sent
	}
	if last.Messages == nil {
		return Sent{req.Messages, total - req.Overhead}
	}
	return last
}

// limit works out the limits, from what the request says of the model and what was learned of it
// before.
func (c *Compactor) limit(l *look) (err error) {
	if err := l.learnScale(); err != nil {
		return err
	}
	s := &l.req.Session
	if fits, ok := l.req.Exceeded.Window(l.came.Total); ok {
		l.learnWindow(s.Model, fits)
	}
	s.ContextWindow = c.window(s)
	l.scaled = l.scale(s.Model)
	l.limits, err = l.policy.limits(&l.req, l.came.Total, noted(l.came), l.scaled)
	return err
}

// standing marks the messages that stay in the session as it came.
func standing(l *look, gaveUp bool) []bool {
	if gaveUp || len(l.keepers)+len(l.policy.Keep.Always) > 0 {
		return l.pinned(l.req.Messages, l.keepers)
	}
	return l.memo.pinned(l.req.Messages)
}

// pinned marks the messages that stay in any plan.
func (l *look) pinned(msgs []abi.Message, keepers abi.Keepers) []bool {
	pins := abi.Pinned(msgs, keepers.Keeps)
	for i, asked := range askedFor(msgs, l.policy.Keep.Always) {
		pins[i] = pins[i] || asked
	}
	return pins
}

// held reports whether a message is pinned for what it is, or by somebody: then it stays
// to the byte.
func (l *look) held(m *abi.Message) bool {
	return m.AlwaysKept() || l.keepers.Keeps(m) || isAskedFor(m, l.policy.Keep.Always)
}

// close puts back the memo of the session, with what the model is given now, if that is known.
func (c *Compactor) close(l *look, given *Result) {
	if o, over := l.overhead(); over && given != nil && given.Report.Compacted && !l.req.DryRun &&
		l.freedLittle(given.Report.TokensAfter) {
		l.memo.futile = o
	}
	if given != nil && !l.req.DryRun {
		l.memo.sent = Sent{given.Messages, given.Report.TokensAfter - l.req.Overhead}
	}
	c.known.put(&l.req.Session, l.memo)
}

// ids returns the ids of a list, which may lack some of the session's messages.
func (l *look) ids(of strategies.List) []string {
	if len(of.Messages) == len(l.memo.ids) {
		return slices.Clip(l.memo.ids)
	}
	ids := make([]string, len(of.Messages))
	for i := range of.Messages {
		ids[i] = of.Messages[i].ID
	}
	return ids
}

// view returns a list as strategies see it.
func (l *look) view(of strategies.List) *strategies.View {
	return strategies.NewView(of, l.limits.Limits, l.counter)
}

// count returns a list of messages that nobody has counted yet, with what they cost.
func (l *look) count(msgs []abi.Message) strategies.List {
	tokens := make([]int, len(msgs))
	for i := range msgs {
		tokens[i] = l.counter.Message(&msgs[i])
	}
	return strategies.NewList(msgs, tokens, nil, l.req.Overhead)
}

// stoppable is a counter that stops with a context. Once that is done every text costs more than there
// is room for, so that code which makes a text fit gives up at once. What it returns then must not be
// used.
type stoppable struct {
	abi.Counter
	ctx context.Context
}

// unaffordable is more tokens than any window has. Sums of it do not overflow.
const unaffordable = 1 << 30

// Text implements abi.Counter.
func (s stoppable) Text(text string) int {
	return s.count(func() int { return s.Counter.Text(text) },
		func(c abi.ContextCounter) (int, error) { return c.TextContext(s.ctx, text) })
}

// Message implements abi.Counter.
func (s stoppable) Message(m *abi.Message) int {
	return s.count(func() int { return s.Counter.Message(m) },
		func(c abi.ContextCounter) (int, error) { return c.MessageContext(s.ctx, m) })
}

func (s stoppable) count(whole func() int, until func(abi.ContextCounter) (int, error)) int {
	if s.ctx.Err() != nil {
		return unaffordable
	}
	c, ok := s.Counter.(abi.ContextCounter)
	if !ok {
		return whole()
	}
	n, err := until(c)
	if err != nil {
		return unaffordable
	}
	return n
}

// until returns the look and the view with a counter that stops with another context.
func (l *look) until(ctx context.Context, v *strategies.View) (*look, *strategies.View) {
	other, view := *l, *v
	other.counter = stoppable{l.opts.Counter, ctx}
	view.Count = other.counter
	return &other, &view
}

func canceled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &abi.Error{Code: abi.CodeCanceled, Op: "compact", Message: err.Error(), Err: err,
			Hint: "give it more time; the session is as it was"}
	}
	return nil
}

// memo holds what is remembered of a session from one look to the next, so that a look costs only what
// is new. It also decides what is said about provider caches, whether a model that failed before is
// asked again, and whether a compaction that was of no use is tried again.
type memo struct {
	messages []abi.Message
	tokens   []int
	ids      []string       // which reports share
	index    map[string]int // by id
	notes    int            // how many of them are summaries
	// list is the list that was measured last, where nobody writes into it, else nil.
	list []abi.Message
	// pins are the pins of the first messages, where a person's message is among them, else nil.
	pins []bool
	// prompted: a system prompt is among them.
	prompted bool
	// sent is what the model was given last, empty before the first time.
	sent Sent
	// declined are the models whose answers were refused, or that failed.
	declined declined
	// futile is the overhead for which a compaction was of no use, told the overhead that was warned
	// of.
	futile, told overhead
}

// maxMemos is how many sessions are remembered. The one that was not looked at for the longest time is
// forgotten.
const maxMemos = 64

// memos holds the memos of sessions that nobody is looking at right now.
type memos struct {
	mu   sync.Mutex
	list []keyedMemo // least recently used first
}

type keyedMemo struct {
	key string
	*memo
}

// take hands out the memo of a session. It has to be put back.
func (ms *memos) take(s *abi.Session) *memo {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	i := ms.index(memoKey(s))
	if i < 0 {
		return &memo{index: make(map[string]int), declined: make(declined)}
	}
	m := ms.list[i].memo
	ms.list = slices.Delete(ms.list, i, i+1)
	return m
}

func (ms *memos) put(s *abi.Session, m *memo) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.index(memoKey(s)) >= 0 {
		return // two looks at once: the first one's will do
	}
	if len(ms.list) == maxMemos {
		ms.list = slices.Delete(ms.list, 0, 1)
	}
	ms.list = append(ms.list, keyedMemo{memoKey(s), m})
}

func (ms *memos) index(key string) int {
	return slices.IndexFunc(ms.list, func(m keyedMemo) bool { return m.key == key })
}

func memoKey(s *abi.Session) string { return s.ID + "\x00" + s.AgentPath }

// standing returns how many messages of a request stand where they stood at the last look, with nothing
// written into them since.
func (m *memo) standing(req *Request) int {
	n := min(len(req.Messages), len(m.list))
	if !req.AppendOnly || n == 0 || &req.Messages[0] != &m.list[0] {
		return 0
	}
	return n
}

// pinned returns the same as [abi.Pinned]. Once a person was answered a message that comes is pinned only
// for what it is itself, so that only messages that are new in the list are looked at. Before that the
// output of a command can still come, which shows that its message was no task. Where there is no system prompt yet
// one can come.
func (m *memo) pinned(msgs []abi.Message) []bool {
	if m.pins == nil {
		pins := abi.Pinned(msgs)
		if m.list != nil && personAnswered(msgs) {
			m.pins, m.prompted = pins, hasPrompt(msgs, pins)
		}
		return pins
	}
	for i := len(m.pins); i < len(msgs); i++ {
		if msgs[i].Role == abi.RoleSystem && !m.prompted {
			m.pins = nil
			return m.pinned(msgs)
		}
		m.pins = append(m.pins, msgs[i].AlwaysKept())
	}
	return slices.Clip(m.pins)
}

// hasPrompt reports whether a message of the system is pinned for where it stands.
func hasPrompt(msgs []abi.Message, pins []bool) bool {
	for i := range pins {
		if m := &msgs[i]; pins[i] && m.Role == abi.RoleSystem && !m.AlwaysKept() {
			return true
		}
	}
	return false
}

// personAnswered reports whether a message of a person has one of an assistant behind it.
func personAnswered(msgs []abi.Message) bool {
	first := slices.Index(abi.Persons(msgs), true)
	return first >= 0 && slices.ContainsFunc(msgs[first:], func(m abi.Message) bool { return m.Role == abi.RoleAssistant })
}

// named gives the messages of a request ids, and returns how many of them are known to be the same as before.
func (m *memo) named(req *Request) (same int) {
	same = m.standing(req)
	if unnamed := func(m abi.Message) bool { return m.ID == "" }; slices.ContainsFunc(req.Messages[same:], unnamed) {
		req.Messages = msgid.Fill(req.Messages, m.messages, func(string) bool { return false })
		req.AppendOnly, same = false, 0 // it is a list of the look's own
	}
	return same
}

// measure counts the messages that it has not counted before. The first same messages are known to be
// as before. It returns a usage error for an id that is there twice and for an unknown role, and stops
// early where ctx is done: the counts are of no use then.
func (m *memo) measure(ctx context.Context, req *Request, same int, counter abi.Counter) error {
	msgs := req.Messages
	if m.list = nil; same < len(m.pins) {
		m.pins = nil
	}
	for same < min(len(msgs), len(m.messages)) && m.messages[same].Same(&msgs[same]) {
		same++
	}
	for i := same; i < len(m.messages); i++ {
		delete(m.index, m.messages[i].ID)
		if m.messages[i].Kind == abi.KindSummary {
			m.notes--
		}
	}
	m.messages, m.tokens = m.messages[:same], m.tokens[:same]
	if same < len(m.ids) {
		m.ids = slices.Clip(m.ids[:same]) // what reports have is not written over
	}
	if same == 0 { // the first time, with room for what follows
		more := len(msgs) + len(msgs)/8
		m.messages, m.tokens = slices.Grow(m.messages, more), slices.Grow(m.tokens, more)
		m.ids = slices.Grow(m.ids, more)
	}
	for i := same; i < len(msgs); i++ {
		id := msgs[i].ID
		if _, twice := m.index[id]; twice {
			return usage("message %d: id %q: every message needs an id of its own", i, id)
		}
		if role := msgs[i].Role; !role.Valid() {
			return usage("message %d: role %q: use system, user, assistant or tool", i, role)
		}
		n := counter.Message(&msgs[i])
		if err := canceled(ctx); err != nil {
			return err
		}
		if m.index[id] = i; msgs[i].Kind == abi.KindSummary {
			m.notes++
		}
		m.messages = append(m.messages, msgs[i])
		m.tokens = append(m.tokens, n)
		m.ids = append(m.ids, id)
	}
	if req.AppendOnly {
		m.list = msgs
	}
	return nil
}

// shared returns the tokens of the messages that both lists begin with.
func (s *Sent) shared(now strategies.List) (tokens int) {
	for i := range min(len(now.Messages), len(s.Messages)) {
		if a, b := &s.Messages[i], &now.Messages[i]; a != b && !a.Same(b) {
			break
		}
		tokens += now.Tokens[i]
	}
	return tokens
}

// guarded runs f, which is about a note, and reports whether it came to its end. Where it panics the compaction goes on
// with less of a note, and the panic is one of faults.
func guarded(faults *[]*abi.Error, f func()) (done bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		fault := &abi.Error{Code: abi.CodeInternal, Op: "write note", Message: fmt.Sprintf("the note panicked: %v", v),
			Hint: "a fault of the host or of its token counter: report it"}
		if !slices.ContainsFunc(*faults, func(e *abi.Error) bool { return e.Message == fault.Message }) {
			*faults = append(*faults, fault)
		}
	}()
	f()
	return true
}
