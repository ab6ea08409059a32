package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/kagewasm/kagewasm/internal/service"
)

// A stream says something at least this often, so that a connection that is gone is
// noticed, and waits for a reader no longer than that.
const heartbeat = 15 * time.Second

// stream is the operation that sends events as they happen.
func (a *api) stream() {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[service.Event](), true, "Event")
	huma.Register(a.huma, huma.Operation{OperationID: "watch", Method: http.MethodGet, Path: Prefix + "/events",
		Tags: []string{"events"}, Summary: "Events as they happen, as server-sent events", Errors: []int{401, 404, 422},
		Description: "Each event has its type as the event, its number as the id and its JSON as the data. A gap between " +
			"numbers says that the reader was too slow. Nothing that was said is in them.",
		Responses: map[string]*huma.Response{"200": {Description: "a stream that does not end",
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: schema}}}}},
		func(ctx context.Context, in *struct {
			Session string `query:"session" maxLength:"500" doc:"only those of the session with this key"`
		}) (*huma.StreamResponse, error) {
			if in.Session != "" {
				if _, err := a.s.Session(ctx, in.Session); err != nil {
					return nil, problemOf(err)
				}
			}
			return &huma.StreamResponse{Body: func(c huma.Context) {
				_, w := humago.Unwrap(c)
				events, stop := a.s.Watch(in.Session)
				defer stop()
				send(c.Context(), w, events)
			}}, nil
		})
}

// send writes events until the client or the server ends.
func send(ctx context.Context, w http.ResponseWriter, events <-chan service.Event) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the request is read; its end is seen by writing
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	write := func(format string, args ...any) bool {
		_ = control.SetWriteDeadline(time.Now().Add(heartbeat))
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && control.Flush() == nil
	}
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for ok := write(": events\n\n"); ok; {
		select {
		case e, open := <-events:
			if !open {
				return
			}
			data, err := json.Marshal(e)
			ok = err == nil && write("event: %s\nid: %d\ndata: %s\n\n", e.Type, e.ID, data)
		case <-tick.C:
			ok = write(": still here\n\n")
		case <-ctx.Done():
			return
		}
	}
}
