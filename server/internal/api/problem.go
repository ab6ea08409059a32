package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
)

// Problem is an error as clients are told of it: RFC 9457, with a code to branch on.
type Problem struct {
	Type   string `json:"type,omitempty" doc:"always about:blank: the code says what it is"`
	Title  string `json:"title" doc:"the status in words"`
	Status int    `json:"status"`
	// Code is that of an abi.Error, or one of HTTP alone: not_found, host,
	// origin, invalid.
	Code   abi.Code `json:"code" doc:"what to branch on"`
	Detail string   `json:"detail" doc:"what happened"`
	Hint   string   `json:"hint,omitempty" doc:"what to do about it"`
	// Errors are the faults of a request that is not what the description says.
	Errors []*huma.ErrorDetail `json:"errors,omitempty"`
}

func (p *Problem) Error() string             { return p.Detail }
func (p *Problem) GetStatus() int            { return p.Status }
func (p *Problem) ContentType(string) string { return "application/problem+json" }

var _ huma.StatusError = (*Problem)(nil)

// statuses are those of the codes of errors; all others are 500.
var statuses = map[abi.Code]int{
	abi.CodeUsage: http.StatusUnprocessableEntity, abi.CodeBadInput: http.StatusBadRequest,
	abi.CodeConflict: http.StatusConflict, abi.CodeBusy: http.StatusConflict, abi.CodeDenied: http.StatusForbidden,
	abi.CodeExceedsWindow: http.StatusUnprocessableEntity, abi.CodeContextLength: http.StatusUnprocessableEntity,
	abi.CodeNoCompactor: http.StatusUnprocessableEntity, abi.CodeRefused: http.StatusUnprocessableEntity,
	abi.CodeCanceled: http.StatusServiceUnavailable, abi.CodeState: http.StatusServiceUnavailable,
	abi.CodeCommit: http.StatusServiceUnavailable, abi.CodeModel: http.StatusBadGateway,
	abi.CodeNetwork: http.StatusBadGateway, abi.CodeRateLimited: http.StatusBadGateway,
	abi.CodeOverloaded: http.StatusBadGateway, abi.CodeUnauthorized: http.StatusBadGateway,
}

// problemOf is an error for a client, nil for none. What nobody expected tells nothing of
// the inside.
func problemOf(err error) error {
	if err == nil {
		return nil
	}
	e := abi.AsError(err)
	p := &Problem{Status: cmp.Or(statuses[e.Code], http.StatusInternalServerError), Code: e.Code, Detail: e.Error(),
		Hint: e.Hint}
	switch {
	case errors.Is(err, service.ErrUnknown):
		p.Status, p.Code = http.StatusNotFound, codeNotFound
	case errors.Is(err, service.ErrVersion):
		p.Status, p.Code = http.StatusPreconditionFailed, abi.CodeConflict
	}
	p.Title = http.StatusText(p.Status)
	if p.Status == http.StatusInternalServerError {
		p.Detail, p.Hint = "internal error", "the server's log says more"
		return &inner{p, err}
	}
	return p
}

// inner is a problem with a cause that is for the log alone.
type inner struct {
	*Problem
	cause error
}

func (i *inner) Unwrap() error { return i.cause }

const (
	codeNotFound abi.Code = "not_found"
	codeInvalid  abi.Code = "invalid"
)

// ownProblems has huma say what is wrong with a request in the same form. Its way of
// being told is a variable of the package.
var ownProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		p := &Problem{Title: http.StatusText(status), Status: status, Code: codeInvalid, Detail: msg}
		switch status {
		case http.StatusNotFound:
			p.Code = codeNotFound
		case http.StatusBadRequest:
			p.Code = abi.CodeBadInput // a body that cannot be read at all
		}
		for _, err := range errs {
			var d huma.ErrorDetailer
			if errors.As(err, &d) {
				detail := *d.ErrorDetail()
				detail.Value = nil // a body of megabytes is not sent back
				p.Errors = append(p.Errors, &detail)
			} else if err != nil {
				p.Errors = append(p.Errors, &huma.ErrorDetail{Message: err.Error()})
			}
		}
		return p
	}
})

// WriteProblem answers with a problem; its title follows from the status.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	p.Title = http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// ProblemOf is an error as pages tell of it.
func ProblemOf(err error) *Problem {
	p := problemOf(err)
	if cause, ok := p.(*inner); ok {
		return cause.Problem
	}
	return p.(*Problem)
}
