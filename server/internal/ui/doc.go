// Package ui is the pages of an operator: what happens to the context of each session,
// what a compaction took and what stands for it, and every way to steer, judge and undo
// it. [New] makes the handler, which package server puts behind its checks of token, name
// and origin.
//
// Pages are HTML that the server renders; a script only refreshes parts of them as events
// arrive, and takes dropped files. Everything that changes something is a POST of a form
// and works without the script. What sessions say is hostile: it reaches a page through
// html templates and the function text alone.
package ui
