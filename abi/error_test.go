package abi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

func TestErrorText(t *testing.T) {
	for want, e := range map[string]*abi.Error{
		"hindsight: pre_compact: call: no answer in time": {Code: abi.CodeDeadline, Op: "call", Plugin: "hindsight",
			Hook: abi.HookPreCompact, Message: "no answer in time"},
		"load: EOF":                    {Code: abi.CodeBadInput, Op: "load", Err: io.EOF},
		"message wins over cause":      {Code: abi.CodeTrap, Message: "message wins over cause", Err: io.EOF},
		"trap":                         {Code: abi.CodeTrap},
		"hint is not part of the text": {Code: abi.CodeTrap, Message: "hint is not part of the text", Hint: "do that"},
	} {
		t.Run(want, func(t *testing.T) {
			if got := e.Error(); got != want {
				t.Errorf("text %q, want %q", got, want)
			}
		})
	}
}

func TestErrorIs(t *testing.T) {
	trap := &abi.Error{Code: abi.CodeTrap, Op: "call", Plugin: "p", Message: "unreachable", Err: io.EOF}
	wrapped := fmt.Errorf("compact: %w", trap)
	for name, c := range map[string]struct {
		err, target error
		want        bool
	}{
		"its code":              {trap, &abi.Error{Code: abi.CodeTrap}, true},
		"its code, wrapped":     {wrapped, &abi.Error{Code: abi.CodeTrap}, true},
		"another code":          {wrapped, &abi.Error{Code: abi.CodeExit}, false},
		"more than a code":      {wrapped, &abi.Error{Code: abi.CodeTrap, Op: "call"}, false},
		"itself":                {wrapped, trap, true},
		"its cause":             {wrapped, io.EOF, true},
		"another cause":         {wrapped, io.ErrUnexpectedEOF, false},
		"a cause with a list":   {trap, &abi.Error{Code: abi.CodeTrap, Err: listError{"x"}}, false},
		"a code through a code": {&abi.Error{Code: abi.CodeModel, Err: trap}, &abi.Error{Code: abi.CodeTrap}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := errors.Is(c.err, c.target); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// listError cannot be compared: comparing two of them panics.
type listError []string

func (listError) Error() string { return "list" }

func TestCodeOfAndAsError(t *testing.T) {
	trap := &abi.Error{Code: abi.CodeTrap, Message: "unreachable"}
	for name, c := range map[string]struct {
		err  error
		code abi.Code
		same bool // AsError returns trap itself
	}{
		"nil":     {nil, "", false},
		"itself":  {trap, abi.CodeTrap, true},
		"wrapped": {fmt.Errorf("a: %w", trap), abi.CodeTrap, true},
		"joined":  {errors.Join(io.EOF, trap), abi.CodeTrap, true},
		"foreign": {context.Canceled, abi.CodeInternal, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := abi.CodeOf(c.err); got != c.code {
				t.Errorf("code %q, want %q", got, c.code)
			}
			got := abi.AsError(c.err)
			switch {
			case c.err == nil:
				if got != nil {
					t.Errorf("%v", got)
				}
			case c.same != (got == trap):
				t.Errorf("AsError is %v", got)
			case got.Code != c.code || !errors.Is(c.err, got) && !errors.Is(got, c.err):
				t.Errorf("AsError %+v loses the code or the cause", got)
			}
		})
	}
	if got := abi.AsError(context.Canceled); got.Message != context.Canceled.Error() {
		t.Errorf("the message of a foreign error is %q", got.Message)
	}
}

func TestErrorJSON(t *testing.T) {
	e := &abi.Error{Code: abi.CodeDenied, Op: "host_call", Plugin: "p", Hook: abi.HookTurnEnd, Phase: abi.PhaseCall,
		Message: "kv.set is not granted", Hint: "grant kv", Err: io.EOF}
	doc, err := json.Marshal(e)
	want := `{"code":"denied","op":"host_call","plugin":"p","hook":"turn_end","phase":"call",` +
		`"message":"kv.set is not granted","hint":"grant kv"}`
	if err != nil || string(doc) != want {
		t.Fatalf("got %s (%v), want %s", doc, err, want)
	}
	var back abi.Error
	if err := strictjson.Decode(doc, &back); err != nil {
		t.Fatal(err)
	}
	if e.Err = nil; back != *e {
		t.Errorf("read %+v, written %+v", back, *e)
	}
}

// TestErrorAt: what an error says itself stays, and the error is not written to.
func TestErrorAt(t *testing.T) {
	cause := &abi.Error{Code: abi.CodeTrap, Phase: abi.PhaseInstantiate, Message: "unreachable"}
	want := abi.Error{Code: abi.CodeTrap, Plugin: "p", Hook: abi.HookPreCompact, Phase: abi.PhaseInstantiate,
		Message: "unreachable"}
	if got := cause.At("p", abi.HookPreCompact, abi.PhaseCall); *got != want || cause.Plugin != "" {
		t.Errorf("got %+v from %+v", got, cause)
	}
}
