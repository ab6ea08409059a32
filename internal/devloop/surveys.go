package devloop

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/internal/plugindiff"
	"github.com/kagewasm/kagewasm/internal/survey"
)

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
	r.SurveyMS = float64(time.Since(begin).Microseconds()) / 1000
	r.Plugin, r.Withheld, r.Survey = l.built, plugindiff.Withheld(l.info), s
	if l.good != nil {
		r.Change = survey.Compare(l.good.Survey, s)
		if l.good.Plugin.Digest != l.built.Digest {
			r.Update = plugindiff.Compare(l.goodInfo, l.info)
		}
	}
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
