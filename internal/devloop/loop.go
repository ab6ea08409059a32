package devloop

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

// loop keeps what lasts from one round to the next.
type loop struct {
	opts   Options
	temp   string // the folder of modules; empty where the options name one
	rounds int
	corpus *survey.Corpus
	roots  []string // of the corpus

	// The plugin's folder, and the files and folders that sessions are looked
	// for in, as the watcher sees them: absolute, without links.
	dir     string
	sources []string
	// follow, where somebody watches, takes the folders of packages elsewhere
	// that the plugin is built of; followed says that it has those of the last
	// good module.
	follow   chan<- []string
	followed bool

	// The last good module, what it was built of, and whether something of it
	// changed since.
	plugin *runtime.Reloader
	built  *kit.Result
	info   runtime.Info
	stale  bool
	// good is the last round with a survey, described by the module it is of.
	good     *Round
	goodInfo runtime.Info
}

// start checks the options.
func start(ctx context.Context, o Options) (*loop, error) {
	o.Dir = cmp.Or(o.Dir, ".")
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return nil, usage(o.Dir+": not a folder", "name the folder of a plugin, with its plugin.yaml", err)
	}
	l := &loop{opts: o, stale: true, dir: resolved(o.Dir)}
	for _, path := range o.Sessions {
		if _, err := os.Stat(path); err != nil {
			return nil, usage(err.Error(), "name files and folders with sessions", err)
		}
		l.sources = append(l.sources, resolved(path))
	}
	if len(o.Sessions) == 0 {
		for _, name := range sessionFolders {
			l.sources = append(l.sources, filepath.Join(l.dir, name))
		}
	}
	if o.Out == "" {
		temp, err := os.MkdirTemp("", "kagewasm-dev-")
		if err != nil {
			return nil, &abi.Error{Code: abi.CodeInternal, Op: "dev", Message: err.Error(), Err: err}
		}
		l.temp, l.opts.Out = temp, temp
	}
	return l, canceled(ctx)
}

func (l *loop) end() {
	if l.plugin != nil {
		_ = l.plugin.Close(context.Background()) // no call is running
	}
	if l.temp != "" {
		_ = os.RemoveAll(l.temp) // of the system's temporary folder
	}
}

// round makes one round. Where ctx ends before it is made it is for nobody, and
// what was built stays for the next.
func (l *loop) round(ctx context.Context, changed []string) *Round {
	r := &Round{Number: l.rounds + 1, Changed: l.shown(changed)}
	l.stale = l.stale || slices.ContainsFunc(changed, func(path string) bool { return !l.isSession(path) })
	err := l.build(ctx, r)
	if err == nil {
		err = l.survey(ctx, r)
	}
	r.Error = abi.AsError(err)
	return r
}

// made takes a round for one that was made: the next is compared with it, where
// it has a survey.
func (l *loop) made(r *Round) {
	l.rounds++
	if r.Survey != nil {
		l.good, l.goodInfo = r, l.info
	}
}

// build builds and loads the plugin where it changed, and sees to it that what
// it is built of is watched.
func (l *loop) build(ctx context.Context, r *Round) error {
	if l.stale {
		if err := l.rebuild(ctx, r); err != nil {
			return err
		}
	}
	l.followPackages(ctx)
	return nil
}

// rebuild puts a new module in the place of the one before.
func (l *loop) rebuild(ctx context.Context, r *Round) error {
	begin := time.Now()
	defer func() { r.BuildMS = float64(time.Since(begin).Microseconds()) / 1000 }()
	l.step("building %s", l.opts.Dir)
	built, err := kit.Build(ctx, kit.Options{Dir: l.opts.Dir, Out: l.opts.Out})
	if err != nil {
		return err
	}
	plugin, err := l.opts.Load(ctx, built.Path)
	if err != nil {
		return err
	}
	if err := l.replace(plugin); err != nil {
		return err
	}
	l.built, l.info, l.stale, l.followed = &built, plugin.Info(), false, false
	return nil
}

// followPackages has changes watched for in what the plugin is built of. A round
// that is interrupted meanwhile leaves it to the next.
func (l *loop) followPackages(ctx context.Context) {
	if l.follow == nil || l.followed {
		return
	}
	folders := packages(ctx, l.dir)
	if ctx.Err() != nil {
		return // a listing that was broken off
	}
	select {
	case l.follow <- folders:
		l.followed = true
	case <-ctx.Done():
	}
}

// replace swaps the module, or starts over with one of another name or role.
func (l *loop) replace(next *runtime.Plugin) (err error) {
	if l.plugin != nil {
		if l.plugin.Swap(next) == nil {
			return nil
		}
		_ = l.plugin.Close(context.Background()) // no call is running
	}
	l.plugin, err = runtime.NewReloader(next)
	return err
}

func (l *loop) step(format string, args ...any) {
	if l.opts.Step != nil {
		l.opts.Step(fmt.Sprintf(format, args...))
	}
}
