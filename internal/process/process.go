// Package process names a process, so that another one on the same machine can tell later whether it is still there.
package process

import "sync"

// Self names this process; it is empty where the system does not tell processes apart for sure.
var Self = sync.OnceValue(self)

// Gone reports whether a process that was named is known to have ended: it ran on this machine, since it was started,
// where this process sees it. What is not known is not gone.
func Gone(name string) bool { return name != "" && gone(name) }
