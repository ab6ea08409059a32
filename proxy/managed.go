package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/sealmark"
	"github.com/kagewasm/kagewasm/transcript"
)

// Clients may ask their provider to compact by itself: context_management of the Responses
// API and of Messages. It is done here, for any provider, and what the client asked for is
// taken out of the request. Other edits of its context stay the provider's to make.

const (
	managedField = "context_management"
	compactEdit  = "compact_20260112"
	compactBeta  = "compact-2026-01-12"
)

// managed is what a client wants done by itself.
type managed struct {
	at           int // tokens of a request
	pause        bool
	instructions string
}

// Where a client does not say, a provider compacts at these sizes.
const (
	defaultManaged = 150_000
	leastManaged   = 1000
)

// manages finds out whether a client wants its provider to compact, and takes that out of the
// request.
func (w *wire) manages(d *document) (*managed, *document) {
	field := d.fields[managedField]
	if !field.ok() || w != &anthropic && w != &responses {
		return nil, d
	}
	var edit struct {
		Type      string
		Threshold int `json:"compact_threshold"`
		Trigger   struct {
			Value int
		}
		Pause        bool `json:"pause_after_compaction"`
		Instructions string
	}
	list, wanted := field, "compaction"
	if w == &anthropic {
		if d.doc[field.start] != '{' {
			return nil, d
		}
		fields, _ := d.object(field)
		list, wanted = fields["edits"], compactEdit
	}
	var rest [][]byte
	found := false
	for _, at := range d.elements(list) {
		if d.itemType(at) == wanted && json.Unmarshal(at.of(d.doc), &edit) == nil {
			found = true
			continue
		}
		rest = append(rest, at.of(d.doc))
	}
	if !found {
		return nil, d
	}
	data := d.without(managedField)
	if len(rest) > 0 {
		data = slices.Concat(d.doc[:list.start+1], bytes.Join(rest, []byte{','}), d.doc[list.end-1:])
	}
	m := &managed{at: max(edit.Threshold, edit.Trigger.Value), pause: edit.Pause, instructions: edit.Instructions}
	m.at = max(cmp.Or(m.at, defaultManaged), leastManaged)
	if out := w.read(data); out != nil {
		return m, out
	}
	return nil, d
}

// unbeta takes a feature out of the list of those that a request uses.
func unbeta(h http.Header, feature string) {
	var left []string
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" && name != feature {
				left = append(left, name)
			}
		}
	}
	h.Del("Anthropic-Beta")
	if len(left) > 0 {
		h.Set("Anthropic-Beta", strings.Join(left, ","))
	}
}

// manage compacts where the client wants that by now, and makes what its answer says of it.
func (e *exchange) manage(ctx context.Context) error {
	if !(extent{e}).reaches(e.managed.at) {
		return nil
	}
	changed, err := e.look(ctx, look{reason: abi.TriggerThreshold, asked: true, instructions: e.managed.instructions})
	if err != nil || !changed {
		return err
	}
	e.inject = &injection{wire: e.wire}
	if e.wire == &anthropic {
		if e.inject.item, err = e.noteBlock(); err == nil && e.managed.pause {
			e.how, e.item = askedPause, e.inject.item
		}
		return err
	}
	e.inject.item, err = e.sealed(e.wire.read(e.plan.apply(e.doc)))
	return err
}

// noteBlock is the compaction block of Messages: its text is the note, which people may read,
// and at its end what tells it from a block that somebody else wrote.
func (e *exchange) noteBlock() ([]byte, error) {
	note := e.note
	tag, err := e.p.sealer.seal(&sealed{Session: e.plan.session, Record: e.plan.record,
		Covers: [][]byte{cover([]byte(note))}})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{"type": "compaction", "content": note + "\n\n" + tag})
}

// noted is a compaction block of ours in a request: where it stands, and what it says.
type noted struct {
	element int
	note    string
	session string
	record  string
}

// noted finds the last block of ours.
func (p *Proxy) noted(w *wire, d *document) (found *noted) {
	if w != &anthropic || !bytes.Contains(d.doc, []byte(sealmark.Prefix)) {
		return nil
	}
	for i, at := range d.els {
		for _, block := range d.elements(d.content(at)) {
			if d.itemType(block) != "compaction" {
				continue
			}
			note, tag, tagged := cutLast(d.member(block, "content"), "\n\n"+sealmark.Prefix)
			if !tagged {
				continue
			}
			s := p.sealer.open(sealmark.Prefix+tag, 1<<16)
			if s != nil && len(s.Covers) == 1 && bytes.Equal(s.Covers[0], cover([]byte(note))) {
				found = &noted{element: i, note: note, session: s.Session, record: s.Record}
			}
		}
	}
	return found
}

// content is the content of an element where it is a list.
func (d *document) content(at span) (list span) {
	if d.doc[at.start] == '{' {
		d.members(at, func(key, value span) {
			if string(key.of(d.doc)) == `"content"` && d.doc[value.start] == '[' {
				list = value
			}
		})
	}
	return list
}

// withoutBlocks is the body without the compaction blocks up to ours: the last one counts alone, and no provider is to
// see an earlier one that stays in view. Where before is set it stands for all the client has before that.
func (w *wire) withoutBlocks(d *document, n *noted, before [][]byte) *document {
	els, from := before, n.element
	if before == nil {
		from = 0
	}
	for _, at := range d.els[from : n.element+1] {
		if bare := d.withoutBlock(at); bare != nil {
			els = append(els, bare)
		}
	}
	return w.read(d.withList(append(els, d.textsOf(d.els[n.element+1:])...)))
}

// withoutBlock is an element without its compaction blocks, nil where nothing else is in it.
func (d *document) withoutBlock(at span) []byte {
	list := d.content(at)
	blocks := d.elements(list)
	rest := lists.Filter(blocks, func(b span) bool { return d.itemType(b) != "compaction" })
	switch len(rest) {
	case len(blocks):
		return at.of(d.doc)
	case 0:
		return nil
	}
	return slices.Concat(d.doc[at.start:list.start+1], bytes.Join(d.textsOf(rest), []byte{','}),
		d.doc[list.end-1:at.end])
}

// before is what stands for all that was before a block, where the client does not have that
// any more: the conversation as it is stored, else what the block says.
func (e archive) before(ctx context.Context) [][]byte {
	if list := e.left(ctx, e.noted.session, e.noted.record); len(list) > 0 {
		neutral := &transcript.Session{Format: transcript.Neutral}
		if data, err := neutral.Encode(list, e.wire.format); err == nil {
			if d := e.wire.read(data); d != nil {
				return d.textsOf(d.els)
			}
		}
	}
	text, _ := json.Marshal(e.noted.note) // a text can always be written
	return [][]byte{slices.Concat([]byte(`{"role":"user","content":`), text, []byte("}"))}
}
