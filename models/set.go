package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// set is models behind aliases.
type set struct {
	models   map[string]abi.Model
	fallback string
}

// NewSet puts models behind aliases: it returns a model that asks the one whose
// alias is ModelRequest.Model. An alias that is not there is an [abi.Error] of
// CodeUsage.
//
// fallback is the alias of requests that name none. Where it is empty they go
// to the only model there is; with several models they fail, as a guess could
// go to the wrong provider.
func NewSet(fallback string, models map[string]abi.Model) (abi.Model, error) {
	s := &set{models: maps.Clone(models), fallback: fallback}
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
	if _, err := s.lookup(""); err != nil {
		return nil, err
	}
	return s, nil
}

// lookup returns the model behind an alias, or the default one for "".
func (s *set) lookup(alias string) (abi.Model, error) {
	alias = cmp.Or(alias, s.fallback)
	if m, ok := s.models[alias]; ok {
		return m, nil
	}
	message := fmt.Sprintf("alias %.80q: not configured", alias)
	if alias == "" {
		message = "no model is named, and of several none is the default"
	}
	there := strings.Join(slices.Sorted(maps.Keys(s.models)), ", ")
	return nil, &abi.Error{
		Code: abi.CodeUsage, Op: "model", Message: message, Hint: "there are: " + there + "; name one with model:",
	}
}

// Complete asks the model that r names.
func (s *set) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	m, err := s.lookup(r.Model)
	if err != nil {
		return abi.ModelResponse{}, err
	}
	return m.Complete(ctx, r)
}
