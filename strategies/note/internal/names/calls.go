package names

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// call ranks the names in a tool call's arguments, and remembers what it does
// until its result is met.
func (b *builder) call(c *abi.ToolCall) {
	if b.nameless {
		b.calls[c.ID] = b.harness.Does(c)
		return
	}
	b.acting = true
	defer func() { b.acting = false }()
	b.tool(c.Name)
	b.calls[c.ID] = b.harness.Does(c)
	for _, arg := range b.harness.Arguments(c) {
		key, value := arg.Key, arg.Value
		b.parameter(c.Name, key)
		switch {
		case toolcall.IsCommandKey(key) && toolcall.IsEditorVerb(value):
		case toolcall.IsPathKey(key):
			b.subject(value, mentioned)
		case lineKeys[key] && isLines(value):
			b.text(value, code, weightCall, readBy(b.calls[c.ID]))
		default:
			b.text(value, readingOf(key, value), weightCall, "")
		}
	}
}

// changedBy are the files that calls are to change, for what is read of them before as well.
func changedBy(msgs []abi.Message, harness outcome.Harness, goOn func() bool) map[string]bool {
	changed := make(map[string]bool)
	for i := range msgs {
		if !goOn() {
			break
		}
		for k := range msgs[i].ToolCalls {
			for _, f := range harness.Does(&msgs[i].ToolCalls[k]).Files {
				if f.Use != action.Read {
					changed[f.Path] = true
				}
			}
		}
	}
	return changed
}

// outputWorthOf is what a name is worth in the output of a call beside one in any output.
func outputWorthOf(a *action.Action, changed map[string]bool) float64 {
	if slices.ContainsFunc(a.Files, func(f action.File) bool { return f.Use == action.Read && changed[f.Path] }) {
		return changedWorth
	}
	return 1
}

// subject ranks the file that a call is about.
func (b *builder) subject(file string, u use) { used(b, file, weightCall, u) }

// used ranks a file that something is done to.
func used(b *builder, file string, weight float64, u use) {
	b.found.words.scanPath(file, func(name string, c class) {
		if c == path {
			b.mention(name, c, weight, u)
			b.items[name].given = true
		} else {
			b.mention(name, c, weight, mentioned)
		}
	})
}

// result ranks the names in a tool's output and notes what the call did, and whether
// it failed.
func (b *builder) result(m *abi.Message, text string) {
	a := b.calls[m.ToolCallID]
	if a == nil {
		a = &action.Action{}
	}
	delete(b.calls, m.ToolCallID)
	b.output(text, outputWorthOf(a, b.changing), searched(a))
	a.Answered(text)
	b.patches.Take(a, text)
	o := b.harness.Of(m, a)
	if o.Dropped {
		return
	}
	if o.Passed {
		a.Made()
	}
	if a.Script != "" && !b.nameless && !outcome.Rejected(text) {
		b.run(a.Script)
	}
	b.done(a, text, o)
	if o.Passed {
		changed(b.failures, a, func(*Failure) bool { return true })
	}
	switch {
	case o.Failed:
		b.failed(a.Script)
		b.failure(a, m, text, o)
	case a.Script != "" && o.Passed:
		b.worked(a, text)
	}
}

// done notes what a call did to its files, as far as its result says that it did.
func (b *builder) done(a *action.Action, text string, o outcome.Outcome) {
	if b.nameless {
		return
	}
	for i := range a.Files {
		switch f := &a.Files[i]; {
		case b.pruned != "": // the call stays, and tells it
		case f.Use != action.Read && changes(a, text, o), f.Use == action.Deleted && !o.Failed:
			b.change(f, isNew(a, f) && !seen(b.items[escaped(f.Path)])) // what was not there to be deleted is gone as well
		case f.Use != action.Read || o.Failed || o.Told || a.Searches():
		case a.Script != "":
			doneTo(b, f.Path, weightCall, read)
		default: // a tool may show a folder
			b.subject(f.Path, read)
		}
	}
	if b.pruned == "" && outcome.Broke(text, o) {
		for _, f := range a.Before(text, outcome.FailsCheck(text)) {
			b.change(&f, false)
		}
	}
	for i := range a.Steps {
		if !o.Failed {
			b.made(a.Steps[i].Makes)
		}
		for _, pattern := range a.Steps[i].Removes {
			if !o.Failed {
				b.removed = append(b.removed, removal{pattern, b.at, o.Passed})
			}
		}
	}
}

