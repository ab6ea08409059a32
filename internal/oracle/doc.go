// Package oracle has no code but tests: the official SDKs of OpenAI and
// Anthropic judge what package models sends and what it reads. Ollama has none
// to ask.
//
// It is a module of its own, so that nothing else builds or downloads the SDKs:
//
//	make oracle
package oracle
