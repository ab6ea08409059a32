package survey

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi/abitest"
)

// Samples are the sessions of the conformance kit: an ordinary one, and those
// with everything odd that real logs have. They are for plugins whose author
// has no sessions at hand.
func Samples() []*Session {
	var samples []*Session
	for name, msgs := range abitest.Sessions() {
		if len(msgs) < 2 {
			continue // nothing that could go
		}
		for i := range msgs {
			msgs[i].ID = fmt.Sprintf("m%04d", i)
		}
		samples = append(samples, &Session{Name: name, Messages: msgs})
	}
	return samples
}