// changes reports whether a call changed its files as far as its result tells. Few harnesses say how a command ended,
// and one that writes says nothing where it did: where nothing tells of a failure the files count.
func changes(a *action.Action, text string, o outcome.Outcome) bool {
	return o.Passed || a.Script != "" && !o.Failed && !o.Told && !o.Stopped && !outcome.Rejected(text)
}

// made notes folders that were made: those that were deleted before are there again.
func (b *builder) made(folders []string) {
	for _, folder := range folders {
		for _, it := range b.modified {
			if it.facts.deleted && (it.name == folder || action.Within(folder, it.name)) {
				it.facts.merge(facts{at: b.at, again: true})
			}
		}
	}
}

// removal is a pattern by which files were deleted, and the message that did it.
type removal struct {
	pattern string
	at      int
	sure    bool // it is known that it did
}

// remove notes which of the files that were changed were deleted by patterns. What was written later is there again.
func (b *builder) remove(items []*item, root string) {
	for _, r := range b.removed {
		for _, it := range items {
			holds := it.use == modified && it.facts.at <= r.at && action.Matches(r.pattern, it.name, root)
			switch may := it.use == modified && it.facts.at <= r.at && action.MayMatch(r.pattern, it.name, root); {
			case holds && r.sure:
				it.facts.merge(facts{at: r.at, deleted: true})
			case holds || may:
				it.facts.merge(facts{at: r.at, perhaps: true})
			}
		}
	}
}

// isNew reports whether a call made a file that was not there before, by its patch or as the result of a tool does not
// say that it was. A shell says nothing of what it writes over.
func isNew(a *action.Action, f *action.File) bool { return f.New || a.Script == "" && !f.Over }

// seen reports whether a file was read or changed before: one that is written then is no new one.
func seen(it *item) bool { return it != nil && it.use != mentioned }

// change notes a change to a file, which may be new.
func (b *builder) change(f *action.File, created bool) {
	it := b.file(f.Path)
	if it == nil {
		return
	}
	ch := facts{at: b.at, lines: f.Lines()}
	switch f.Use {
	case action.Created:
		ch.created, ch.written = created, !created
	case action.Edited:
		ch.edits = 1
	case action.Deleted:
		ch.deleted = true
		for _, below := range b.modified {
			if action.Within(below.name, it.name) {
				below.facts.merge(ch)
			}
		}
	case action.Moved:
		ch.moved = f.To
		replaces := seen(b.items[escaped(f.To)]) // a file that was there, or is deleted for it
		if to := b.file(f.To); to != nil {
			was := it.facts
			was.created, was.written = was.created && !replaces, was.written || was.created && replaces
			was.at, was.moved, was.deleted = b.at, "", false
			if from := fileName(f.Path); from != fileName(f.To) && !strings.ContainsAny(from, "(), ") {
				was.was = from
			}
			to.facts = was // what stood there is no more
		}
	}
	it.facts.merge(ch)
}

// fileName is a path without its folders.
func fileName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// file is the item of a file that is changed, nil where its name is none to keep. One
// that was changed by its absolute path keeps it.
func (b *builder) file(name string) *item {
	var it *item
	if !strings.HasPrefix(name, "/") {
		for _, other := range b.modified {
			if other.name[0] == '/' && action.Same(other.name, name) && (it == nil || other.name < it.name) {
				it = other
			}
		}
	}
	if it != nil {
		b.mention(it.name, it.class, weightCall, modified)
		return it
	}
	return doneTo(b, name, weightCall, modified)
}

// doneTo is the item of a file that something is done to, nil where its name is none to keep. It may be one word:
// "stamp".
func doneTo(b *builder, name string, weight float64, u use) (it *item) {
	used(b, name, weight, u)
	b.found.words.scanPath(name, func(found string, c class) {
		if c == path {
			it = b.items[found]
		}
	})
	if it == nil && name != "" && len(name) <= maxName && !strings.ContainsFunc(name, notInPaths) {
		it = b.mention(escaped(name), path, weight, u)
		it.given = true
	}
	return it
}
