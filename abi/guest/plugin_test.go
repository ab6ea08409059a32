package guest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
)

func input(hook abi.Hook) *abi.Input {
	return &abi.Input{ABI: abi.Version, Hook: hook, Session: abi.Session{ID: "s1"},
		Messages: []abi.InputMessage{{Message: abi.Message{ID: "m1", Role: abi.RoleUser,
			Content: abi.Text("a < b & ✓")}, Tokens: 3}}}
}

func TestHookWithoutHandlerSaysNothing(t *testing.T) {
	p := &guesttest.Plugin{Plugin: guest.Plugin{PostCompact: func(*guest.Call) (*abi.Output, error) { return nil, nil }}}
	for _, h := range abi.Hooks {
		if out, _, err := p.Call(t.Context(), input(h)); out != nil || err != nil {
			t.Errorf("%s: answered %+v, %v", h, out, err)
		}
	}
}

func TestHandlerIsThatOfTheHook(t *testing.T) {
	says := func(s string) guest.Handler {
		return func(c *guest.Call) (*abi.Output, error) {
			return &abi.Output{Inject: s + " " + string(c.Input.Hook)}, nil
		}
	}
	p := &guesttest.Plugin{Plugin: guest.Plugin{PreCompact: says("pre"), PostCompact: says("post"), TurnEnd: says("end")}}
	for h, want := range map[abi.Hook]string{
		abi.HookPreCompact: "pre pre_compact", abi.HookPostCompact: "post post_compact", abi.HookTurnEnd: "end turn_end",
	} {
		t.Run(string(h), func(t *testing.T) {
			out, _, err := p.Call(t.Context(), input(h))
			if err != nil || out.Inject != want {
				t.Errorf("%s: %+v, %v", h, out, err)
			}
		})
	}
}

func TestPanicIsAnError(t *testing.T) {
	p := guest.Plugin{PreCompact: func(c *guest.Call) (*abi.Output, error) { return nil, explode(c) }}
	out, err := p.Call(guest.NewCall(input(abi.HookPreCompact), new(guesttest.Host)))
	if out != nil || err == nil {
		t.Fatalf("answered %+v, %v", out, err)
	}
	text := err.Error()
	if !strings.Contains(text, "index out of range") || !strings.Contains(text, "explode") {
		t.Errorf("the error lacks the message or the place:\n%s", text)
	}
	if n := strings.Count(text, "\n"); n > 20 {
		t.Errorf("%d lines of stack", n)
	}
}

//go:noinline
func explode(c *guest.Call) error {
	_ = c.Input.Messages[len(c.Input.Session.ID)+5]
	return nil
}

func TestServeKeepsText(t *testing.T) {
	p := guest.Plugin{PreCompact: func(c *guest.Call) (*abi.Output, error) {
		return &abi.Output{Inject: c.Input.Messages[0].Text()}, nil
	}}
	in := `{"abi":1,"hook":"turn_end","later":true,"messages":[{"id":"m1","role":"user","content":"a < b & ✓"}]}`
	out, err := p.Serve(abi.HookPreCompact, []byte(in), new(guesttest.Host))
	if err != nil || string(out) != `{"inject":"a < b & ✓"}` {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := p.Serve(abi.HookPreCompact, []byte(`{`), nil); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("half a document: %v", err)
	}
}

func TestHandlerErrorIsAnExit(t *testing.T) {
	p := &guesttest.Plugin{Plugin: guest.Plugin{PreCompact: func(*guest.Call) (*abi.Output, error) {
		return nil, errors.New("no idea")
	}}}
	_, _, err := p.Call(t.Context(), input(abi.HookPreCompact))
	if !errors.Is(err, &abi.Error{Code: abi.CodeExit}) || !strings.Contains(err.Error(), "no idea") {
		t.Errorf("%v", err)
	}
}

func TestRegisterTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second plugin in one program went unnoticed")
		}
	}()
	guest.Register(guest.Plugin{})
	guest.Register(guest.Plugin{})
}
