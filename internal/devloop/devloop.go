package devloop

import (
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/runtime"
)

// Options of the loop.
type Options struct {
	// Dir is the plugin's folder. Default: the current one.
	Dir string
	// Out is the file or folder to write each module to. Default: a temporary
	// folder.
	Out string
	// Sessions are files and folders. Default: sessions and testdata in Dir,
	// where there are any in it; else [survey.Samples].
	Sessions []string
	// Load loads the module in a file, with the grants, knobs and limits it is
	// to be surveyed with, by a runtime whose storage is [survey.KV]. Required.
	Load func(ctx context.Context, path string) (*runtime.Plugin, error)
	// Survey says how to survey.
	Survey survey.Options
	// Step, where set, hears what is being done, in words.
	Step func(what string)
}

// sessionFolders are looked for in the plugin's folder.
var sessionFolders = []string{"sessions", "testdata"}

// Once makes one round. The error, of code usage or canceled, is about the
// options and the context; what is wrong with the plugin is in the round.
func Once(ctx context.Context, o Options) (*Round, error) {
	l, err := start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer l.end()
	r := l.round(ctx, nil)
	return r, canceled(ctx)
}

// Run makes a round, and another whenever something of the plugin, of packages
// beside it that it is built of, or of the sessions changed, until ctx ends,
// which is no error. A change that comes while a round is being made ends it,
// and the next one is about both. show is called with each round that was
// completed, in order, from one goroutine. The error, of code usage, is about
// the options.
func Run(ctx context.Context, o Options, show func(*Round)) error {
	l, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer l.end()
	folders, files := l.watched()
	w, err := watch(folders, files, l.wanted)
	if err != nil {
		return usage("watching: "+err.Error(),
			"see that the folders can be read; where there are too many, name those of the sessions one by one", err)
	}
	l.follow = w.more
	changes := make(chan []string)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go w.run(watching, changes)
	for changed := []string(nil); ; {
		r, more := l.interruptible(ctx, changed, changes)
		if more != nil {
			changed = merged(changed, more)
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		l.made(r)
		show(r)
		select {
		case changed = <-changes:
		case <-ctx.Done():
			return nil
		}
	}
}

// interruptible makes a round, or returns what changed before it was made.
func (l *loop) interruptible(ctx context.Context, changed []string, changes <-chan []string) (r *Round, more []string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan *Round)
	go func() { done <- l.round(ctx, changed) }()
	select {
	case r = <-done:
		return r, nil
	case more = <-changes:
		cancel()
		<-done
		return nil, more
	}
}

func merged(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func canceled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &abi.Error{Code: abi.CodeCanceled, Op: "dev", Message: err.Error(), Err: err}
	}
	return nil
}

// usage makes an error about what was asked for, with what to do about it.
func usage(message, hint string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "dev", Message: message, Hint: hint, Err: err}
}
