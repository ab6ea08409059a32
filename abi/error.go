package abi

import (
	"cmp"
	"errors"
	"strings"
)

// Code says what kind of failure an [Error] is. Callers and tests branch on
// codes, never on text. Codes are only ever added.
type Code string

const (
	// CodeUsage: the caller asked for something impossible.
	CodeUsage Code = "usage"
	// CodeBadInput: a session, a manifest or a configuration cannot be read.
	CodeBadInput Code = "bad_input"
	// CodeRefused: a module was refused before it ran: malformed, unknown
	// imports, wrong signatures, over a static limit.
	CodeRefused Code = "refused"
	// CodeTrap: the guest hit a WebAssembly trap.
	CodeTrap Code = "trap"
	// CodeExit: the guest ended itself, or returned nonzero.
	CodeExit Code = "exit"
	// CodeDeadline: the wall-clock limit of the call passed.
	CodeDeadline Code = "deadline"
	// CodeFuel: the fuel of the call ran out.
	CodeFuel Code = "fuel"
	// CodeMemory: the guest wanted more memory than it may have.
	CodeMemory Code = "memory"
	// CodeStack: the guest's calls went too deep.
	CodeStack Code = "stack"
	// CodeOutputLimit: the guest's output was larger than allowed.
	CodeOutputLimit Code = "output_limit"
	// CodeInputLimit: the input does not fit the guest.
	CodeInputLimit Code = "input_limit"
	// CodeBadOutput: the output is not what the ABI says.
	CodeBadOutput Code = "bad_output"
	// CodeDenied: a capability was used that is not granted.
	CodeDenied Code = "denied"
	// CodeQuota: a quota of a granted capability is used up.
	CodeQuota Code = "quota"
	// CodeCanceled: the caller gave up.
	CodeCanceled Code = "canceled"
	// CodePinned: a plan drops, rewrites or moves a pinned message.
	CodePinned Code = "pinned"
	// CodeCurrentTurn: a plan drops what the model is busy with.
	CodeCurrentTurn Code = "current_turn"
	// CodeSplitUnit: a plan parts a tool call from its result.
	CodeSplitUnit Code = "split_unit"
	// CodeUnknownID: a plan names a message that is not there.
	CodeUnknownID Code = "unknown_id"
	// CodeDuplicateID: a plan names a message twice.
	CodeDuplicateID Code = "duplicate_id"
	// CodeForged: a plan inserts a message that poses as somebody.
	CodeForged Code = "forged"
	// CodeOrder: a plan changes the order of messages.
	CodeOrder Code = "order"
	// CodeEdit: a plan edits what may not be edited.
	CodeEdit Code = "edit"
	// CodeUnaccounted: a message is neither kept nor superseded.
	CodeUnaccounted Code = "unaccounted"
	// CodeGrew: a plan does not make the session smaller.
	CodeGrew Code = "grew"
	// CodeOverTarget: a plan stays over the target though more could go.
	CodeOverTarget Code = "over_target"
	// CodeExceedsWindow: what cannot go is more than the context window.
	CodeExceedsWindow Code = "exceeds_window"
	// CodeModel: a model call failed.
	CodeModel Code = "model"
	// CodeNetwork: a host could not be reached, or broke off.
	CodeNetwork Code = "network"
	// CodeNoCompactor: a compaction is needed, and nobody is there to make it.
	CodeNoCompactor Code = "no_compactor"
	// CodeConflict: what was to be changed has changed meanwhile: the part of
	// the session that a compaction is about, or a stored value.
	CodeConflict Code = "conflict"
	// CodeBusy: a turn is running, or a decision of the operator is awaited.
	CodeBusy Code = "busy"
	// CodeCommit: the result could not be stored.
	CodeCommit Code = "commit"
	// CodeQuarantined: the plugin or the model failed too often in a row, and is
	// not called for a while.
	CodeQuarantined Code = "quarantined"
	// CodeContextLength: a model's provider says that the request does not fit.
	CodeContextLength Code = "context_length"
	// CodeRateLimited: a model's provider wants fewer requests, or tokens, in
	// that time.
	CodeRateLimited Code = "rate_limited"
	// CodeOverloaded: a model's provider is down or has too much to do.
	CodeOverloaded Code = "overloaded"
	// CodeUnauthorized: a model's provider does not take the key, or not for
	// that model.
	CodeUnauthorized Code = "unauthorized"
	// CodeBadSummary: a model or a plugin answered with what cannot stand for messages.
	CodeBadSummary Code = "bad_summary"
	// CodeNotRecorded: host calls are replayed, and this one is not in the
	// recording.
	CodeNotRecorded Code = "not_recorded"
	// CodeState: what was to be remembered could not be stored, or what is stored
	// is missing or damaged.
	CodeState Code = "state"
	// CodeInternal: a fault of the host itself.
	CodeInternal Code = "internal"
)

// Phase says where in the life of a call a failure happened.
type Phase string

const (
	PhaseLoad        Phase = "load"        // reading, vetting, compiling, linking
	PhaseInstantiate Phase = "instantiate" // start section, _initialize
	PhaseCall        Phase = "call"        // the hook itself
	PhaseOutput      Phase = "output"      // reading and decoding what it answered
	PhaseCheck       Phase = "check"       // the firewall
	PhaseCommit      Phase = "commit"
)

// Error is the one error type of the ABI. It marshals into reports, records
// and the audit log.
type Error struct {
	Code Code `json:"code"`
	// Op is what was being done: "load", "call", "decode output", ...
	Op string `json:"op,omitempty"`
	// Plugin, Hook and Phase say where, as far as they apply.
	Plugin string `json:"plugin,omitempty"`
	Hook   Hook   `json:"hook,omitempty"`
	Phase  Phase  `json:"phase,omitempty"`
	// Message is what happened, for a person: lower case, no full stop.
	Message string `json:"message"`
	// Hint is what to do about it.
	Hint string `json:"hint,omitempty"`
	// Err is the cause. It is not marshaled; Message says what matters of it.
	Err error `json:"-"`
}

// Error is "plugin: hook: op: message".
func (e *Error) Error() string {
	var b strings.Builder
	for _, s := range []string{e.Plugin, string(e.Hook), e.Op} {
		if s != "" {
			b.WriteString(s)
			b.WriteString(": ")
		}
	}
	switch {
	case e.Message != "":
		b.WriteString(e.Message)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	default:
		b.WriteString(string(e.Code))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches another *Error that has the same code and nothing else, so that
// errors.Is(err, &abi.Error{Code: abi.CodeTrap}) asks for a code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *t == Error{Code: e.Code}
}

// At returns a copy that says where it happened, as far as e does not say so
// itself.
func (e *Error) At(plugin string, hook Hook, phase Phase) *Error {
	at := *e
	at.Plugin, at.Hook, at.Phase = cmp.Or(e.Plugin, plugin), cmp.Or(e.Hook, hook), cmp.Or(e.Phase, phase)
	return &at
}

// CodeOf returns the code of the first *Error in err's chain, CodeInternal for
// any other error and the empty code for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// AsError returns the first *Error in err's chain, or one of CodeInternal that
// wraps err. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error(), Err: err}
}
