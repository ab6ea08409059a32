// Package models calls language models: what summaries, and plugins that are granted a model, use.
// [New] makes an [abi.Model] of a [Config], and [NewSet] puts several behind aliases.
//
// The provider is openai (Chat Completions, which vLLM, OpenRouter, LiteLLM and most others speak at
// their own base URL), anthropic (Messages) or ollama (its native chat, the only one that takes the
// size of the context window). All three are spoken with net/http alone; internal/oracle compares what
// is sent and read with the official SDKs.
//
// A call is one request and one whole answer; nothing is streamed. It is tried again where that can
// help, waits no longer than [Config] says, reads no more than 16 MiB, and follows no redirect, since
// that would hand the key to another host. The answer says what it cost, which model answered, and why
// it stopped. An answer that was cut off or refused is no error: it was paid for, but it is not whole
// either.
//
// Errors are [abi.Error]. Their text has no key in it, whatever a server sends back.
//
//	context_length  the request does not fit; see [TooLong]
//	rate_limited    too many requests or tokens; see the hint for how long
//	overloaded      the provider is down or busy
//	unauthorized    the key is wrong, or not good for that model
//	network         the provider could not be reached, or broke off
//	deadline        no answer in time, canceled: the caller gave up
//	usage           the request or the configuration is impossible
//	model           anything else
//
// [TooLong] recognizes the first kind in errors from elsewhere too: a host that calls its model itself
// hands it to its session (session.Options.TooLong), which then compacts and has the call made once
// more.
//
// Nothing here reads the environment; prices and keys are handed in.
package models
