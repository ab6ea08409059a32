// Package modeltest is a model provider for tests: a server on loopback that
// speaks what real providers speak, and does what a script tells it to.
//
//	server := modeltest.New(t,
//		modeltest.Answer{Status: 429, Header: http.Header{"Retry-After": {"1"}}},
//		modeltest.Answer{Text: "## Goal\nFix the build."},
//	)
//	model, err := models.New(models.Config{Provider: "anthropic", BaseURL: server.URL(modeltest.Anthropic), ...})
//	...
//	asked := server.Requests()
//
// [New] answers from a list, [NewFunc] from a function of the request. One
// server speaks all wires at once: OpenAI Chat Completions, Anthropic Messages
// and Ollama's chat. The zero [Answer] is the text "ok" with made-up token
// counts.
//
// Where the wire does not matter, [Script] and [ScriptFunc] are models within
// the process, of the shape that package models, the runtime and the strategies
// use.
package modeltest
