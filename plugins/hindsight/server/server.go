// Package server keeps memories in a Hindsight server, over version 0.9 of its
// HTTP API: https://hindsight.vectorize.io/developer/api.
//
// [Bank.Retain] makes documents of memories and puts them into a queue in the
// plugin's storage; [Bank.Deliver] sends what waits there, oldest first. The
// server works on a document after it has answered, under an operation id that
// follows from what the document says: one that is sent again, because its
// answer was lost, is worked on once. Documents leave the queue when the server
// has taken them, or will never take them; a later call looks what became of
// them, and what failed is a line in the log.
//
// A guest has no clock and cannot wait. A server that does not answer, or asks
// to be left alone (429, 503, Retry-After), is not asked again in the call; the
// time until which it is left alone is stored, and compared with the host's.
package server

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// KV is what the queue is kept in; guest.KV is one.
type KV interface {
	bank.KV
	// Update stores what change makes of the value under key, "" where there is
	// none, without losing what others store at the same time.
	Update(key string, change func(value string) string) error
}

// Options of a [Bank]. All are required but for those that say so.
type Options struct {
	URL     string // of the server: http://localhost:8888
	ID      string // of the bank
	Timeout time.Duration

	// BankMission and RetainMission are told to the server once; empty for its
	// own.
	BankMission, RetainMission string

	Effort    string // of recall: low, mid or high
	TagsMatch string // any, all, any_strict or all_strict
	MaxTokens int    // of what is recalled

	Agent   string // whose memories they are; empty for the only one
	Session string // that they are of
	Context string // where they are from, for the server
	// FullSession makes one document of the session, which grows.
	FullSession bool
	// Overlap returns what was said right before the message of that id.
	Overlap func(id string) []bank.Memory

	KV     KV
	Prefix string // of all keys; ends in "/"
	Now    string // RFC 3339
	DryRun bool   // store and send nothing

	HTTP func(abi.HTTPRequest) (*abi.HTTPResponse, error)
	Warn func(format string, args ...any)
	// Lost is Warn for what will not be in the bank.
	Lost func(format string, args ...any)
}

// Bank is a bank of a server, for one call.
type Bank struct {
	Options
	now time.Time
	// state as this call knows it, and what it changed in it.
	state   state
	changes []func(*state)
	// down is why the server is not asked again in this call.
	down error
}

// Open reads what was stored about the bank. It asks the server nothing.
func Open(o Options) *Bank {
	b := &Bank{Options: o}
	if now, err := time.Parse(time.RFC3339, o.Now); err == nil {
		b.now = now
	}
	b.loadState()
	return b
}

// Retain queues memories. The error is of the storage.
func (b *Bank) Retain(list []bank.Memory) (added int, err error) {
	if b.DryRun || len(list) == 0 {
		return 0, nil
	}
	for _, r := range b.requests(list) {
		if err := b.queue().add(r); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// Recall asks the server. The limit, the types, the tags and Skip of the query
// hold as for [bank.Bank].
func (b *Bank) Recall(q bank.Query) ([]bank.Hit, error) {
	req := recallRequest{
		Query: q.Text, Types: q.Types, Budget: b.Effort, MaxTokens: b.MaxTokens, QueryTimestamp: q.Time,
		Tags: q.Tags, TagsMatch: b.TagsMatch, Include: includeNothing,
	}
	var resp recallResponse
	if err := b.do("POST", "/memories/recall", req, &resp); err != nil {
		return nil, err
	}
	var hits []bank.Hit
	for i := range resp.Results {
		hit := resp.Results[i].hit()
		if hit.Text == "" || q.Skip != nil && q.Skip(&hit.Memory) {
			continue
		}
		if hits = append(hits, hit); q.Limit > 0 && len(hits) == q.Limit {
			break
		}
	}
	return hits, nil
}

// Deliver sends what waits, looks what became of what was sent before, and
// stores what later calls have to know.
func (b *Bank) Deliver() {
	if b.DryRun {
		return
	}
	keys, err := b.queue().keys()
	if err != nil {
		b.Warn("what waits to be sent cannot be read: %v", err)
	}
	if before := slices.Clone(b.state.Operations); len(keys) > 0 || len(before) > 0 {
		b.greet()
		b.send(keys)
		b.follow(before)
	}
	b.saveState()
}

// greet tells a server that is new to us about the bank, where there is
// something to tell, and looks at its version.
func (b *Bank) greet() {
	about := digest(b.ID, b.BankMission, b.RetainMission)
	if b.state.Greeted == about || b.down != nil {
		return
	}
	var v versionResponse
	if err := b.call("GET", "/version", nil, &v); err != nil {
		b.Warn("its version: %v", err)
	} else if !atLeast(v.APIVersion, minMajor, minMinor) {
		b.Warn("version %q: this plugin is made for %d.%d", clip.Line(v.APIVersion, 40), minMajor, minMinor)
	}
	if b.down == nil && b.BankMission+b.RetainMission != "" {
		missions := bankRequest{ReflectMission: b.BankMission, RetainMission: b.RetainMission}
		if err := b.do("PUT", "", missions, nil); err != nil {
			b.Warn("the missions of the bank: %v", err)
		}
	}
	if b.down == nil {
		b.note(func(s *state) { s.Greeted = about })
	}
}

// The first version with what is used here.
const minMajor, minMinor = 0, 9

// atLeast reports whether a version is that one or a later one.
func atLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	a, err := strconv.Atoi(strings.TrimSpace(first))
	b, errMinor := strconv.Atoi(rest[:clip.Digits(rest)])
	return err == nil && errMinor == nil && (a > major || a == major && b >= minor)
}
