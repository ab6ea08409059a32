package server

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// maxFollowed is how many operations are looked at in one call.
const maxFollowed = 4

// operations are what the server works on since an answer.
func (r *retainResponse) operations() []string {
	if len(r.OperationIDs) == 0 && r.OperationID != "" {
		return []string{r.OperationID}
	}
	return r.OperationIDs
}

// follow looks what became of the oldest of some operations.
func (b *Bank) follow(list []string) {
	for _, id := range list[:min(len(list), maxFollowed)] {
		var op operationResponse
		err := b.do("GET", "/operations/"+segment(id), nil, &op)
		switch {
		case b.down != nil, abi.CodeOf(err) == abi.CodeQuota:
			return
		case err != nil:
			b.Warn("operation %s: %v", id, err)
		case op.Status == statusFailed || op.Status == statusCancelled:
			why := clip.Line(op.ErrorMessage, 200)
			b.Lost("operation %s %s: what it was to retain is not in the bank: %s", id, op.Status, why)
		case op.Status != statusCompleted && op.Status != statusNotFound:
			b.note(func(s *state) { s.goesOn(id) })
			continue
		}
		b.note(func(s *state) { s.ended([]string{id}) })
	}
}
