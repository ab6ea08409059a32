package api

import (
	"context"
	"net/http"

	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/session"
)

type restoredOut struct {
	ETag string `header:"ETag"`
	Body *service.Restored
}

func restoredOf(r *service.Restored, err error) (*restoredOut, error) {
	if err != nil {
		return nil, err
	}
	return &restoredOut{etag(r.Version), r}, nil
}

type Changing struct {
	BySession
	Matching
}

// history are the operations that undo, and those that look at what went.
func (a *api) history() {
	const tag = "history"
	add(a, op{id: "undo", method: http.MethodPost, path: "/sessions/{session}/undo", tag: tag,
		summary: "Take the last compaction back, and what came later with it", errors: []int{404, 412, 422}},
		func(ctx context.Context, in *Changing) (*restoredOut, error) {
			version, err := in.version()
			if err != nil {
				return nil, err
			}
			return restoredOf(a.s.Undo(ctx, in.Session, version))
		})
	add(a, op{id: "redo", method: http.MethodPost, path: "/sessions/{session}/redo", tag: tag,
		summary: "Take the last undo or rollback back, where nothing came after it", errors: []int{404, 412, 422}},
		func(ctx context.Context, in *Changing) (*restoredOut, error) {
			version, err := in.version()
			if err != nil {
				return nil, err
			}
			return restoredOf(a.s.Redo(ctx, in.Session, version))
		})
	add(a, op{id: "rollback", method: http.MethodPost, path: "/sessions/{session}/rollback", tag: tag,
		summary: "Go back to where a message had just arrived, or to a version", errors: []int{404, 412, 422},
		text: "Give to_message or to_version. Compactions that came later are undone: what they superseded is back, byte " +
			"for byte."},
		func(ctx context.Context, in *struct {
			Changing
			Body struct {
				Message string `json:"to_message,omitempty" maxLength:"500" doc:"the id of a message"`
				Version *int   `json:"to_version,omitempty" minimum:"0" doc:"0 is the very beginning"`
			}
		}) (*restoredOut, error) {
			version, err := in.version()
			if err != nil {
				return nil, err
			}
			return restoredOf(a.s.Rollback(ctx, in.Session, in.Body.Message, in.Body.Version, version))
		})
	a.found(tag)
}

type Query struct {
	BySession
	Query string `query:"q" required:"true" minLength:"1" maxLength:"2000" doc:"words and exact names"`
	Limit int    `query:"limit" minimum:"1" maximum:"20" default:"5"`
}

func (q *Query) recall() session.RecallQuery {
	return session.RecallQuery{Text: q.Query, Limit: q.Limit}
}

type foundBody struct {
	Found []session.Recalled `json:"found"`
}

func (a *api) found(tag string) {
	type lostBody struct {
		Lost []session.Loss `json:"lost"`
	}
	add(a, op{id: "list-lost", method: http.MethodGet, path: "/sessions/{session}/lost", tag: tag,
		summary: "What compactions took from the model's view, the weightiest first", errors: []int{404, 422}},
		func(ctx context.Context, in *struct {
			BySession
			Grep       string `query:"grep" maxLength:"1000" doc:"a regular expression that is in the text or its whole message"`
			Compaction string `query:"compaction" maxLength:"200" doc:"the id of the compaction that took it; default any"`
		}) (*out[lostBody], error) {
			list, err := a.s.Lost(ctx, in.Session, in.Grep, in.Compaction)
			return &out[lostBody]{lostBody{orEmpty(list)}}, err
		})
	add(a, op{id: "search-messages", method: http.MethodGet, path: "/sessions/{session}/search", tag: tag,
		summary: "Find passages in all messages, superseded or not, for a person", errors: []int{404, 422}},
		func(ctx context.Context, in *Query) (*out[foundBody], error) {
			list, err := a.s.Search(ctx, in.Session, in.recall())
			return &out[foundBody]{foundBody{orEmpty(list)}}, err
		})
	add(a, op{id: "recall", method: http.MethodGet, path: "/sessions/{session}/recall", tag: tag,
		summary: "Find what was superseded, for the agent; off unless the operator allows it",
		errors:  []int{403, 404, 422},
		text:    "It shows the model what a compaction took away. Without serve --recall it is 403."},
		func(ctx context.Context, in *Query) (*out[foundBody], error) {
			list, err := a.s.Recall(ctx, in.Session, in.recall())
			return &out[foundBody]{foundBody{orEmpty(list)}}, err
		})
}
