package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
)

func sessionPath(key string) string { return Prefix + "/sessions/" + url.PathEscape(key) }

type lookOut struct {
	ETag string `header:"ETag"`
	Body *service.Look
}

func lookOf(l *service.Look, err error) (*lookOut, error) {
	if err != nil {
		return nil, err
	}
	l.Messages = orEmpty(l.Messages)
	return &lookOut{etag(l.Version), l}, nil
}

// Waiting is an input that says how long to wait for a call in flight.
type Waiting struct {
	Wait int `query:"wait" minimum:"0" maximum:"600" default:"60" doc:"seconds to wait while a call of the model is in flight"`
}

func (w *Waiting) duration() time.Duration { return time.Duration(w.Wait) * time.Second }

type ByCall struct {
	BySession
	Call string `path:"call" maxLength:"100"`
}

type answerBody struct {
	Messages []abi.Message  `json:"messages" doc:"what the model answered; it is added to the session"`
	Usage    *service.Usage `json:"usage,omitempty" doc:"what the call took"`
}

type refusedBody struct {
	Error string `json:"error" minLength:"1" maxLength:"100000" doc:"what the provider said, with its figures"`
}

// calls are the operations around a call of the agent's model.
func (a *api) calls() {
	const tag = "the agent's loop"
	add(a, op{id: "get-context", method: http.MethodGet, path: "/sessions/{session}/context", tag: tag,
		summary: "What the model should see now; compacts where that is due", errors: []int{404, 409, 422, 503},
		text: "Ask before each call of the model. It waits while a call is marked in flight. Where a compaction waits for " +
			"a decision it is 409, with the code busy; where the session cannot be made to fit it is 422, exceeds_window."},
		func(ctx context.Context, in *struct {
			BySession
			Waiting
		}) (*lookOut, error) {
			return lookOf(a.s.Context(ctx, in.Session, in.duration()))
		})
	add(a, op{id: "begin-call", method: http.MethodPost, path: "/sessions/{session}/calls", tag: tag, status: 201,
		summary: "Mark a call of the model in flight, and get what it should see", errors: []int{404, 409, 422, 503},
		text: "For hosts that stream: who asks this server for a context meanwhile waits, and what a person asks for is " +
			"409, with the code busy, at every server on the database. The call ends with its answer, with a DELETE, or by " +
			"itself ten minutes later."},
		func(ctx context.Context, in *struct {
			BySession
			Waiting
		}) (*lookOut, error) {
			return lookOf(a.s.BeginCall(ctx, in.Session, in.duration()))
		})
	add(a, op{id: "end-call", method: http.MethodPost, path: "/sessions/{session}/calls/{call}/answer", tag: tag,
		summary: "The model has answered: add it, and what it took", errors: []int{404, 409, 422, 503}, loose: true,
		text: "It stands behind what others made of the session meanwhile. While the answer cannot be stored the call " +
			"stays in flight: send it again, or give the call up. Where the session was rolled back meanwhile the call " +
			"ends, with 409."},
		func(ctx context.Context, in *struct {
			ByCall
			Body loose[answerBody]
		}) (*lookOut, error) {
			body, err := in.Body.read(false)
			if err != nil {
				return nil, err
			}
			return lookOf(a.s.EndCall(ctx, in.Session, in.Call, body.Messages, body.Usage))
		})
	add(a, op{id: "refuse-call", method: http.MethodPost, path: "/sessions/{session}/calls/{call}/refused", tag: tag,
		summary: "The provider found the request too long: compact, and get what to send instead",
		errors:  []int{404, 409, 422},
		text: "Once for each call. Where the compaction changed nothing, or the provider had refused before, the answer is " +
			"422 with the code context_length and the provider's words; the call has ended, and nothing of it is stored. With " +
			"the recovery descend it is what to send with fewer messages each time; where none is left to go it is 422 with " +
			"the code exceeds_window, and the detail says how many tokens and messages there are, and what the window is. " +
			"Words that are about something else, such as a rate limit or a key, are 422, usage: nothing is compacted, and " +
			"the call stays in flight. Words that nobody knows count as a refusal for the length."},
		func(ctx context.Context, in *struct {
			ByCall
			Body refusedBody
		}) (*lookOut, error) {
			return lookOf(a.s.Refused(ctx, in.Session, in.Call, in.Body.Error))
		})
	add(a, op{id: "abandon-call", method: http.MethodDelete, path: "/sessions/{session}/calls/{call}", tag: tag,
		status: 204, summary: "The call failed, or was given up", errors: []int{404}},
		func(ctx context.Context, in *ByCall) (*nothing, error) {
			return nil, a.s.Abandon(ctx, in.Session, in.Call)
		})
	add(a, op{id: "report-usage", method: http.MethodPost, path: "/sessions/{session}/usage", tag: tag, status: 204,
		summary: "Add what a call of the agent's model took to the session's costs", errors: []int{404, 422}},
		func(ctx context.Context, in *struct {
			BySession
			Body service.Usage
		}) (*nothing, error) {
			return nil, a.s.Spend(ctx, in.Session, in.Body)
		})
	a.turns(tag)
}

func (a *api) turns(tag string) {
	type begun struct {
		Turn string `json:"turn"`
	}
	add(a, op{id: "begin-turn", method: http.MethodPost, path: "/sessions/{session}/turns", tag: tag, status: 201,
		summary: "A turn begins: from a person's request to the answer, with all tool calls between", errors: []int{404},
		text: "Until it ends a compaction that a person asks for is 409, with the code busy, and one that the agent or a " +
			"plugin asks for waits."},
		func(ctx context.Context, in *BySession) (*out[begun], error) {
			id, err := a.s.BeginTurn(ctx, in.Session)
			return &out[begun]{begun{id}}, err
		})
	add(a, op{id: "end-turn", method: http.MethodDelete, path: "/sessions/{session}/turns/{turn}", tag: tag,
		summary: "The turn has ended: plugins hear of it, and what was asked for or is due runs", errors: []int{404, 409},
		text: "It runs beside, when no turn of the session is open and no call in flight; background is true then, and " +
			"the report is null. With wait it is in the answer, if it ends in time. The next call waits for it. Where " +
			"plugins take longer than a second, or than wait, the answer does not wait for them either."},
		func(ctx context.Context, in *struct {
			BySession
			Turn   string `path:"turn" maxLength:"100"`
			Failed bool   `query:"failed" doc:"it did not complete: nobody hears of it, and nothing runs"`
			Wait   int    `query:"wait" minimum:"0" maximum:"600" doc:"seconds to wait for the compaction that runs then"`
		}) (*out[*service.Turn], error) {
			return outOf(a.s.EndTurn(ctx, in.Session, in.Turn, !in.Failed, time.Duration(in.Wait)*time.Second))
		})
	add(a, op{id: "request-compaction", method: http.MethodPost, path: "/sessions/{session}/requests", tag: tag,
		status: 202, summary: "Ask for a compaction for the agent: it runs when the turn is over", errors: []int{404, 422}},
		func(ctx context.Context, in *struct {
			BySession
			Body struct {
				Instructions string `json:"instructions,omitempty" maxLength:"20000" doc:"what to keep in view"`
			}
		}) (*nothing, error) {
			return nil, a.s.Request(ctx, in.Session, in.Body.Instructions)
		})
}
