package main

import (
	"slices"
	"strconv"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/near"
)

// What a way can begin with, beside the strategies.
const (
	wayNone       = "none"
	wayPrune      = "prune"
	wayConfigured = "configured"
)

// defaultWays are compared where no way is given. They ask no model and load no plugin.
var defaultWays = []string{wayPrune, kagewasm.StrategyDrop}

// way is one way to compact that is replayed, as it was typed.
type way struct {
	name    string
	base    string // a strategy, or one of the names above
	begun   bool   // base was typed
	model   string
	window  int
	plugins []string
	knobs   []string
	sets    []string
}

// wayKey is what a way can say: the names of the flags of compact. Settings have names with a dot.
type wayKey struct {
	name string
	take func(w *way, value string) error
}

func wayKeys() []wayKey {
	return []wayKey{
		{"strategy", func(w *way, value string) error { return w.begin(value) }},
		{"plugin", func(w *way, value string) error { w.plugins = append(w.plugins, value); return nil }},
		{"knob", func(w *way, value string) error { w.knobs = append(w.knobs, value); return nil }},
		{"model", func(w *way, value string) error { w.model = value; return nil }},
		{"window", func(w *way, value string) (err error) {
			if w.window, err = strconv.Atoi(value); err != nil || w.window <= 0 {
				return ui.Usagef("window=%s: give the context window in tokens", value)
			}
			return nil
		}},
		{"upper", func(w *way, value string) error { return w.threshold("upper", value) }},
		{"lower", func(w *way, value string) error { return w.threshold("lower", value) }},
	}
}

func wayKeyNames() (names []string) {
	for _, k := range wayKeys() {
		names = append(names, k.name)
	}
	return names
}

// wayNames are what a way can begin with.
func wayNames() []string { return append(kagewasm.Strategies(), wayPrune, wayConfigured, wayNone) }

// readWay reads a way: NAME, KEY=VALUE, and more of the latter behind commas.
func readWay(text string) (*way, error) {
	w := &way{name: text, base: kagewasm.StrategyDrop}
	for i, part := range strings.Split(text, ",") {
		key, value, pair := strings.Cut(part, "=")
		var err error
		switch {
		case !pair && i == 0:
			err = w.begin(part)
		case !pair:
			err = ui.Usagef("%q: write KEY=VALUE behind the name; a value with a comma cannot stand here: --set and --knob "+
				"take it, for all ways", part)
		case value == "":
			err = ui.Usagef("%s has no value", part)
		case strings.Contains(key, "."):
			w.sets = append(w.sets, part)
		default:
			err = w.take(key, value)
		}
		if err != nil {
			return nil, ui.Usagef("--with %s: %w", text, err)
		}
	}
	if w.base == wayNone && len(w.plugins)+len(w.knobs)+len(w.sets) > 0 {
		return nil, ui.Usagef("--with %s: none compacts nothing, and takes no more than model and window: give the rest to "+
			"another way, such as drop", text)
	}
	return w, nil
}

func (w *way) take(key, value string) error {
	keys := wayKeys()
	if i := slices.IndexFunc(keys, func(k wayKey) bool { return k.name == key }); i >= 0 {
		return keys[i].take(w, value)
	}
	if meant := near.To(key, wayKeyNames(), 1); meant != nil {
		return ui.Usagef("no key %q: did you mean %s?", key, meant[0])
	}
	return ui.Usagef("no key %q: use %s, or the full name of a setting, such as compaction.prune.off", key,
		strings.Join(wayKeyNames(), ", "))
}

// begin takes the name that a way begins with.
func (w *way) begin(name string) error {
	if !slices.Contains(wayNames(), name) {
		if meant := near.To(name, wayNames(), 1); meant != nil {
			return ui.Usagef("no way %q: did you mean %s?", name, meant[0])
		}
		return ui.Usagef("no way %q: known are %s", name, strings.Join(wayNames(), ", "))
	}
	if w.begun {
		return ui.Usagef("%s beside %s: a way has one name: give each a --with of its own", name, w.base)
	}
	w.base, w.begun = name, true
	return nil
}

// threshold sets a share of the window; what else could say when to compact is not used then, as in compact.
func (w *way) threshold(name, value string) error {
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || !(share > 0 && share <= 1) {
		return ui.Usagef("%s=%s: give a fraction of the window, over 0 and at most 1", name, value)
	}
	w.sets = append(w.sets, "compaction."+name+"_threshold="+value)
	for _, other := range []string{"compaction.max_tokens=0", "compaction.reserve_tokens=0"} {
		if !slices.Contains(w.sets, other) {
			w.sets = append(w.sets, other)
		}
	}
	return nil
}

// settings are those that a way makes of its name, and then what it says itself. A model writes summaries
// where the name says so, and nowhere else: nobody pays for a comparison by surprise.
func (w *way) settings() []string {
	var of []string
	switch w.base {
	case wayConfigured, wayNone: // to none they mean nothing
	case wayPrune:
		of = []string{"compaction.strategy=drop", "compaction.summarize=off", "compaction.no_floor=true"}
	case kagewasm.StrategySummarize:
		of = []string{"compaction.strategy=summarize", "compaction.summarize.off=false"}
	default:
		of = []string{"compaction.strategy=" + w.base, "compaction.summarize=off"}
	}
	return append(of, w.sets...)
}

// readWays reads all ways; the first is that nothing is compacted.
func readWays(texts []string) ([]*way, error) {
	if len(texts) == 0 {
		texts = defaultWays
	}
	ways := []*way{{name: wayNone, base: wayNone}}
	for _, text := range texts {
		if text == wayNone {
			continue
		}
		if slices.ContainsFunc(ways, func(w *way) bool { return w.name == text }) {
			return nil, ui.Usagef("--with %s: it is given twice", text)
		}
		w, err := readWay(text)
		if err != nil {
			return nil, err
		}
		ways = append(ways, w)
	}
	return ways, nil
}
