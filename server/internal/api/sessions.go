package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

type sessionOut struct {
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     *store.Session
}

type paged struct {
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	After string `query:"after" maxLength:"600" doc:"what the page before named as next"`
}

type sessionList struct {
	Sessions []store.Session `json:"sessions"`
	Next     string          `json:"next" doc:"empty behind the last page"`
}

type appendBody struct {
	Messages []abi.Message `json:"messages" minItems:"1"`
}

type messageList struct {
	Messages []session.StoredMessage `json:"messages"`
	Next     string                  `json:"next" doc:"the id to give as after; empty behind the last page"`
}

// sessions are the operations on sessions and their messages.
func (a *api) sessions() {
	const tag = "sessions"
	add(a, op{id: "create-session", method: http.MethodPost, path: "/sessions", tag: tag, status: 201,
		summary: "Begin a session", errors: []int{409, 422}},
		func(ctx context.Context, in *struct{ Body service.NewSession }) (*sessionOut, error) {
			row, err := a.s.Create(ctx, in.Body)
			if err != nil {
				return nil, err
			}
			return &sessionOut{ETag: etag(row.Version), Location: sessionPath(row.Key), Body: row}, nil
		})
	add(a, op{id: "import-session", method: http.MethodPost, path: "/sessions/import", tag: tag, status: 201, loose: true,
		summary: "Take a session's log of any known format into the store, and compact nothing", errors: []int{409, 422},
		text: "messages is what compact-once takes. A log that is there already goes on: what it has more is added. " +
			"While a turn or a call of its session runs it is 409, with the code busy."},
		a.importLog)
	add(a, op{id: "list-sessions", method: http.MethodGet, path: "/sessions", tag: tag,
		summary: "List sessions, the one that changed last first", errors: []int{422}},
		func(ctx context.Context, in *paged) (*out[sessionList], error) {
			list, next, err := a.s.Sessions(ctx, in.After, in.Limit)
			return &out[sessionList]{sessionList{orEmpty(list), next}}, err
		})
	add(a, op{id: "get-session", method: http.MethodGet, path: "/sessions/{session}", tag: tag,
		summary: "One session", errors: []int{304, 404}},
		func(ctx context.Context, in *struct {
			BySession
			IfNoneMatch string `header:"If-None-Match"`
		}) (*sessionOut, error) {
			row, err := a.s.Session(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			if in.IfNoneMatch == etag(row.Version) {
				return nil, notModified
			}
			return &sessionOut{ETag: etag(row.Version), Body: row}, nil
		})
	add(a, op{id: "delete-session", method: http.MethodDelete, path: "/sessions/{session}", tag: tag, status: 204,
		summary: "Delete a session with all that was said in it; the audit log keeps ids and figures", errors: []int{404}},
		func(ctx context.Context, in *BySession) (*nothing, error) { return nil, a.s.Delete(ctx, in.Session) })
	add(a, op{id: "append-messages", method: http.MethodPost, path: "/sessions/{session}/messages", tag: tag,
		status: 201, summary: "Add messages that arrived", errors: []int{404, 409, 412, 422}, loose: true,
		text: "A message without an id gets one. With an Idempotency-Key the same request may come twice: the second time " +
			"nothing is added, and the answer is that of the first."}, a.append)
	add(a, op{id: "list-messages", method: http.MethodGet, path: "/sessions/{session}/messages", tag: tag,
		summary: "Messages of a session, oldest first", errors: []int{404, 422},
		text: "What the model sees; with include_superseded all there ever was, with what took it away."}, a.messages)
}

func (a *api) importLog(ctx context.Context, in *struct{ Body loose[service.Log] }) (*sessionOut, error) {
	body, err := in.Body.read(true)
	if err != nil {
		return nil, err
	}
	row, err := a.s.ImportLog(ctx, body)
	if err != nil {
		return nil, err
	}
	return &sessionOut{ETag: etag(row.Version), Location: sessionPath(row.Key), Body: row}, nil
}

func (a *api) append(ctx context.Context, in *struct {
	BySession
	Matching
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"200" doc:"names the request: it may come twice"`
	Body           loose[appendBody]
}) (*struct {
	ETag string `header:"ETag"`
	Body *service.Appended
}, error) {
	body, err := in.Body.read(false)
	if err != nil {
		return nil, err
	}
	version, err := in.version()
	if err != nil {
		return nil, err
	}
	added, err := a.s.Append(ctx, in.Session, body.Messages, service.Terms{Version: version, Request: in.IdempotencyKey})
	if err != nil {
		return nil, err
	}
	return &struct {
		ETag string `header:"ETag"`
		Body *service.Appended
	}{etag(added.Version), added}, nil
}

func (a *api) messages(ctx context.Context, in *struct {
	BySession
	Superseded bool   `query:"include_superseded" doc:"all there ever was, as an operator sees it"`
	After      string `query:"after" maxLength:"500" doc:"the id of the last message of the page before"`
	Limit      int    `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
}) (*out[messageList], error) {
	list, err := a.s.Messages(ctx, in.Session, store.MessageQuery{Superseded: in.Superseded, After: in.After,
		Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	page := messageList{Messages: orEmpty(list)}
	if len(list) > in.Limit {
		page.Messages, page.Next = list[:in.Limit], list[in.Limit-1].ID
	}
	return &out[messageList]{page}, nil
}

// notModified is the answer to who has a session as it is.
var notModified = huma.Status304NotModified()

// orEmpty is a list that JSON writes as one.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
