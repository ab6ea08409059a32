package server

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// retainRequest is the body of POST /memories.
type retainRequest struct {
	Items       []item `json:"items"`
	Async       bool   `json:"async"`
	OperationID string `json:"operation_id"`
}

// item is a document, or what is added to one.
type item struct {
	Content    string            `json:"content"`
	Timestamp  string            `json:"timestamp,omitempty"`
	Context    string            `json:"context,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	DocumentID string            `json:"document_id"`
	Tags       []string          `json:"tags,omitempty"`
	UpdateMode string            `json:"update_mode"`
}

// What becomes of a document that is there already.
const (
	updateReplace = "replace"
	updateAppend  = "append"
)

type retainResponse struct {
	OperationID  string   `json:"operation_id"`
	OperationIDs []string `json:"operation_ids"`
}

// recallRequest is the body of POST /memories/recall.
type recallRequest struct {
	Query          string          `json:"query"`
	Types          []string        `json:"types,omitempty"`
	Budget         string          `json:"budget"`
	MaxTokens      int             `json:"max_tokens"`
	QueryTimestamp string          `json:"query_timestamp,omitempty"`
	Tags           []string        `json:"tags,omitempty"`
	TagsMatch      string          `json:"tags_match"`
	Include        json.RawMessage `json:"include"`
}

// includeNothing leaves out what comes beside the memories unasked.
var includeNothing = json.RawMessage(`{"entities":null}`)

type recallResponse struct {
	Results []result `json:"results"`
}

type result struct {
	Text          string            `json:"text"`
	Type          string            `json:"type"`
	OccurredStart string            `json:"occurred_start"`
	MentionedAt   string            `json:"mentioned_at"`
	DocumentID    string            `json:"document_id"`
	Metadata      map[string]string `json:"metadata"`
	Tags          []string          `json:"tags"`
	Scores        *struct {
		Final float64 `json:"final"`
	} `json:"scores"`
}

// Keys of what documents say about themselves, and a memory made of one says
// about where it is from.
const (
	metaSession = "session"
	metaAuthor  = "author"
	metaFirst   = "first_message"
	metaLast    = "last_message"
)

// between stands between the first and the last message of a document.
const between = "…"

// First is the first message of a memory of this package, whose id names
// several where the document was made of several.
func First(id string) string {
	first, _, _ := strings.Cut(id, between)
	return first
}

func (r *result) hit() bank.Hit {
	m := bank.Memory{
		ID: r.Metadata[metaFirst], Session: cmp.Or(r.Metadata[metaSession], r.DocumentID), Author: r.Metadata[metaAuthor],
		Time: cmp.Or(r.OccurredStart, r.MentionedAt), Type: r.Type, Tags: r.Tags, Text: r.Text,
	}
	if last := r.Metadata[metaLast]; last != m.ID {
		m.ID += between + last
	}
	hit := bank.Hit{Memory: m}
	if r.Scores != nil {
		hit.Score = r.Scores.Final
	}
	return hit
}

// bankRequest is the body of PUT of a bank.
type bankRequest struct {
	ReflectMission string `json:"reflect_mission,omitempty"`
	RetainMission  string `json:"retain_mission,omitempty"`
}

type versionResponse struct {
	APIVersion string `json:"api_version"`
}

type operationResponse struct {
	Status       string `json:"status"`
	ErrorMessage string `json:"error_message"`
}

// Ends of an operation. A pending one, and one that is being worked on, goes
// on.
const (
	statusCompleted = "completed"
	statusFailed    = "failed"
	statusCancelled = "cancelled"
	statusNotFound  = "not_found"
)
