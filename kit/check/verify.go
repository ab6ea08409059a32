package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/kit/cassette"
	"github.com/kagewasm/kagewasm/runtime"
)

// VerifyOptions say how the module is run, and what is checked.
type VerifyOptions struct {
	// Runtime configures the host. Its KV is replaced by one in memory. Where
	// CacheDir is empty a temporary folder is used: the module is loaded many
	// times.
	Runtime runtime.Options
	// Plugin says how the module is loaded: grants, limits, knobs, cassette. Where the
	// cassette replays, one rule more is checked: that every call was recorded.
	Plugin runtime.PluginOptions
	// Rules are the names of the rules to check. Empty: all. The rule about
	// recorded calls is always checked.
	Rules []string
	// Progress, if set, hears of every rule before it is checked.
	Progress func(rule string)
}

// Outcome says how a rule ended.
type Outcome string

const (
	Kept    Outcome = "kept"
	Broken  Outcome = "broken"
	Skipped Outcome = "skipped"
)

// Result is the outcome of one rule.
type Result struct {
	Rule        string  `json:"rule"`
	Outcome     Outcome `json:"outcome"`
	MS          float64 `json:"ms"`
	Explanation string  `json:"explanation"`
	// Skipped says why the rule was not checked.
	Skipped string `json:"skipped,omitempty"`
	// Broken says how, with the input, and Fix what to do. Code and Hint are
	// those of the call that failed, where one did; Same is the first rule that
	// was broken by the same failure.
	Broken string   `json:"broken,omitempty"`
	Code   abi.Code `json:"code,omitempty"`
	Hint   string   `json:"hint,omitempty"`
	Fix    string   `json:"fix,omitempty"`
	Same   string   `json:"same,omitempty"`
}

// Verdict is the report on a module.
type Verdict struct {
	Plugin  string   `json:"plugin"`
	Version string   `json:"version,omitempty"`
	Digest  string   `json:"digest"`
	Size    int      `json:"size"`
	Engine  string   `json:"engine"`
	MS      float64  `json:"ms"`
	Kept    int      `json:"kept"`
	Broken  int      `json:"broken"`
	Skipped int      `json:"skipped"`
	Rules   []Result `json:"rules"`
	// Findings break no rule.
	Findings []Finding `json:"findings"`
	// Usage is the most that any call used.
	Usage []Usage `json:"usage"`
}

