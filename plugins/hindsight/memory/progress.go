package memory

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// progress is what was retained of a session already, kept from call to call.
type progress struct {
	Session string `json:"session"`
	// Turns that ended since the last time anything was retained.
	Turns int `json:"turns"`
	// Sent are the marks of what was retained, markSize bytes each, oldest
	// first.
	Sent string `json:"sent"`

	sent map[string]bool
}

const (
	markSize = 8
	// maxMarks bounds what is kept of one session. What is forgotten is
	// retained again if it still stands there, which changes nothing: a bank
	// knows what it has.
	maxMarks = 50_000
)

// mark tells memories of a session apart by who said what: ids change where
// a session without ids of its own was compacted and written.
func mark(author, text string) string {
	sum := sha256.Sum256([]byte(author + "\x00" + text))
	return base64.RawURLEncoding.EncodeToString(sum[:markSize*3/4])
}

func (p *pass) progressKey() string {
	return "progress/" + p.set.backend + "/" + p.set.key() + "/" + keyOf(p.in.Session.ID) + ".json"
}

func (p *pass) loadProgress() (*progress, error) {
	pr := &progress{Session: p.in.Session.ID, sent: make(map[string]bool)}
	doc, found, err := p.KV().Get(p.progressKey())
	if err != nil {
		return nil, err
	}
	// One that cannot be read is one that is not there.
	if found && json.Unmarshal([]byte(doc), pr) != nil {
		*pr = progress{Session: p.in.Session.ID, sent: pr.sent}
	}
	for i := 0; i+markSize <= len(pr.Sent); i += markSize {
		pr.sent[pr.Sent[i:i+markSize]] = true
	}
	return pr, nil
}

func (p *pass) saveProgress(pr *progress) error {
	if over := len(pr.Sent) - maxMarks*markSize; over > 0 {
		pr.Sent = pr.Sent[over:]
	}
	doc, _ := json.Marshal(pr) // texts and a number
	return p.KV().Set(p.progressKey(), string(doc))
}

// fresh are the memories that were not retained yet, the oldest first and of most
// bytes at most, and how many are left.
func (pr *progress) fresh(list []bank.Memory, most int) (out []bank.Memory, left int) {
	var sent strings.Builder
	sent.WriteString(pr.Sent)
	for _, m := range list {
		k := mark(m.Author, m.Text)
		if pr.sent[k] {
			continue
		}
		if most -= len(m.Text); most < 0 && len(out) > 0 {
			left++
			continue
		}
		pr.sent[k] = true
		sent.WriteString(k)
		out = append(out, m)
	}
	pr.Sent = sent.String()
	return out, left
}
