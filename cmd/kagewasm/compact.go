package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

func newCompact(e env) *cobra.Command {
	f := &compactFlags{}
	cmd := &cobra.Command{
		Use:   "compact FILE",
		Short: "Make a session fit its model's context window again",
		Long: `Read a session, and where it fills too much of the model's context window make
it smaller: old tool output is shortened, then the oldest messages are replaced
by a note with the exact names that stood in them, or that a model writes.
Plugins may take part.

FILE is a session in any known format, or - for standard input. It is never
changed. Without --out the result goes to standard output and the report, for a
person, to standard error.

A kagewasm.yaml here or in a folder above is used; where it may be somebody
else's, and names models or plugins or takes a protection away, after kagewasm
config trust. --config names another, --no-config goes without. --agent says
whose settings hold, --set changes one for this time, and flags win over all.
The strategy checkpoint shows on a terminal what it would do and asks; --yes
approves it, and where nobody can be asked it waits for kagewasm approve: without
--out the exit code is 1 then, as there is no session to print.

What was done is kept in the state folder, with the session as it was: kagewasm
undo takes it back, kagewasm sessions and lost show it. --no-record goes without.
While a server has a turn of that session open, or a call of its model in flight,
nothing is compacted, and the exit code is 1: its agent works with what is there.
--no-record compacts FILE alone. A session that is made to fit as far as it goes, and
does not fit its window, is a warning and the exit code 0; --strict makes it 1.
--record and --replay are about what plugins ask of the network and of models; the
model that writes summaries is asked all the same.`,
		Example: `  kagewasm compact session.jsonl --window 32000 --out smaller.jsonl
  kagewasm compact session.jsonl --model claude-sonnet-4-5 --plugin markdown --dry-run
  kagewasm compact session.jsonl --agent main/reviewer --set compaction.summarize=off --out smaller.jsonl
  kagewasm compact session.jsonl --force --target 8000 --report report.json > smaller.jsonl
  kagewasm compact session.jsonl --prepare --json`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags().Changed
			return f.run(c.Context(), e, args[0])
		},
	}
	f.register(e, cmd)
	return cmd
}

func (f *compactFlags) run(ctx context.Context, e env, path string) error {
	progress := e.progress()
	defer progress.Done()
	if f.out == "-" {
		f.out = "" // standard output
	}
	if err := f.check(path); err != nil {
		return err
	}
	if f.prepare {
		return prepared(ctx, f, e, path, progress)
	}
	var run *record.Run
	var sink *sink
	f.source = new(files.Source) // the process ends with it
	err := f.source.Guard(func() (err error) {
		if run, sink, err = f.do(ctx, e, path, progress); run == nil {
			return err
		}
		progress.Done()
		if sink.written || abi.CodeOf(err) != abi.CodeCanceled {
			f.record(ctx, e, run)
		}
		return err
	})
	if run == nil {
		return err
	}
	err = errors.Join(f.tell(e, path, run.Result, sink.written, err), f.finishCassette(e))
	if err == nil && run.Waits() != nil && f.out == "" {
		// Whoever reads standard output would take nothing for the session.
		return errors.New("standard output has no session: the compaction waits to be approved")
	}
	return err
}

