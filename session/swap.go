package session

import (
	"fmt"
	"slices"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Swap returns the list now with a compaction of an earlier state of it in place. base is the list that
// the compaction was made of, now the list as it is. Messages that arrived since stay after those that
// the compaction left. Where anything of base has changed the error has the code conflict: keep now,
// and compact again.
func Swap(result *kagewasm.Result, base, now []abi.Message) ([]abi.Message, error) {
	if result == nil {
		return nil, usage("swap", "no compaction to put in place")
	}
	if err := stillBegins(base, now); err != nil {
		return nil, err
	}
	taken := set.Of(lists.Map(result.Messages, func(m abi.Message) string { return m.ID })...)
	for _, m := range now[len(base):] {
		if taken[m.ID] {
			return nil, conflict("%q arrived, which is the id of a message that the compaction inserts", m.ID)
		}
	}
	return append(slices.Clip(result.Messages), now[len(base):]...), nil
}

// stillBegins returns an error where now no longer begins with base, which says what differs.
func stillBegins(base, now []abi.Message) error {
	if len(now) < len(base) {
		return conflict("%d messages, and there were %d", len(now), len(base))
	}
	for i := range base {
		if !base[i].Same(&now[i]) {
			return conflict("message %d, %q, is another one now", i, now[i].ID)
		}
	}
	return nil
}

func conflict(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeConflict, Op: "swap", Phase: abi.PhaseCommit,
		Message: "the session changed while it was compacted: " + fmt.Sprintf(format, args...),
		Hint:    "compact it again; the session is as it was"}
}
