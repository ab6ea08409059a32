package ui

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/toolname"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// A page lists so many messages; the next come as the reader gets there.
const messagesPerPage = 60

// A message is shown up to this length until the reader asks for all of it, and then up
// to maxWhole, in bytes.
const (
	maxShown = 700
	maxWhole = 256 << 10
)

// maxCounted is how long a message may be to be counted while a reader waits, in bytes.
const maxCounted = 64 << 10

// messageList is a page of a session's messages.
type messageList struct {
	Key      string
	Version  int
	Rows     []messageRow
	LiveOnly bool   // only what the model sees
	Next     string // the id that the next page stands behind, empty for none
	From     string // the id that the list begins with, where it is not the first
}

// messageRow is a message as a page shows it.
type messageRow struct {
	ID        string
	Role      string
	Kind      string
	Name      string // of the tool
	Time      string
	Text      string
	Calls     []callRow
	Parts     []string // what is no text: images, documents, thinking
	More      int      // bytes that are not shown
	Whole     bool
	Bytes     int
	Tokens    int
	Estimated bool
	Pinned    bool
	Failed    bool
	By        string // the compaction that took it away
	Unit      string // first, inner, last: its place in a unit of several
	Key       string
	Version   int
	// Mark says what became of it in a compaction: kept, gone, new.
	Mark string
}

// callRow is a call of a tool.
type callRow struct{ Name, Arguments string }

// ByCompaction reports whether a compaction took the message away, and there is a page of it.
func (m *messageRow) ByCompaction() bool {
	return m.By != "" && m.By != rolledBack && m.By != "pruning"
}

func (p sessionPages) messages(r *http.Request) (*view, error) {
	row, err := p.s.Session(r.Context(), r.PathValue("key"))
	if err != nil {
		return nil, err
	}
	list, err := p.listOf(r, row)
	return &view{template: "session.html", block: "rows", data: list}, err
}

// listOf is the page of messages that a request asks for.
func (p sessionPages) listOf(r *http.Request, row *store.Session) (*messageList, error) {
	q := r.URL.Query()
	l := &messageList{Key: row.Key, Version: row.Version, LiveOnly: q.Get("show") == "live", From: q.Get("from")}
	stored, err := p.s.Messages(r.Context(), row.Key, store.MessageQuery{Superseded: !l.LiveOnly, After: q.Get("after"),
		From: l.From, Limit: messagesPerPage + 1})
	if err != nil {
		return nil, err
	}
	if len(stored) > messagesPerPage {
		stored = stored[:messagesPerPage]
		l.Next = stored[len(stored)-1].ID
	}
	head := []session.StoredMessage{}
	if q.Get("after") != "" || l.From != "" {
		if head, err = p.s.Messages(r.Context(), row.Key, store.MessageQuery{Superseded: true,
			Limit: headLength}); err != nil {
			return nil, err
		}
	}
	agent, _ := p.s.Host().Agent(r.Context(), row.Agent, row.Model) // without one nothing is counted
	l.Rows = p.rows(stored, agent)
	for i, pinned := range pinsOf(head, stored, row, agent) {
		l.Rows[i].Pinned, l.Rows[i].Key, l.Rows[i].Version = pinned, row.Key, row.Version
	}
	return l, nil
}

// The task of a session stands among its first messages.
const headLength = 40

// pinsOf marks which messages of a page no compaction may take; head is how the session
// begins.
func pinsOf(head, list []session.StoredMessage, row *store.Session, agent *service.Agent) []bool {
	var all []abi.Message
	at := make(map[string]int)
	for _, m := range slices.Concat(head, list) {
		if _, known := at[m.ID]; !known {
			at[m.ID] = len(all)
			all = append(all, m.Message)
		}
	}
	var more []func(*abi.Message) bool
	if agent != nil {
		if policy, err := agent.Compactor.Policy(sessionOf(row)); err == nil {
			more = policy.Keep.Always
		}
	}
	pins := abi.Pinned(toolname.Fill(all), more...)
	marks := make([]bool, len(list))
	for i := range list {
		marks[i] = pins[at[list[i].ID]]
	}
	return marks
}

