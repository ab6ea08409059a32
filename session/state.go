package session

import (
	"context"
	"slices"
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// state is everything in a session that changes. Each of its methods is one step, which others see as a
// whole or not at all. It calls nothing of the host except its journal, so that the host may ask the
// session for its messages from anywhere it is called.
type state struct {
	mu       sync.Mutex
	id       abi.Session // its window shrinks where a provider says so
	overhead int
	recall   string // what notes say of how to read what is superseded
	history  *History
	sent     kagewasm.Sent // what the model was sent last
	used     int           // what the provider counted of that, 0 where it did not say
	wishes   wishes        // compactions that were asked for
	job      *Job          // the last one in the background
	taken    int           // the number of the last wish that it answers
}

// list returns what the model sees, and what an answer to it answers.
func (s *state) list() (msgs []abi.Message, to answers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.Messages(), answers{s.history.epoch, len(s.history.archive.list)}
}

func (s *state) all() []StoredMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.All()
}

func (s *state) compactions() []abi.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.Compactions()
}

func (s *state) append(ctx context.Context, msgs []abi.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return arrive(ctx, s.history, answers{epoch: anyEpoch}, msgs)
}

// maxArrivals is how often messages are added again because another process wrote to the session
// meanwhile.
const maxArrivals = 10

// anyEpoch is for messages that answer to no list.
const anyEpoch = -1

// answers says what messages answer: the list of an epoch, when the session had had so many messages.
type answers struct{ epoch, after int }

// arrive adds messages after those that others wrote to the session meanwhile. A journal may store an
// answer and return an error all the same, as where a database is lost after a commit: what is there
// already is not added again.
func arrive(ctx context.Context, h *History, to answers, msgs []abi.Message) (err error) {
	for range maxArrivals {
		if to.epoch != anyEpoch && h.archive.has(to.after, msgs) {
			return nil
		}
		if to.epoch != anyEpoch && h.epoch != to.epoch {
			return &abi.Error{Code: abi.CodeConflict, Op: "dispatch",
				Message: "the session was rolled back while the model was asked: its answer was not added",
				Hint:    "call the model again with what the session is now"}
		}
		known := h.Len()
		err = h.Append(ctx, msgs...)
		if abi.CodeOf(err) != abi.CodeConflict || h.Len() == known {
			break
		}
	}
	return err
}

// wasSent notes what a provider's cache can serve from now on.
func (s *state) wasSent(msgs []abi.Message, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.used = kagewasm.Sent{Messages: msgs, Tokens: tokens - s.overhead}, 0
}

// tookLast notes what the provider counted of what the model was sent last.
func (s *state) tookLast(tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = max(0, tokens)
}

// usedOf returns what the provider counted of the beginning of a list. It returns it once.
func (s *state) usedOf(list []abi.Message) *kagewasm.Used {
	used, sent := s.used, s.sent.Messages
	s.used = 0
	if used == 0 || len(sent) > len(list) ||
		!slices.EqualFunc(sent, list[:len(sent)], func(a, b abi.Message) bool { return a.ID == b.ID }) {
		return nil
	}
	return &kagewasm.Used{Messages: len(sent), Tokens: used}
}

// take adds the answer to a call. Where the session was rolled back since the call was made, the answer
// is to messages that were taken back: it is not added, and gone is true.
func (s *state) take(ctx context.Context, to answers, answer []abi.Message) (gone bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = arrive(ctx, s.history, to, answer)
	return s.history.epoch != to.epoch, err
}

// learn keeps the window that a provider named, so that the next request fits.
func (s *state) learn(window int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id.ContextWindow == nil || *s.id.ContextWindow > window {
		s.id.ContextWindow = &window
	}
}

// change makes a change of the history other than messages that arrive. A checkpoint that waits was
// made of another list then: it waits no more, and is returned, unless it is the one that is put in
// place.
func (s *state) change(record *abi.Record, do func(*History) error) (dropped *Checkpoint, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waited := s.history.pending
	if err := do(s.history); err != nil || s.history.pending == waited {
		return nil, err
	}
	if record != nil && record.ID == waited.ID {
		return nil, nil
	}
	return waited, nil
}

