package server

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/sum"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

const (
	// maxDocument is how long the text of a document may be, in bytes: what a
	// model reads at once, and still remembers the beginning of.
	maxDocument = 24 << 10
	// maxItems and maxRequest bound one request, in documents and bytes.
	maxItems   = 16
	maxRequest = 256 << 10
)

// requests makes requests of memories, in their order.
func (b *Bank) requests(list []bank.Memory) (out []retainRequest) {
	size := 0
	for _, it := range b.documents(list) {
		if n := len(out); n == 0 || len(out[n-1].Items) == maxItems || size+len(it.Content) > maxRequest || b.FullSession {
			out, size = append(out, retainRequest{Async: true}), 0
		}
		last := &out[len(out)-1]
		last.Items = append(last.Items, it)
		size += len(it.Content)
	}
	for i := range out {
		out[i].OperationID = b.operationID(out[i].Items)
	}
	return out
}

// documents makes documents of memories, as many as fit into each.
func (b *Bank) documents(list []bank.Memory) (items []item) {
	head := ""
	if lines := transcript(b.Overlap(list[0].ID)); lines != "" && !b.FullSession {
		head = "Before that:\n" + tail(lines, maxDocument/4) + "\n\nThen:\n"
	}
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && (n == 0 || size+len(line(&list[n])) <= maxDocument) {
			size += len(line(&list[n]))
			n++
		}
		items = append(items, b.document(list[:n], head))
		list, head = list[n:], ""
	}
	return items
}

func (b *Bank) document(list []bank.Memory, head string) item {
	first, last := &list[0], &list[len(list)-1]
	text := transcript(list)
	it := item{
		Content: head + text, Timestamp: first.Time, Context: b.Context, Tags: first.Tags,
		Metadata:   map[string]string{metaSession: b.Session, metaFirst: first.ID, metaLast: last.ID},
		DocumentID: b.session() + ":" + digest(text), UpdateMode: updateReplace,
	}
	if b.FullSession {
		it.Content, it.DocumentID, it.UpdateMode = text+"\n", b.session(), updateAppend
	}
	alone := !slices.ContainsFunc(list, func(m bank.Memory) bool { return m.Author != first.Author })
	if alone && head == "" {
		it.Metadata[metaAuthor] = first.Author
	}
	return it
}

// session names the session among those of all agents, who share a bank.
func (b *Bank) session() string {
	if b.Agent == "" {
		return b.Session
	}
	return b.Agent + "/" + b.Session
}

// transcript is memories as a server reads them: a line says who spoke, when,
// and in which message.
func transcript(list []bank.Memory) string {
	lines := lists.Map(list, func(m bank.Memory) string { return line(&m) })
	return strings.Join(lines, "\n")
}

func line(m *bank.Memory) string {
	return fmt.Sprintf("[%s, %s, %s] %s", m.Time, m.Author, m.ID, m.Text)
}

// tail is the last lines of a text, in about n bytes.
func tail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	_, rest, _ := strings.Cut(text[len(text)-n:], "\n")
	return strings.ToValidUTF8(rest, "")
}

// operationID is a UUID that follows from what is retained: the same work has
// the same id.
func (b *Bank) operationID(items []item) string {
	parts := []string{b.ID}
	for _, it := range items {
		parts = append(parts, "\x00", it.DocumentID, "\x00", it.Content)
	}
	id := sum.Of(parts...)
	id[6] = id[6]&0x0f | 0x80 // version 8: made by whoever uses it
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// digest tells texts apart.
func digest(texts ...string) string {
	whole := sum.Of(strings.Join(texts, "\x00"))
	return hex.EncodeToString(whole[:8])
}
