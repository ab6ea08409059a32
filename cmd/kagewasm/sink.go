package main

import (
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/transcript"
)

// sink writes the session to where it was asked for, once.
type sink struct {
	e       env
	session *transcript.Session
	to      transcript.Format
	out     string
	dryRun  bool
	written bool
}

func (s *sink) commit(_ context.Context, r *kagewasm.Result) error { return s.write(r) }

func (s *sink) write(r *kagewasm.Result) error {
	if s.written || s.dryRun {
		return nil
	}
	data, err := s.session.Encode(r.Messages, s.to)
	if err != nil {
		return err
	}
	if s.out != "" {
		err = files.Write(s.out, data)
	} else {
		_, err = s.e.stdout.Write(data)
	}
	s.written = err == nil
	return err
}
