package host_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// The context of a call ends with its time, with its caller, or with the call,
// whichever is first, whether somebody waits for it or only asks.
func TestCallContext(t *testing.T) {
	type key struct{}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		name   string
		caller context.Context
		limit  time.Duration
		end    bool
		want   error
	}{
		{"running", context.Background(), time.Hour, false, nil},
		{"its time is up", context.Background(), 0, false, context.DeadlineExceeded},
		{"the caller gave up", canceled, time.Hour, false, context.Canceled},
		{"the call is over", context.Background(), time.Hour, true, context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, waits := range []bool{false, true} {
				t.Run(fmt.Sprintf("waits %v", waits), func(t *testing.T) {
					x, end := callContext(context.WithValue(tc.caller, key{}, 1), tc.limit)
					if waits {
						x.Done()
					}
					if tc.end {
						end()
					}
					if err := x.Err(); !errors.Is(err, tc.want) {
						t.Errorf("%v", err)
					}
					select {
					case <-x.Done():
						if tc.want == nil {
							t.Errorf("%s: done", tc.name)
						}
					default:
						if tc.want != nil {
							t.Errorf("%s: not done", tc.name)
						}
					}
					if x.Value(key{}) != 1 {
						t.Errorf("%s: no values of the caller", tc.name)
					}
					child, stop := context.WithCancel(x)
					end()
					select {
					case <-child.Done():
					case <-time.After(10 * time.Second):
						t.Errorf("%s: a child outlives the call", tc.name)
					}
					stop()
				})
			}
		})
	}
	soon, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	want, _ := soon.Deadline()
	x, end := callContext(soon, time.Hour)
	defer end()
	if d, ok := x.Deadline(); !ok || !d.Equal(want) {
		t.Errorf("the deadline is %v, the caller's %v", d, want)
	}
}

// callContext is the context of a call, and what ends it.
func callContext(caller context.Context, limit time.Duration) (context.Context, func()) {
	p := &host.Plugin{Limits: abi.Limits{TimeoutMS: int(limit.Milliseconds())}}
	return host.NewCall(p, "pre_compact", host.Input{}).Context(caller)
}