// Verify checks a module, which runtime.OpenFile reads. The error is of a module
// that cannot be loaded, of a rule that does not exist (code usage), or of ctx; a
// broken rule is none.
func Verify(ctx context.Context, m *runtime.Module, o VerifyOptions) (*Verdict, error) {
	start := time.Now()
	if o.Runtime.CacheDir == "" {
		dir, err := os.MkdirTemp("", "kagewasm-verify-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		o.Runtime.CacheDir = dir
	}
	s, err := newSubject(ctx, m, o)
	if err != nil {
		return nil, err
	}
	defer s.close(context.WithoutCancel(ctx))
	rules, err := chosen(s.rules(), o.Rules)
	if err != nil {
		return nil, err
	}
	r := &Verdict{Plugin: s.info.Name, Version: s.info.Version, Digest: s.info.Digest, Size: s.info.Size,
		Engine: s.info.Engine, Rules: []Result{}}
	for _, rule := range rules {
		if o.Progress != nil {
			o.Progress(rule.Name)
		}
		if r.timeouts() >= maxTimeouts && rule.Skip == "" {
			rule.Skip = "the calls of other rules took longer than they may"
		}
		r.add(s.judge(ctx, rule))
		if err := ctx.Err(); err != nil {
			return nil, &abi.Error{Code: abi.CodeCanceled, Op: "verify", Plugin: r.Plugin, Message: "the caller gave up",
				Err: err}
		}
	}
	r.untried(&s.meter)
	r.Usage = s.meter.list()
	r.Findings = s.findings(len(o.Rules) == 0)
	r.MS = float64(time.Since(start).Microseconds()) / 1000
	return r, nil
}

// After maxTimeouts rules that met a deadline the rest is skipped: the plugin does
// not end.
const maxTimeouts = 3

// timeouts counts the rules that were broken by calls that took too long.
func (r *Verdict) timeouts() (n int) {
	for i := range r.Rules {
		if r.Rules[i].Code == abi.CodeDeadline {
			n++
		}
	}
	return n
}

// Rules about what an answer says, and about the list of messages in it. A plugin that answers nothing, or never with a
// list, cannot break them.
var (
	aboutAnswers = []string{"valid text", "within budget", "known pins", "only its role", "reason to cancel"}
	aboutLists   = []string{"known ids", "nothing forged", "pinned kept", "units whole", "order kept",
		"superseded complete", "smaller", "within target"}
)

// untried takes back what is said of rules that no answer could break.
func (r *Verdict) untried(m *meter) {
	for i := range r.Rules {
		rule, why := &r.Rules[i], ""
		switch {
		case !m.answered && slices.Contains(slices.Concat(aboutAnswers, aboutLists), rule.Rule):
			why = "not tried: the plugin answered nothing"
		case !m.listed && slices.Contains(aboutLists, rule.Rule):
			why = "not tried: no answer had a list of messages"
		}
		if why != "" && rule.Outcome == Kept {
			rule.Outcome, rule.Skipped = Skipped, why
			r.Kept, r.Skipped = r.Kept-1, r.Skipped+1
		}
	}
}

func (r *Verdict) add(result Result) {
	switch result.Outcome {
	case Kept:
		r.Kept++
	case Broken:
		r.Broken++
	case Skipped:
		r.Skipped++
	}
	r.Rules = append(r.Rules, result)
}

// chosen are the rules of these names, all without one, and what the verdict
// rests on whatever is checked.
func chosen(rules []abitest.Rule, names []string) ([]abitest.Rule, error) {
	if len(names) == 0 {
		return rules, nil
	}
	var list []abitest.Rule
	var all []string
	for _, r := range rules {
		all = append(all, r.Name)
		if slices.Contains(names, r.Name) || r.Name == recordedCalls {
			list = append(list, r)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, &abi.Error{Code: abi.CodeUsage, Op: "verify", Message: fmt.Sprintf("no rule %q", name),
				Hint: "the rules are: " + strings.Join(all, ", ")}
		}
	}
	return list, nil
}

// judge checks one rule.
func (s *subject) judge(ctx context.Context, rule abitest.Rule) Result {
	r := Result{Rule: rule.Name, Outcome: Kept, Explanation: rule.Explanation}
	if rule.Skip != "" {
		r.Outcome, r.Skipped = Skipped, rule.Skip
		return r
	}
	s.meter.rule = rule.Name
	start := time.Now()
	err := rule.Check(ctx)
	r.MS = float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		r.Outcome, r.Broken, r.Fix = Broken, abi.Defuse(err.Error()), rule.Fix
		if e, ok := errors.AsType[*abi.Error](err); ok {
			r.Code, r.Hint = e.Code, abi.Defuse(cmp.Or(e.Hint, s.meter.refusal))
			r.Same = s.sameFailure(rule.Name, e)
		}
	}
	return r
}

// sameFailure is the first rule that was broken by this failure, or empty.
func (s *subject) sameFailure(rule string, e *abi.Error) string {
	line, _, _ := strings.Cut(e.Message, "\n") // a stack has addresses in it
	failure := string(e.Code) + " " + line
	if first, known := s.failures[failure]; known {
		return first
	}
	s.failures[failure] = rule
	return ""
}

// rules are all rules over the module, the kit's first.
func (s *subject) rules() []abitest.Rule {
	rules := slices.Concat(abitest.Rules(s.manifest, s), s.documentRules(), s.stateRules(), s.growthRules())
	if player, ok := s.opts.Plugin.Cassette.(*cassette.Player); ok {
		rules = append(rules, recorded(player))
	}
	return rules
}

// recordedCalls is the name of the rule about a cassette that replays.
const recordedCalls = "recorded calls"

func recorded(player *cassette.Player) abitest.Rule {
	return abitest.Rule{
		Name: recordedCalls,
		Explanation: "where host calls are replayed a call that was not recorded is answered by an error, and what was " +
			"verified is how the plugin handles that",
		Fix: "record again with the same command: --record in place of --replay",
		Check: func(context.Context) error {
			missed := player.Missed()
			if len(missed) == 0 {
				return nil
			}
			return fmt.Errorf("%d calls are not in the recording, the first is %s", len(missed), missed[0])
		},
	}
}