// do reads the session, compacts it and writes the result. The run is nil where it did not come to that.
func (f *compactFlags) do(ctx context.Context, e env, path string, progress *ui.Progress) (*record.Run, *sink, error) {
	progress.Step("reading %s", path)
	run, err := f.read(ctx, e, path)
	if err != nil {
		return nil, nil, unwritten(err)
	}
	busy := turnOver(ctx, f, e, run)
	if busy != nil && (f.force || f.given("target")) {
		return nil, nil, busy
	}
	session := run.File
	f.trial = f.dryRun
	conf, err := f.configured(e, f.agent, f.sets)
	conf.asked = f.model
	if err == nil {
		err = files.CheckOutputs(conf.reads(), f.outputs()...)
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := meansOf(ctx, f, e, session, conf, progress)
	if err != nil {
		return nil, nil, err
	}
	model, counter, tools, opts, plugins := m.model, m.counter, m.tools, m.opts, m.plugins
	defer plugins.close(context.WithoutCancel(ctx))
	logged(session, transcript.Format(f.to), conf, &opts)
	keep := f.learns(e, &opts)
	progress.Step("compacting %s messages", ui.Number(len(session.Messages)))
	sink := &sink{e: e, session: session, to: transcript.Format(f.to), in: path, out: f.out, dryRun: f.dryRun,
		source: f.source,
		count: func(ctx context.Context, s *transcript.Session) (int, error) {
			return cost(ctx, counter, s, f.overhead)
		}}
	req := f.request(path, session, model, tools.Tokens, sink)
	run.Begin(&req)
	req.Messages = withFiles(ctx, f, e, run, req.Messages)
	listen(&opts, run)
	if busy != nil { // what changes nothing may go on, and is recorded beside nothing
		if is, err := due(ctx, opts, req); is || err != nil {
			return nil, nil, cmp.Or(unwritten(err), busy)
		}
		f.noRecord = true
	}
	run.Result, err = compact(ctx, opts, req, f.records(),
		func(pending *kagewasm.Result) verdict {
			progress.Done()
			return f.ask(e, path, pending)
		})
	if busy != nil && run.Result != nil && run.Result.Report.TokensAfter != run.Result.Report.TokensBefore {
		return nil, nil, busy
	}
	if run.Result != nil {
		run.Result.Report.Metrics.InexactCount = !model.ExactCounts || !tools.Exact
	}
	err = sink.settle(ctx, progress, run.Result, err)
	run.Err = err
	keep()
	return run, sink, err
}

// means are what a session is looked at with.
type means struct {
	model   tokens.Model
	counter *tokens.Counter
	tools   tokens.Count
	opts    kagewasm.Options
	plugins *loader // nil where there are none; who made the means closes it
}

func meansOf(
	ctx context.Context, f *compactFlags, e env, s *transcript.Session, conf configured, progress *ui.Progress,
) (m means, err error) {
	resolved := f.resolve(s, conf)
	m.model = f.learned(e, resolved)
	if resolved.ContextWindow == nil && m.model.ContextWindow != nil && !f.quiet {
		e.say(fmt.Sprintf("the window of %s is taken as %s tokens, as its provider said when it refused a request: --window "+
			"says another, and it is asked again after 30 days", m.model.Name(), ui.Number(*m.model.ContextWindow)))
	}
	if says := f.assumed(m.model, conf); says != "" && !f.quiet {
		e.say(says)
	}
	if m.counter, err = tokens.New(m.model.Encoding, tokens.Options{}); err != nil {
		return m, err
	}
	if m.tools, err = m.counter.Tools(ctx, s.Tools); err != nil {
		return m, err
	}
	m.opts, m.plugins, err = f.options(ctx, e, conf, m.counter, progress)
	return m, err
}

// logged has the thinking in an agent's own log stay: the agent decides what it sends.
func logged(s *transcript.Session, to transcript.Format, conf configured, opts *kagewasm.Options) {
	if s.KeepsThinking(to) {
		opts.Policy.Keep.DropThinking, opts.Lookup = false, conf.resolveForLog
	}
}

// finishCassette writes what plugins asked, and says so where not all is to be quiet.
func (f *compactFlags) finishCassette(e env) error {
	if f.quiet {
		e.stderr = io.Discard
	}
	return f.cassette.finish(e)
}

// read reads the session as its model sees it.
func (f *compactFlags) read(ctx context.Context, e env, path string) (*record.Run, error) {
	data, err := f.source.Open(ctx, e.stdin, path)
	if err != nil {
		return nil, err
	}
	file, err := transcript.ReadContext(ctx, path, data, transcript.Format(f.format))
	if err != nil {
		return nil, err
	}
	file.ID = cmp.Or(f.session, file.ID)
	all := *file
	file.Messages = file.Live() // what the program itself took away is not the model's any more
	f.source.Rest()
	holdMemory(len(data), f.source.Copied(), len(file.Messages), len(f.plugins))
	run := &record.Run{Path: path, Data: data, File: file}
	has := func() []session.StoredMessage { return record.Stored(&all) }
	f.search = record.Search(has, func(ctx context.Context) ([]session.StoredMessage, error) {
		return earlier(ctx, f, e, run)
	})
	return run, nil
}

// learned is a model with the window that its provider named in an earlier run, where
// nothing else says how large it is. The name is the one it is asked by.
func (f *compactFlags) learned(e env, m tokens.Model, name ...string) tokens.Model {
	for _, name := range append(name, m.Name()) {
		if n := state.Window(f.state, e.stateHome, name); n > 0 && m.ContextWindow == nil {
			m.ContextWindow = &n
		}
	}
	return m
}

// learns has the compaction go by the windows that providers named in earlier runs. What it
// returns keeps those that they name in this one; the compaction is done then, whether they
// can be kept or not.
func (f *compactFlags) learns(e env, opts *kagewasm.Options) (keep func()) {
	windows := make(map[string]int)
	goesBy(f, e, opts)
	opts.Learned = func(model string, window int) { windows[model] = window }
	return func() {
		if err := keepWindows(f.state, e, windows); err != nil && !f.quiet {
			e.say("what providers said of their models is not kept: " + err.Error())
		}
	}
}

// goesBy has compactions go by the windows that providers named in earlier runs.
func goesBy(f *compactFlags, e env, opts *kagewasm.Options) {
	lookup := opts.Lookup
	opts.Lookup = func(name string) tokens.Model { return f.learned(e, lookup(name), name) }
}

// keepWindows keeps what providers said of their models.
func keepWindows(dir string, e env, windows map[string]int) error {
	if len(windows) == 0 {
		return nil
	}
	st, err := state.Open(dir, e.stateHome, e.say)
	if err != nil {
		return err
	}
	defer st.Close()
	for model, n := range windows {
		if err := st.SetWindow(model, n); err != nil {
			return err
		}
	}
	return nil
}

// cost is what a session costs as a request, beside the overhead of it.
func cost(ctx context.Context, counter *tokens.Counter, s *transcript.Session, overhead int) (int, error) {
	tools, err := counter.Tools(ctx, s.Tools)
	n := tools.Tokens + overhead
	for i := range s.Messages {
		if err != nil {
			break
		}
		var of int
		of, err = counter.MessageContext(ctx, &s.Messages[i])
		n += of
	}
	return n, err
}

// compact makes the compaction, a checkpoint only where it is approved; one that
// nobody could be asked about waits where it is recorded. One that does not fit is done
// as far as it goes: a warning, and exit code 0.
func compact(
	ctx context.Context, opts kagewasm.Options, req kagewasm.Request, recorded bool, ask func(*kagewasm.Result) verdict,
) (*kagewasm.Result, error) {
	compactor, err := kagewasm.New(opts)
	if err != nil {
		return nil, err
	}
	result, err := compactor.Compact(ctx, req)
	if err == nil && result.Pending != nil {
		switch ask(result.Pending) {
		case approved:
			result, err = compactor.Commit(ctx, req, result.Pending)
		case rejected:
			const why = "rejected on the terminal; nothing was written"
			err = reject(ctx, compactor, req, result, why)
			result.Report.ReasonCode, result.Report.Reason = abi.ReasonRejected, why
		case held:
			if !recorded {
				err = reject(ctx, compactor, req, result, "nobody could be asked on a terminal; nothing was written")
			}
		}
	}
	if result != nil && abi.CodeOf(err) == abi.CodeExceedsWindow {
		result.Report.Failures = append(result.Report.Failures, abi.AsError(err))
		err = nil
	}
	return result, err
}

// reject drops the compaction that waits. The report has what came of telling plugins.
func reject(
	ctx context.Context, c *kagewasm.Compactor, req kagewasm.Request, result *kagewasm.Result, why string,
) error {
	told, err := c.Reject(ctx, req, result.Pending, why)
	if err == nil {
		err = told.Settle(ctx)
	}
	r, t := &result.Report, &told.Report
	r.Hooks, r.Retained, r.Wishes, r.Failures = t.Hooks, t.Retained, t.Wishes, t.Failures
	return err
}

// failed is the error of a session that is over its threshold, and that nobody could
// compact.
func failed(r *kagewasm.Result) error {
	e := abi.Error{Code: abi.CodeNoCompactor}
	if n := len(r.Report.Failures); n > 0 {
		e = *r.Report.Failures[n-1]
	}
	e.Op, e.Message = "compact", r.Report.Reason+": "+e.Message
	return &e
}

// unwritten is the error of a command that wrote nothing, which an interrupt does not
// say by itself.
func unwritten(err error) error { return whenCanceled(err, "interrupted; nothing was written") }

// whenCanceled is an error with what an interrupt means for the command, where it is one.
func whenCanceled(err error, says string) error {
	if abi.CodeOf(err) != abi.CodeCanceled {
		return err
	}
	return &abi.Error{Code: abi.CodeCanceled, Message: says, Err: err}
}

// tell writes the reports. An error of the compaction wins over one of them. Who
// interrupted it asked for no report.
func (f *compactFlags) tell(e env, path string, result *kagewasm.Result, written bool, err error) error {
	if result == nil || abi.CodeOf(err) == abi.CodeCanceled && !written {
		return unwritten(err)
	}
	if f.report != "" {
		var buf bytes.Buffer
		rerr := ui.JSON(&buf, result.Report)
		if rerr == nil {
			rerr = files.WriteFor(f.report, buf.Bytes(), path)
		}
		err = errors.Join(err, rerr)
	}
	switch {
	case f.asJSON:
		w := e.stderr
		if f.out != "" || f.dryRun {
			w = e.stdout
		}
		err = errors.Join(err, ui.JSON(w, result.Report))
	case result.Report.ReasonCode == abi.ReasonRejected:
		e.say(result.Report.Reason) // the person has read the rest
	case f.quiet:
		ui.Failures(e.err(), result.Report.Failures)
	default:
		if n := len(result.Report.Failures); n > 0 && err != nil &&
			result.Report.Failures[n-1].Error() == abi.AsError(err).Error() {
			result.Report.Failures = result.Report.Failures[:n-1] // it is told last, once
		}
		c := ui.Compaction{Path: path, Plugins: len(f.plugins) > 0, Result: result}
		if written {
			c.Out = f.out
		}
		ui.Report(e.err(), c)
	}
	if n := len(result.Report.Failures); err == nil && f.strict && n > 0 {
		err = fmt.Errorf("--strict: %s on the way, the first of which is %w", ui.Plural(n, "failure"),
			result.Report.Failures[0])
	}
	return err
}
