package memory

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unsafe"

	"github.com/kagewasm/kagewasm/internal/sum"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// progress is what was retained of a session already, kept from call to call.
type progress struct {
	Session string `json:"session"`
	// Turns that ended since the last time anything was retained.
	Turns int `json:"turns"`
	// Marks are those of what was retained, markSize bytes each, oldest first: see
	// [bank.Memory.Mark]. Sent are those of an earlier version, which still count.
	Marks string `json:"marks"`
	Sent  string `json:"sent,omitempty"`

	known map[string]bool // of either
}

const (
	markSize = 8
	// maxMarks bounds what is kept of one session. What is forgotten is
	// retained again if it still stands there, which changes nothing: a bank
	// knows what it has.
	maxMarks = 50_000
)

// retained reports whether a memory was retained, by who said what: ids change where a
// session without ids of its own was compacted and written.
func (pr *progress) retained(m *bank.Memory) bool {
	return pr.known[m.Mark()] || pr.Sent != "" && pr.known[earlierMark(m)]
}

// earlierMark is the mark of a memory as an earlier version made it.
func earlierMark(m *bank.Memory) string {
	whole := sum.Of(m.Author, "\x00", m.Text)
	return base64.RawURLEncoding.EncodeToString(whole[:markSize*3/4])
}

func (p *pass) progressKey() string {
	return "progress/" + p.set.backend + "/" + p.set.key() + "/" + keyOf(p.in.Session.ID) + ".json"
}

func (p *pass) loadProgress() (*progress, error) {
	pr := &progress{Session: p.in.Session.ID, known: make(map[string]bool)}
	doc, found, err := p.KV().Get(p.progressKey())
	if err != nil {
		return nil, err
	}
	// One that cannot be read is one that is not there.
	if found && json.Unmarshal([]byte(doc), pr) != nil {
		*pr = progress{Session: p.in.Session.ID, known: pr.known}
	}
	for _, marks := range [...]string{pr.Marks, pr.Sent} {
		for ; len(marks) >= markSize; marks = marks[markSize:] {
			pr.known[marks[:markSize]] = true
		}
	}
	return pr, nil
}

func (p *pass) saveProgress(pr *progress) error {
	if over := len(pr.Marks) - maxMarks*markSize; over > 0 {
		pr.Marks = pr.Marks[over:]
	}
	doc, _ := json.Marshal(pr) // texts and a number
	return p.KV().Set(p.progressKey(), string(doc))
}

// fresh are the memories that were not retained yet, the oldest first and of most
// bytes at most, and how many are left.
func (pr *progress) fresh(list []bank.Memory, most int) (out []bank.Memory, left int) {
	var marks strings.Builder
	marks.WriteString(pr.Marks)
	again := make(map[said]bool, len(list))
	for _, m := range list {
		said := saidBy(&m)
		if again[said] || pr.retained(&m) {
			again[said] = true
			continue
		}
		if most -= len(m.Text); most < 0 && len(out) > 0 {
			left++
			continue
		}
		pr.known[m.Mark()], again[said] = true, true
		marks.WriteString(m.Mark())
		out = append(out, m) // with its hash, of which the mark was made
	}
	pr.Marks = marks.String()
	return out, left
}

// said tells memories apart, without a look at their texts: what a session repeats is one string, see [pass.read].
// A mark takes longer.
type said struct {
	author string
	text   *byte
	size   int
}

func saidBy(m *bank.Memory) said { return said{m.Author, unsafe.StringData(m.Text), len(m.Text)} }
