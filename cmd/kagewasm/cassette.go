package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/kit/cassette"
	"github.com/kagewasm/kagewasm/runtime"
)

// cassetteFlags record and replay the HTTP requests and completions of plugins. They
// are in pluginFlags; a command that has them registers them, and calls finish
// when its plugins were called.
type cassetteFlags struct {
	record, replay string

	recorder *cassette.Recorder
	player   *cassette.Player
}

func (f *cassetteFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.record, "record", "", "write the HTTP requests and completions that plugins make, and their "+
		"answers, to `FILE`, for --replay: placeholders of secrets, and no values")
	fs.StringVar(&f.replay, "replay", "", "answer HTTP requests and completions from `FILE`, which --record wrote: "+
		"nothing is sent, and no key is needed; what is in it is granted, unless --deny says otherwise")
}

// write writes the recording, for nobody else to read: prompts hold sessions.
// One that is there stays where there is nothing to put in its place.
func (f *cassetteFlags) write(p ui.Printer) error {
	doc, err := f.recorder.Encode()
	if err != nil {
		return err
	}
	if _, err := os.Stat(f.record); err == nil && len(doc) == 0 {
		p.Linef("no calls were made: %s is as it was", f.record)
		return nil
	}
	if err := files.WritePrivate(f.record, doc); err != nil {
		return err
	}
	p.Linef("calls recorded in %s: %d", f.record, bytes.Count(doc, []byte("\n")))
	return nil
}

// output is the file that is written.
func (f *cassetteFlags) output() files.File { return files.Named("--record", f.record) }

// open opens what the flags name.
func (f *cassetteFlags) open() (err error) {
	switch {
	case f.record != "" && f.replay != "":
		return ui.Usagef("--record %s and --replay %s: give one of them", f.record, f.replay)
	case f.replay != "":
		f.player, err = cassette.Read(f.replay)
	case f.record != "":
		f.recorder, err = new(cassette.Recorder), mayRecord(f.record)
	}
	return err
}

// mayRecord refuses to write over what is no recording.
func mayRecord(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := cassette.Read(path); err != nil {
		return ui.Usagef("--record %s: there is such a file, and it is no recording: give another", path)
	}
	return nil
}

// inUse returns the recorder or the player that plugins are loaded with, nil for
// none.
func (f *cassetteFlags) inUse() runtime.Cassette {
	switch {
	case f.recorder != nil:
		return f.recorder
	case f.player != nil:
		return f.player
	}
	return nil
}

// grant grants what a recording has: nobody is asked, so there is nothing to
// protect.
func (f *cassetteFlags) grant(g *runtime.Grants) error {
	if f.player == nil {
		return nil
	}
	if f.player.Ops()[abi.OpModelComplete] {
		g.Model = true
	}
	for _, origin := range f.player.Origins() {
		if err := g.Grant(abi.CapHTTP, origin); err != nil {
			return ui.Usagef("--replay %s: %s", f.replay, abi.AsError(err).Message)
		}
	}
	return nil
}

// secrets stand for those that a replay does not need: they are what is written
// in their place anyway.
func (f *cassetteFlags) secrets(m *abi.Manifest) map[string]string {
	values := make(map[string]string)
	if f.player != nil {
		for _, name := range m.Secrets {
			values[name] = "[secret " + name + "]"
		}
	}
	return values
}

// finish writes what was recorded. Calls that were not in the recording that
// was replayed are an error, whatever the plugins made of it.
func (f *cassetteFlags) finish(e env) error {
	if f.recorder != nil {
		return f.write(e.err())
	}
	if f.player == nil {
		return nil
	}
	missed := f.player.Missed()
	if len(missed) == 0 {
		return nil
	}
	return &abi.Error{
		Code: abi.CodeNotRecorded, Op: "replay",
		Message: fmt.Sprintf("%s lacks %d of the calls that were made; the first is %s", f.replay, len(missed), missed[0]),
		Hint:    "record again with the same command (--record in place of --replay), or put the calls into the file",
	}
}
