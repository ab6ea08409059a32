package dev

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/kit/survey"
	"github.com/kagewasm/kagewasm/kit/update"
	"github.com/kagewasm/kagewasm/runtime"
)

// loop is what is kept from one round to the next.
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
	// that the plugin is built of.
	follow chan<- []string

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
	if o.Dir == "" {
		o.Dir = "."
	}
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return nil, usage(fmt.Sprintf("%s: not a folder", o.Dir), "name the folder of a plugin, with its plugin.yaml", err)
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

// resolved is the path without links, absolute.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	return path
}

// folders are those to watch.
func (l *loop) folders() []string {
	list := []string{l.dir}
	if len(l.opts.Sessions) == 0 {
		return list
	}
	for _, path := range l.sources {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		list = append(list, path)
	}
	return list
}

func (l *loop) end() {
	if l.plugin != nil {
		_ = l.plugin.Close(context.Background()) // no call is running
	}
	if l.temp != "" {
		_ = os.RemoveAll(l.temp) // of the system's temporary folder
	}
}

// round makes one round. What was reached before ctx ended stays for the next.
func (l *loop) round(ctx context.Context, changed []string) *Round {
	r := &Round{Number: l.rounds + 1, Changed: l.shown(changed)}
	l.stale = l.stale || slices.ContainsFunc(changed, func(path string) bool { return !l.isSession(path) })
	err := l.build(ctx, r)
	if err == nil {
		err = l.survey(ctx, r)
	}
	if ctx.Err() == nil {
		l.rounds++
		r.Error = abi.AsError(err)
	}
	return r
}

// shown are paths as they are told: those of the plugin from its folder on.
func (l *loop) shown(paths []string) []string {
	list := slices.Clone(paths)
	for i, path := range list {
		if rel := below(l.dir, path); rel != "" {
			list[i] = filepath.ToSlash(rel)
		}
	}
	return list
}

// build builds and loads the plugin where it changed, and puts it in the place
// of the one before.
func (l *loop) build(ctx context.Context, r *Round) error {
	if !l.stale {
		return nil
	}
	begin := time.Now()
	defer func() { r.BuildMS = since(begin) }()
	l.step("building %s", l.opts.Dir)
	built, err := kit.Build(ctx, kit.Options{Dir: l.opts.Dir, Out: l.opts.Out})
	if err != nil {
		return err
	}
	plugin, err := l.opts.Load(ctx, built.Path)
	if err != nil {
		return err
	}
	l.replace(plugin)
	l.followPackages(ctx)
	l.built, l.info, l.stale = &built, plugin.Info(), false
	return nil
}

// followPackages has changes watched for in what the plugin is built of.
func (l *loop) followPackages(ctx context.Context) {
	if l.follow == nil {
		return
	}
	folders := packages(ctx, l.dir)
	select {
	case l.follow <- folders:
	case <-ctx.Done():
	}
}

// replace swaps the module, or starts over with one of another name or role.
func (l *loop) replace(next *runtime.Plugin) {
	if l.plugin != nil {
		if l.plugin.Swap(next) == nil {
			return
		}
		_ = l.plugin.Close(context.Background()) // no call is running
	}
	l.plugin = runtime.NewReloader(next)
}

// survey surveys the sessions there are, and compares.
func (l *loop) survey(ctx context.Context, r *Round) error {
	sessions, err := l.sessions(r)
	if err != nil {
		return err
	}
	begin := time.Now()
	l.step("surveying %d sessions", len(sessions))
	s, err := survey.Run(ctx, l.plugin, sessions, l.opts.Survey)
	if err != nil {
		return err
	}
	r.SurveyMS = since(begin)
	r.Plugin, r.Withheld, r.Survey = l.built, update.Withheld(l.info), s
	if l.good != nil {
		r.Change = survey.Compare(l.good.Survey, s)
		if l.good.Plugin.Digest != l.built.Digest {
			r.Update = update.Compare(l.goodInfo, l.info)
		}
	}
	l.good, l.goodInfo = r, l.info
	return nil
}

// sessions reads those that are new or changed.
func (l *loop) sessions(r *Round) ([]*survey.Session, error) {
	roots := l.opts.Sessions
	if len(roots) == 0 {
		roots = l.own()
	}
	if l.corpus == nil || !slices.Equal(roots, l.roots) {
		l.corpus, l.roots = survey.NewCorpus(roots...), roots
	}
	sessions, skipped, err := l.corpus.Sessions()
	if len(l.opts.Sessions) > 0 {
		r.Skipped = skipped // in the plugin's own folders lie other fixtures too
		if err == nil && len(sessions) == 0 {
			err = usage("no sessions in "+strings.Join(roots, ", "), "name files and folders with sessions", nil)
		}
		return sessions, err
	}
	if r.Samples = err == nil && len(sessions) == 0; r.Samples {
		sessions = survey.Samples()
	}
	return sessions, err
}

// own are the folders with sessions that the plugin has itself.
func (l *loop) own() (folders []string) {
	for _, name := range sessionFolders {
		path := filepath.Join(l.opts.Dir, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			folders = append(folders, path)
		}
	}
	return folders
}

func (l *loop) step(format string, args ...any) {
	if l.opts.Step != nil {
		l.opts.Step(fmt.Sprintf(format, args...))
	}
}

func since(begin time.Time) float64 { return float64(time.Since(begin).Microseconds()) / 1000 }
