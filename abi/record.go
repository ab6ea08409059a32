package abi

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/plainjson"
)

// Record is a compaction done, or one that failed. The host
// stores it, and gives it to post_compact hooks.
type Record struct {
	// ID is unique within a session. It is derived from what the record says and from the
	// time to the nanosecond: a compaction that is undone and made again is another one.
	ID string `json:"id"`
	// Time is when the compaction ran, RFC 3339.
	Time string `json:"time"`
	// Success is whether messages were superseded, or would be, of a dry run. Where it is false the session is as
	// it was before.
	Success bool `json:"success"`
	// DryRun marks a record of what would have been done.
	DryRun bool `json:"dry_run,omitempty"`
	// Trigger is why it ran.
	Trigger TriggerReason `json:"trigger"`
	// Instructions are what whoever asked for it wanted kept in view, without secrets.
	Instructions string `json:"instructions,omitempty"`
	// Strategy made the plan that was applied: a strategy's name, or
	// "delegate" where a plugin's message list or summary was.
	Strategy string `json:"strategy"`
	// Source is who exactly.
	Source Source `json:"source"`
	// ReasonCode says how it ended; see [ReasonCode].
	ReasonCode ReasonCode `json:"reason_code"`

	TokensBefore   int `json:"tokens_before"`
	TokensAfter    int `json:"tokens_after"`
	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`

	// Superseded and Inserted are message ids, in session order.
	Superseded []string `json:"superseded"`
	Inserted   []string `json:"inserted"`
	// FirstKept is the id of the first message that stays behind the summary, empty where none
	// does.
	FirstKept string `json:"first_kept,omitempty"`
	// Edited are messages that stayed with shorter tool output or arguments.
	Edited []string `json:"edited,omitempty"`
	// Summary is the text of the inserted summary, without its frame.
	Summary string `json:"summary,omitempty"`
	// AuditSummary is the summary that a compactor plugin returned beside a list of
	// messages, for people to read. No model is shown it.
	AuditSummary string `json:"audit_summary,omitempty"`
	// Files are those that were read and modified in what is superseded, by the
	// tool calls in it and by earlier records of the session.
	Files *Files `json:"files,omitempty"`
	// Model wrote the summary; empty where none was asked.
	Model string `json:"model,omitempty"`
	// Receipt weighs what it cost against what it saves; nil where nothing was
	// superseded.
	Receipt *Receipt `json:"receipt,omitempty"`
	// Failures is everything that went wrong on the way, in order.
	Failures []*Error `json:"failures,omitempty"`

	// Flag and Notes are the operator's judgement: "good", "bad", "neutral"
	// or empty, and free text.
	Flag  string `json:"flag,omitempty"`
	Notes string `json:"notes,omitempty"`
}

// Files are paths, sorted: those that were read, and those that were modified, which are created, changed, moved or
// deleted.
type Files struct {
	Read     []string `json:"read"`
	Modified []string `json:"modified"`
	// Deleted are those of Modified that are not there any more.
	Deleted []string `json:"deleted,omitempty"`
}

// Merged returns the files with one name each. A relative name is dropped where
// exactly one whole path ends in it. What was modified is not listed as read.
func (f Files) Merged() Files {
	whole := make(map[string]string) // by what a path ends in; "" where two do
	for _, list := range [][]string{f.Read, f.Modified, f.Deleted} {
		for _, name := range list {
			if name = path.Clean(name); !path.IsAbs(name) {
				continue
			}
			for end := name[1:]; end != ""; {
				if other, taken := whole[end]; taken && other != name {
					whole[end] = ""
				} else {
					whole[end] = name
				}
				_, end, _ = strings.Cut(end, "/")
			}
		}
	}
	named := func(list []string, but []string) (out []string) {
		for _, name := range list {
			clean := path.Clean(name)
			if known := whole[clean]; known != "" && !path.IsAbs(clean) {
				clean = known
			}
			if !slices.Contains(out, clean) && !slices.Contains(but, clean) {
				out = append(out, clean)
			}
		}
		slices.Sort(out)
		return out
	}
	modified := named(f.Modified, nil)
	return Files{Read: named(f.Read, modified), Modified: modified, Deleted: named(f.Deleted, nil)}
}

// MarshalJSON writes the lists as lists even where they are nil.
func (f Files) MarshalJSON() ([]byte, error) {
	type plain Files
	f.Read, f.Modified = notNil(f.Read), notNil(f.Modified)
	return plainjson.Marshal(plain(f))
}

// MarshalJSON writes the id lists as lists even where they are nil.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	r.Superseded, r.Inserted = notNil(r.Superseded), notNil(r.Inserted)
	return plainjson.Marshal(plain(r))
}

// notNil is the list that JSON writes as [] where Go has nil: a guest in
// another language expects a list where the schema says so.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ReasonCode says how a compaction, or the decision not to compact, ended.
// Codes are only ever added.
type ReasonCode string

const (
	// ReasonCompacted: done, and the target is met.
	ReasonCompacted ReasonCode = "compacted"
	// ReasonBelowThreshold: nothing to do yet.
	ReasonBelowThreshold ReasonCode = "below_threshold"
	// ReasonDisabled: automatic compaction is switched off.
	ReasonDisabled ReasonCode = "disabled"
	// ReasonNothingToSupersede: over the threshold, and no plan made the
	// session smaller.
	ReasonNothingToSupersede ReasonCode = "nothing_to_supersede"
	// ReasonPinnedExceedTarget: done as far as it goes; what is pinned and
	// the summary do not fit the target.
	ReasonPinnedExceedTarget ReasonCode = "pinned_exceed_target"
	// ReasonCurrentTurnExceedsTarget: done as far as it goes; the pinned
	// messages fit, with the current turn they do not.
	ReasonCurrentTurnExceedsTarget ReasonCode = "current_turn_exceeds_target"
	// ReasonCommitFailed: the plan was good and could not be stored.
	ReasonCommitFailed ReasonCode = "commit_failed"
	// ReasonFailed: everybody who was to make a plan failed, and the floor is
	// switched off. The session is as it was.
	ReasonFailed ReasonCode = "failed"
	// ReasonCancelled: the caller gave up before anything was done.
	ReasonCancelled ReasonCode = "cancelled"
	// ReasonCancelledByPlugin: an observer with compaction.summary asked not to
	// compact now.
	ReasonCancelledByPlugin ReasonCode = "cancelled_by_plugin"
	// ReasonPending: a plan is made and waits for the operator.
	ReasonPending ReasonCode = "compaction_pending"
	// ReasonRejected: the operator did not want the plan.
	ReasonRejected ReasonCode = "rejected"
	// ReasonPruneOnly: nobody could compact, so only pruning was done.
	ReasonPruneOnly ReasonCode = "prune_only"
	// ReasonNotWorthIt: it would take too long to earn back its cost.
	ReasonNotWorthIt ReasonCode = "not_worth_it"
)
