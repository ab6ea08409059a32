// Package since tells the time that the reports of the kit give.
package since

import "time"

// MS is how long ago it was, in milliseconds.
func MS(begin time.Time) float64 { return float64(time.Since(begin).Microseconds()) / 1000 }
