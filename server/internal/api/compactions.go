package api

import (
	"context"
	"net/http"

	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/turnend"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

type compactedOut struct {
	ETag string `header:"ETag"`
	Body *service.Compacted
}

func compactedOf(c *service.Compacted, err error) (*compactedOut, error) {
	if err != nil {
		return nil, err
	}
	return &compactedOut{etag(c.Version), c}, nil
}

type ByCompaction struct {
	BySession
	Compaction string `path:"compaction" maxLength:"100"`
}

// compactions are the operations that compact, and those on what was done.
func (a *api) compactions() {
	const tag = "compactions"
	add(a, op{id: "compact-session", method: http.MethodPost, path: "/sessions/{session}/compact", tag: tag,
		summary: "Compact a session now, whatever the thresholds say", errors: []int{404, 409, 412, 422},
		text: "What the body says holds for this once and changes no configuration. With dry_run nothing changes, and the " +
			"answer has the session as it would be. While a turn or a call runs it is 409 at once, with the code busy."},
		func(ctx context.Context, in *struct {
			BySession
			Matching
			Body service.Manual
		}) (*compactedOut, error) {
			version, err := in.version()
			if err != nil {
				return nil, err
			}
			return compactedOf(a.s.Compact(ctx, in.Session, in.Body, version))
		})
	add(a, op{id: "compact-once", method: http.MethodPost, path: "/compact", tag: tag, loose: true,
		summary: "Compact messages that the caller keeps", errors: []int{409, 422},
		text: "messages is a session in any known form: a list or a request body of OpenAI's chat or Responses API, of " +
			"Anthropic's Messages API or of Gemini's, a list of neutral messages (with format neutral), or the text of a " +
			"session file as a string. The answer has it in the same form, and the report. Below the threshold the " +
			"messages are those that came, unless force is set. What a person asks for with force is 409 at once, with the " +
			"code busy, while a turn or a call runs of the session with that id."}, a.compactOnce)
	add(a, op{id: "end-turn-once", method: http.MethodPost, path: "/turn-end", tag: tag, loose: true,
		summary: "A turn has ended of messages that the caller keeps: plugins hear of it", errors: []int{422},
		text: "The body is that of compact-once. Nothing is compacted: wanted says what the caller should have compacted, " +
			"with force, the reason and the instructions given. Where listening is false no plugin hears of ends of turns, " +
			"and the messages were not read."},
		func(ctx context.Context, in *struct{ Body loose[service.Once] }) (*struct{ Body *turnend.Ended }, error) {
			body, err := in.Body.read(true)
			if err != nil {
				return nil, err
			}
			ended, err := a.s.EndTurnOnce(ctx, body)
			return &struct{ Body *turnend.Ended }{ended}, err
		})
	add(a, op{id: "list-compactions", method: http.MethodGet, path: "/sessions/{session}/compactions", tag: tag,
		summary: "The compactions of a session, oldest first, those that were undone too", errors: []int{404}},
		func(ctx context.Context, in *BySession) (*struct {
			Body struct {
				Compactions []store.Record `json:"compactions"`
			}
		}, error) {
			out := &struct {
				Body struct {
					Compactions []store.Record `json:"compactions"`
				}
			}{}
			list, err := a.s.Compactions(ctx, in.Session)
			out.Body.Compactions = orEmpty(list)
			return out, err
		})
	add(a, op{id: "get-compaction", method: http.MethodGet, path: "/sessions/{session}/compactions/{compaction}",
		tag: tag, summary: "One compaction", errors: []int{404}},
		func(ctx context.Context, in *ByCompaction) (*out[*store.Record], error) {
			return outOf(a.s.Compaction(ctx, in.Session, in.Compaction))
		})
	add(a, op{id: "judge-compaction", method: http.MethodPatch,
		path: "/sessions/{session}/compactions/{compaction}", tag: tag,
		summary: "Judge a compaction: a flag and notes", errors: []int{404, 422}},
		func(ctx context.Context, in *struct {
			ByCompaction
			Body struct {
				Flag  *string `json:"flag,omitempty" enum:"good,bad,neutral," doc:"empty takes the judgement back"`
				Notes *string `json:"notes,omitempty" maxLength:"20000"`
			}
		}) (*out[*store.Record], error) {
			return outOf(a.s.Flag(ctx, in.Session, in.Compaction, in.Body.Flag, in.Body.Notes))
		})
	a.checkpoints(tag)
}

func (a *api) compactOnce(ctx context.Context, in *struct {
	Body loose[service.Once]
}) (*out[*service.Made], error) {
	body, err := in.Body.read(true)
	if err != nil {
		return nil, err
	}
	return outOf(a.s.CompactOnce(ctx, body))
}

func (a *api) checkpoints(tag string) {
	add(a, op{id: "get-checkpoint", method: http.MethodGet, path: "/sessions/{session}/checkpoint", tag: tag,
		summary: "The compaction that waits for a decision, to the byte as it would be applied", errors: []int{404}},
		func(ctx context.Context, in *BySession) (*out[*session.Checkpoint], error) {
			return outOf(a.s.Checkpoint(ctx, in.Session))
		})
	add(a, op{id: "approve-checkpoint", method: http.MethodPost,
		path: "/sessions/{session}/checkpoint/{compaction}/approve", tag: tag,
		summary: "Apply the compaction that waits, exactly as it was shown", errors: []int{404, 409}},
		func(ctx context.Context, in *ByCompaction) (*compactedOut, error) {
			return compactedOf(a.s.Approve(ctx, in.Session, in.Compaction))
		})
	add(a, op{id: "reject-checkpoint", method: http.MethodPost,
		path: "/sessions/{session}/checkpoint/{compaction}/reject", tag: tag, status: 204,
		summary: "Drop the compaction that waits", errors: []int{404, 422}},
		func(ctx context.Context, in *struct {
			ByCompaction
			Body struct {
				Notes string `json:"notes,omitempty" maxLength:"20000" doc:"why, for the audit log"`
			}
		}) (*nothing, error) {
			return nil, a.s.Reject(ctx, in.Session, in.Compaction, in.Body.Notes)
		})
}
