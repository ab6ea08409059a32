package main

import (
	"bytes"
	"context"
	"errors"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/transcript"
)

// sink writes the session to where it was asked for, once.
type sink struct {
	e       env
	session *transcript.Session
	source  *files.Source // what the session was read from; nil where that is a copy
	to      transcript.Format
	in, out string
	dryRun  bool
	written bool
	// count counts a session as a request.
	count func(context.Context, *transcript.Session) (int, error)
	// converted is what another format than the session's made of the result, as it is
	// read again; leftOut and tokens are of it. It is nil where nothing was converted.
	converted *transcript.Session
	leftOut   []string
	tokens    int
}

func (s *sink) commit(ctx context.Context, r *kagewasm.Result) error { return s.write(ctx, r) }

func (s *sink) write(ctx context.Context, r *kagewasm.Result) error {
	if s.written {
		return nil
	}
	data, err := s.session.Encode(r.Messages, s.to)
	if err == nil {
		err = s.source.Check()
	}
	if err == nil && s.to != "" && s.to != transcript.Same && s.to != s.session.Format {
		err = s.measure(ctx, r.Messages, data)
	}
	if err != nil || s.dryRun {
		return err
	}
	if s.out != "" {
		if err = files.WriteFor(s.out, data, s.in); err != nil {
			err = &abi.Error{Code: abi.CodeCommit, Message: err.Error(), Err: err,
				Hint: "give another file with --out; the session is as it was"}
		}
	} else {
		_, err = s.e.stdout.Write(data)
		if err == nil && s.e.screen && !bytes.HasSuffix(data, []byte("\n")) {
			_, err = s.e.stdout.Write([]byte("\n")) // so that the report begins a line
		}
	}
	s.written = err == nil
	return err
}

// settle writes what came of a compaction, unless that is done or something waits, and
// lets plugins end.
func (s *sink) settle(ctx context.Context, progress *ui.Progress, r *kagewasm.Result, err error) error {
	switch {
	case err != nil:
	case r.Report.ReasonCode == abi.ReasonFailed:
		err = failed(r)
	case r.Pending == nil:
		err = s.write(ctx, r)
	}
	if r == nil {
		return err
	}
	progress.Step("letting plugins end")
	if err = errors.Join(err, r.Settle(ctx)); err == nil {
		s.report(&r.Report)
	}
	return err
}

// measure finds out what a conversion left out, and what its result costs.
func (s *sink) measure(ctx context.Context, given []abi.Message, data []byte) (err error) {
	if s.converted, err = transcript.ReadContext(ctx, "the result", data, s.to); err != nil {
		return err
	}
	s.leftOut = transcript.LeftOut(given, s.converted)
	s.tokens, err = s.count(ctx, s.converted)
	return err
}

// report puts what a conversion did into the report.
func (s *sink) report(r *kagewasm.Report) {
	if s.converted != nil {
		r.LeftOut = s.leftOut
		r.Recount(len(s.converted.Messages), s.tokens)
	}
}
