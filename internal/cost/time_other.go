//go:build !unix

package cost

import "time"

var start = time.Now()

// processorTime is no less than what the process has taken so far.
func processorTime() time.Duration { return time.Since(start) }
