package abi

import "context"

// Search finds what has to do with a query among the messages of a session that
// compactions superseded, for a plugin that is granted [CapMessagesSearch].
type Search func(context.Context, SearchRequest) (SearchResponse, error)

// SearchRequest is the request of messages.search.
type SearchRequest struct {
	// Query is what to look for: words and exact names, [MaxSearchQuery] bytes at most.
	Query string `json:"query"`
	// Limit is how many results to return. Default 5, at most [MaxSearchLimit].
	Limit int `json:"limit,omitempty"`
}

// The bounds of a search.
const (
	MaxSearchQuery = 2000
	MaxSearchLimit = 20
)

// SearchResponse holds what was found, best first. Nothing is found where the host keeps
// nothing of what was superseded.
type SearchResponse struct {
	Found []Recalled `json:"found"`
}

// Recalled is a unit that was found: a call with its results, or any other
// message alone (see [Units]).
type Recalled struct {
	// Score is comparable within one search.
	Score float64 `json:"score"`
	// Pieces are excerpts of the unit, in order.
	Pieces []Excerpt `json:"pieces"`
}

// Excerpt is a part of a message, with where it is from.
type Excerpt struct {
	// Message is the id of the message. Role, Kind and Timestamp are its own.
	Message   string `json:"message"`
	Role      Role   `json:"role"`
	Kind      Kind   `json:"kind,omitempty"`
	Timestamp string `json:"timestamp,omitempty"`
	// Compaction is the id of what superseded it.
	Compaction string `json:"compaction,omitempty"`
	// Tool is the tool's name, for a call and for its result.
	Tool string `json:"tool,omitempty"`
	// Call says that Text is from the arguments of a call.
	Call bool `json:"call,omitempty"`
	// Text is a part of the message's text, byte for byte. Start and End say
	// where it stands there, in bytes, of Length.
	Text   string `json:"text"`
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Length int    `json:"length"`
}
