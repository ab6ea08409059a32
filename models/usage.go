package models

import "github.com/kagewasm/kagewasm/abi"

// Usage is what one call used, in tokens, split the way it is billed. Its
// fields are those of tokens.Usage, so that one converts to the other.
type Usage struct {
	// Input is the input that came neither from the cache nor went into it.
	Input      int
	Output     int
	CacheRead  int
	CacheWrite int
}

func usageOf(r abi.ModelResponse) Usage {
	return Usage{
		Input:      max(0, r.InputTokens-r.CacheReadTokens-r.CacheWriteTokens),
		Output:     r.OutputTokens,
		CacheRead:  r.CacheReadTokens,
		CacheWrite: r.CacheWriteTokens,
	}
}
