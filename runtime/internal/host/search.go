package host

import (
	"context"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// search answers the op messages.search.
type search struct{ calls int }

// maxSearches is how many searches a call may make: each may look through a whole session.
const maxSearches = 64

func (s *search) find(ctx context.Context, c *Call, r abi.SearchRequest) (any, error) {
	switch s.calls++; {
	case strings.TrimSpace(r.Query) == "":
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "query is missing or empty"}
	case len(r.Query) > abi.MaxSearchQuery:
		return nil, quotaf("shorten it", "a query of %d bytes, %d allowed", len(r.Query), abi.MaxSearchQuery)
	case r.Limit < 0 || r.Limit > abi.MaxSearchLimit:
		return nil, quotaf("ask for fewer", "limit %d: 1 to %d", r.Limit, abi.MaxSearchLimit)
	case s.calls > maxSearches:
		return nil, quotaf("search for more at a time", "%d searches are allowed in one call", maxSearches)
	}
	none := abi.SearchResponse{Found: []abi.Recalled{}}
	in := c.Input.full()
	if in == nil || in.Search == nil {
		return none, nil
	}
	found, err := in.Search(ctx, r)
	Check(ctx)
	if err == nil && found.Found == nil {
		return none, nil
	}
	return found, err
}
