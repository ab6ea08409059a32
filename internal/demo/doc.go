// Package demo holds the sessions under testdata to what tests and the README
// rely on: demo.jsonl is an afternoon of an agent at work on an invented Go
// project, small.jsonl a short piece of the same, chat.jsonl a conversation
// without tools, and hook-input.json the input of a hook. It has tests alone.
package demo
