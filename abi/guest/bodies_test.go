package guest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
)

// lazySession is an input without bodies, and a host that has them.
func lazySession(n, tokens int) (*abi.Input, *guesttest.Host) {
	in, host := &abi.Input{Hook: abi.HookPreCompact}, new(guesttest.Host)
	for i := range n {
		m := abi.InputMessage{Message: abi.Message{ID: fmt.Sprintf("m%d", i), Role: abi.RoleAssistant}, Tokens: tokens}
		in.Messages = append(in.Messages, m)
		m.Content = abi.Text(fmt.Sprintf("says %d", i))
		host.Messages = append(host.Messages, m)
	}
	return in, host
}

func ids(msgs []abi.InputMessage) (ids []string) {
	for _, m := range msgs {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestBodies(t *testing.T) {
	for _, c := range []struct {
		why          string
		n, tokens    int
		whole        bool // the input has the bodies
		calls, after int  // host calls, and how many messages are looked at (0: all)
	}{
		{"few messages are one batch", 10, 100, false, 1, 0},
		{"long ones are fetched by their tokens", 10, 60_000, false, 4, 0},
		{"one that is longer than a batch is one", 3, 1 << 20, false, 3, 0},
		{"short ones by their number", 2500, 1, false, 3, 0},
		{"what is not looked at is not fetched", 2500, 1, false, 1, 5},
		{"with bodies in the input nobody is asked", 10, 100, true, 0, 0},
		{"no messages, no call", 0, 0, false, 0, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			in, host := lazySession(c.n, c.tokens)
			if c.whole {
				in.Messages = slices.Clone(host.Messages)
			}
			want := ids(in.Messages)
			slices.Reverse(want)
			var got []string
			for m, err := range guest.NewCall(in, host).Bodies(want...) {
				if err != nil {
					t.Fatal(err)
				}
				if m.Text() != "says "+m.ID[1:] {
					t.Fatalf("%s: %q", m.ID, m.Text())
				}
				if got = append(got, m.ID); len(got) == c.after {
					want = want[:c.after]
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if n := host.Calls[abi.OpMessagesGet]; n != c.calls {
				t.Errorf("%d host calls, want %d", n, c.calls)
			}
		})
	}
}

func TestBodiesEndAtTheFirstError(t *testing.T) {
	in, host := lazySession(3, 1)
	for _, c := range []struct {
		why  string
		host guest.Host
		ids  []string
		code abi.Code
	}{
		{"an id the input does not have", host, []string{"m1", "m9"}, abi.CodeUnknownID},
		{"the host has no such message", new(guesttest.Host), []string{"m1", "m2"}, abi.CodeUnknownID},
		{"fewer messages than asked for", brokenHost(`{"result":{"messages":[{"id":"m1"}]}}`), []string{"m1", "m2"},
			abi.CodeInternal},
	} {
		t.Run(c.why, func(t *testing.T) {
			n := 0
			for m, err := range guest.NewCall(in, c.host).Bodies(c.ids...) {
				if n++; m != nil || abi.CodeOf(err) != c.code {
					t.Errorf("%+v, %v", m, err)
				}
			}
			if n != 1 {
				t.Errorf("%d values", n)
			}
		})
	}
}
