// Package plug puts kagewasm into the agents that people use, and takes it out again.
//
// An [Agent] says what its files are to be, as a [Plan]: files that are ours alone, and our part of files that are the
// user's. [Install.Steps] compares that with what is there, [Install.Apply] writes it and keeps what was there before.
// [Uninstall] gives every file back: byte for byte where nobody changed it since, and without our part where somebody
// did.
package plug

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/internal/lazy"
)

// Agent is a program that kagewasm compacts for.
type Agent struct {
	// Name is what a person types, Title what the program is called.
	Name, Title string
	// Program is the command that starts it, Get how a person gets it.
	Program, Get string
	// Plan says what its files are to be.
	Plan func(s Setup) (Plan, error)
	// Served says that its plug asks the server before the command.
	Served bool
	// Try has the real program compact a session through the plug that is installed; nil where that needs a model.
	Try func(ctx context.Context, a Agent, s Setup) error
	// Hook says whether the real program runs the hook of the plug; nil where it asks nobody whether it may.
	Hook func(ctx context.Context, s Setup) string
}

// Agents are all agents that kagewasm knows.
func Agents() []Agent { return []Agent{claudeCode, codex, openCode, pi, openClaw, hermes} }

// Setup is what a plan is made for.
type Setup struct {
	// Home is the user's home folder, Getenv their environment.
	Home   string
	Getenv func(string) string
	// Version of the program that is installed; empty where none is.
	Version string
	// Folder is where plugs keep what they keep.
	Folder string
	Calls
}

// Calls are how a plug calls kagewasm: the path of the command, the flags of every call, those of a compaction, and the
// server that does it faster.
type Calls struct {
	Kagewasm string   `json:"program"`
	State    []string `json:"state"`
	Policy   []string `json:"policy"`
	// Socket is where the server listens, empty where it has none.
	Socket string `json:"socket,omitempty"`
	// Version is the build of kagewasm that says so.
	Version string `json:"version,omitempty"`
	// Listen is where a proxy answers, empty for the agent's own default.
	Listen string `json:"listen,omitempty"`
	// Shrink is the characters over which results of tools are shortened before the model sees them; 0 for none.
	Shrink int `json:"shrink,omitempty"`
}

// Plan is what the files of an agent are to be.
type Plan struct {
	Files []File
	Edits []Edit
	// Former are files and edits for other versions of the agent: where they are found they go.
	Former struct {
		Files []File
		Edits []Edit
	}
	// Rivals are what else compacts for the agent, and would be replaced.
	Rivals []string
	// Adds says that the agent goes on summarizing, and that kagewasm adds a note to that.
	Adds bool
	// Next is what the user has to do before it takes effect; empty for nothing.
	Next string
	// Trust is what the user has to do in the agent before it runs a hook of ours; empty for nothing.
	Trust string
	// Keeps is the address at which a proxy has to answer before the edits are made: without it the agent would have no
	// provider. Empty for none.
	Keeps string
	// Start are commands that do that for the user once the files are there, Stop what ends it before they go.
	Start, Stop [][]string
}

// File is a file that is ours alone.
type File struct {
	Path string
	Data []byte
	// Settings are the user's to change once they are written: they are not written over.
	Settings bool
	// folder is the folder that is ours in which the file lies; empty for none.
	folder string
}

// ours reports whether what stands in the place of the file is ours, of whatever version: each file of ours names us.
func (f File) ours(now []byte) bool {
	return now != nil && !f.Settings && (bytes.Equal(now, f.Data) || bytes.Contains(now, []byte("kagewasm")))
}

// Edit is our part of a file that is the user's. Put returns the file with it; nil is no file. Take returns the file as
// it is now without it: what the file before it held too is the user's, and stays.
type Edit struct {
	Path string
	Put  func(was []byte) ([]byte, error)
	Take func(now, before []byte) ([]byte, error)
	// Has reports whether our part is in a file, of whatever version: by what it says, however it is written. A file that
	// cannot be read has it where it names us.
	Has func(now []byte) bool
	// Same, where set, reports whether a file has our part as another one does, which Put wrote: others may have come
	// behind it.
	Same func(now, will []byte) bool
}

// without is a file without our part. It is an error where some of that would stay.
func (e Edit) without(now, before []byte) ([]byte, error) {
	left, err := e.Take(now, before)
	if err == nil && left != nil && e.Has(left) {
		err = errors.New("what names kagewasm in it is not written as kagewasm writes it, and has to be taken out by hand")
	}
	if err != nil {
		return nil, refused(e.Path, err.Error(), "fix it", err)
	}
	return left, nil
}

// edit is the edit of a file; nil for none.
func (p *Plan) edit(path string) *Edit {
	for _, edits := range [][]Edit{p.Edits, p.Former.Edits} {
		for i := range edits {
			if edits[i].Path == path {
				return &edits[i]
			}
		}
	}
	return nil
}

// Version asks a program for its version. It is empty where the program is not installed or does not say.
func Version(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").CombinedOutput() // pi says it on standard error
	if err != nil {
		return ""
	}
	return cmp.Or(version().FindString(string(out)), shortVersion().FindString(string(out)))
}

// Older reports whether a version is before another.
func Older(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range min(len(a), len(b)) {
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}

// A version has three numbers, or two where a program says no such one: hermes 1.0.
var (
	version      = lazy.Regexp(`\d+\.\d+\.\d+`)
	shortVersion = lazy.Regexp(`\d+\.\d+`)
)
