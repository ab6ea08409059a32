package host

import (
	"context"

	"github.com/kagewasm/kagewasm/abi"
)

// compaction answers the op compaction.request. The last request counts.
type compaction struct{ asked *abi.CompactionRequest }

func (s *compaction) request(_ context.Context, _ *Call, r abi.CompactionRequest) (any, error) {
	s.asked = &r
	return nil, nil
}

// CompactionRequest is what the guest asked for with compaction.request, nil
// where it did not.
func (c *Call) CompactionRequest() *abi.CompactionRequest { return service[compaction](c).asked }
