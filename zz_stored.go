package kagewasm

import "github.com/kagewasm/kagewasm/abi"

// StoredMessage is a message with what became of it.
type StoredMessage struct {
	abi.Message
	// Superseded: the model does not see it any more.
	Superseded bool `json:"superseded,omitempty"`
	// By is the id of the compaction that took it away, "pruning" or
	// "rollback".
	By string `json:"superseded_by,omitempty"`
}