// session returns the session's name, agent, model and window.
func (s *state) session() abi.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// request returns a look at the session as it is.
func (s *state) request(reason abi.TriggerReason) asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requestLocked(reason)
}

func (s *state) requestLocked(reason abi.TriggerReason) asked {
	list := s.history.Messages()
	return asked{before: s.wishes.made, Request: kagewasm.Request{
		Session: s.id, Messages: list, AppendOnly: true, Used: s.usedOf(list), Overhead: s.overhead,
		Reason: reason, QuietBelow: s.history.quiet, Rejected: s.history.rejected, Sent: new(s.sent), Ongoing: true,
		Original: s.original, Recall: s.recall}}
}

// wished returns a look that answers the wishes which need not wait for the end of the open turn, 0 for
// none, nor for a job that answers them; a job's own look answers all. It has the given reason where
// there are no wishes.
func (s *state) wished(reason abi.TriggerReason, open int, job *Job) asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	look, taken := s.requestLocked(reason), 0
	switch {
	case job != nil && job == s.job:
		s.taken = s.wishes.made
	case job == nil && s.job.running() && (open != 0 || !s.job.Waiting()): // else the last turn failed
		taken = s.taken
	}
	look.wished = s.wishes.into(&look.Request, taken, open)
	return look
}

// want notes a wish for a compaction, made in a turn.
func (s *state) want(turn int, w hooks.Wish) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wishes.add(turn, w)
}

// requested returns the wishes that no compaction has answered.
func (s *state) requested() []hooks.Wish {
	s.mu.Lock()
	defer s.mu.Unlock()
	return lists.Map(s.wishes.list, func(w wish) hooks.Wish { return w.Wish })
}

// answered forgets the wishes up to the one of that number.
func (s *state) answered(last int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wishes.answered(last)
}

// original returns a message as it came, or nil.
func (s *state) original(id string) *abi.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.archive.get(id)
}

// keep puts a result in the place of the list it was made of. A compaction answers the wishes up to the
// one numbered last.
func (s *state) keep(
	ctx context.Context, base []abi.Message, r *kagewasm.Result, last int,
) (dropped *Checkpoint, err error) {
	record := r.Record
	if !r.Report.Compacted {
		record = nil
	}
	return s.change(record, func(h *History) error {
		list, err := Swap(r, base, h.last().messages)
		if err == nil {
			err = h.Rewrite(ctx, list, record)
		}
		if err == nil && record != nil {
			s.wishes.answered(last)
		}
		return err
	})
}

// task returns the job that answers what has been asked for up to now, and whether it is a new one: one that waits
// answers it too. In the background one job runs at a time, and answers what was asked for before it began.
func (s *state) task(ctx context.Context, background bool) (job *Job, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job.running() && background && !s.job.Waiting() {
		return s.job, false
	}
	s.taken = s.wishes.made
	if s.job.running() && s.job.Waiting() {
		return s.job, false
	}
	s.job = newJob(ctx)
	return s.job, true
}

func (s *state) lastJob() *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.job
}

// await pauses the session for a checkpoint. Otherwise it returns why not: the list that the checkpoint
// was made of is no more, or the journal fails, which are errors; or another checkpoint waits already,
// which is none.
func (s *state) await(ctx context.Context, cp *Checkpoint) (whyNot string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := Swap(cp.result(), cp.req.Messages, s.history.last().messages)
	if err != nil {
		return "the session changed meanwhile", err
	}
	if s.history.pending != nil {
		return "another one waits already", nil
	}
	made := cp.result()
	made.Messages = list
	if err := s.history.Propose(ctx, made); err != nil {
		return "it could not be stored", err
	}
	s.history.pending = cp // which knows the request that it came of
	return "", nil
}

func (s *state) waiting() *Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.pending
}

// paused returns an error where a compaction waits for the operator.
func (s *state) paused() error {
	cp := s.waiting()
	if cp == nil {
		return nil
	}
	return &abi.Error{Code: abi.CodeBusy, Op: "dispatch",
		Message: "the session is paused: compaction " + cp.ID + " waits for a decision", Hint: "approve or reject it"}
}

// reject drops a checkpoint, and the session goes on without it.
func (s *state) reject(ctx context.Context, cp *Checkpoint, why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.Reject(ctx, cp.ID, why)
}
