// Package devloop is the loop of somebody who writes a plugin. [Run] watches its
// folder, builds it on each change, surveys what it does to sessions, and says
// what is different from the last good round; [Once] makes one round.
package devloop