// rows are messages as a page shows them, with what each costs.
func (p sessionPages) rows(list []session.StoredMessage, agent *service.Agent) []messageRow {
	rows, msgs := make([]messageRow, len(list)), make([]abi.Message, len(list))
	for i := range list {
		msgs[i] = list[i].Message
		rows[i] = rowOf(&list[i], maxShown)
		rows[i].count(&msgs[i], agent)
	}
	units, of := abi.Units(msgs)
	for i := range rows {
		u := units[of[i]]
		switch {
		case len(u) < 2:
		case i == u[0]:
			rows[i].Unit = "first"
		case i == u[len(u)-1]:
			rows[i].Unit = "last"
		default:
			rows[i].Unit = "inner"
		}
	}
	return rows
}

func (m *messageRow) count(msg *abi.Message, agent *service.Agent) {
	if agent == nil || m.Bytes > maxCounted {
		m.Tokens, m.Estimated = m.Bytes/bytesPerToken, true
		return
	}
	m.Tokens = agent.Compactor.Options().Counter.Message(msg)
}

// rowOf is a message of which at most so many bytes are shown.
func rowOf(m *session.StoredMessage, most int) messageRow {
	row := messageRow{ID: m.ID, Role: string(m.Role), Kind: string(m.Kind), Name: m.Name, Time: m.Timestamp,
		Failed: m.IsError, By: m.By}
	said := m.Text()
	row.Bytes = len(said)
	row.Text = head(said, most)
	row.More = len(said) - len(row.Text)
	for _, part := range m.Content.Parts() {
		if part.Type != "text" {
			raw, _ := part.MarshalJSON()
			row.Bytes += len(raw)
			row.Parts = append(row.Parts, fmt.Sprintf("%s, %s", part.Type, size(len(raw))))
		}
	}
	for _, c := range m.ToolCalls {
		shown := head(c.Arguments, most)
		row.More += len(c.Arguments) - len(shown)
		row.Bytes += len(c.Arguments)
		row.Calls = append(row.Calls, callRow{c.Name, shown})
	}
	return row
}

// head is the beginning of a text, at most so many bytes and a dozen lines, cut where a
// character ends.
func head(s string, most int) string {
	if len(s) > most {
		s = s[:most]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		if r, n := utf8.DecodeLastRuneInString(s); r == utf8.RuneError && n == 1 {
			s = s[:len(s)-1]
		}
	}
	if most >= maxWhole {
		return s
	}
	lines := 0
	for i := range len(s) {
		if s[i] == '\n' {
			if lines++; lines == 12 {
				return s[:i]
			}
		}
	}
	return s
}

// message is one message, whole.
func (p sessionPages) message(r *http.Request) (*view, error) {
	key, id := r.PathValue("key"), r.PathValue("id")
	list, err := p.s.Messages(r.Context(), key, store.MessageQuery{Superseded: true, From: id, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0].ID != id {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "message", Message: "session " + key + " has no message " + id,
			Err: service.ErrUnknown}
	}
	row, err := p.s.Session(r.Context(), key)
	if err != nil {
		return nil, err
	}
	agent, _ := p.s.Host().Agent(r.Context(), row.Agent, row.Model)
	m := rowOf(&list[0], maxWhole)
	m.count(&list[0].Message, agent)
	m.Whole, m.Key, m.Version = true, key, row.Version
	m.Pinned = list[0].AlwaysKept()
	return &view{template: "message.html", block: part(r, "row"), title: "Message " + id, data: &m}, nil
}

// excerpt is the beginning of what a message says, in a line.
func excerpt(m *abi.Message) string {
	said := m.Text()
	for _, c := range m.ToolCalls {
		said += " " + c.Name + " " + c.Arguments
		if len(said) > 2*maxExcerpt {
			break
		}
	}
	return strings.Join(strings.Fields(head(said, 4*maxExcerpt)), " ")
}

// maxExcerpt is how long a line of a list is, in bytes; the page cuts it to its width.
const maxExcerpt = 160
