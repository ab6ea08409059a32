package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Set is models behind aliases. It is a [abi.Model] itself: the alias is
// ModelRequest.Model.
type Set struct {
	models   map[string]abi.Model
	fallback string
}

// NewSet returns a set of one model at least. fallback is the alias of requests
// that name none. Where it is empty it is the only model there is; with several
// such requests fail, as a guess could go to the wrong provider.
func NewSet(fallback string, models map[string]abi.Model) (*Set, error) {
	s := &Set{models: maps.Clone(models), fallback: fallback}
	for alias, m := range models {
		switch {
		case alias == "" || m == nil:
			return nil, configError("models", fmt.Errorf("%.80q: an alias and a model, please", alias))
		case len(models) == 1 && fallback == "":
			s.fallback = alias
		}
	}
	if len(models) == 0 {
		return nil, configError("models", errors.New("a set without a model"))
	}
	if s.fallback == "" {
		return s, nil
	}
	if _, err := s.Lookup(""); err != nil {
		return nil, err
	}
	return s, nil
}

// Aliases returns the aliases, sorted.
func (s *Set) Aliases() []string { return slices.Sorted(maps.Keys(s.models)) }

// Default is the alias of requests that name none, "" where these fail.
func (s *Set) Default() string { return s.fallback }

// Lookup returns the model behind an alias, or the default one for "". One
// that is not there is an [abi.Error] of CodeUsage.
func (s *Set) Lookup(alias string) (abi.Model, error) {
	if alias == "" {
		alias = s.fallback
	}
	if m, ok := s.models[alias]; ok {
		return m, nil
	}
	there := "there are: " + strings.Join(s.Aliases(), ", ")
	if alias == "" {
		return nil, &abi.Error{Code: abi.CodeUsage, Op: "model", Message: "no model is named, and of several none is the default",
			Hint: there + "; name one with model:"}
	}
	return nil, &abi.Error{Code: abi.CodeUsage, Op: "model", Message: fmt.Sprintf("alias %.80q: not configured", alias), Hint: there + "; name one with model:"}
}

// Complete asks the model that r names.
func (s *Set) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	m, err := s.Lookup(r.Model)
	if err != nil {
		return abi.ModelResponse{}, err
	}
	return m.Complete(ctx, r)
}
