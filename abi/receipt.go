package abi

// Receipt is what a compaction costs and saves.
type Receipt struct {
	// FreedTokens is what every following call is smaller by.
	FreedTokens int `json:"freed_tokens"`
	// LostPrefixTokens were in the provider's cache and have to be written
	// again or are gone; in a dry run those that would be. It is left out where
	// the compaction was not put in place, which only reports have a receipt of.
	LostPrefixTokens *int `json:"lost_prefix_tokens,omitempty"`
	// Unit of the following two: "usd", or "input_tokens" where the model's
	// prices are not known: then a cached token counts a tenth and one written
	// to the cache a quarter more than one.
	Unit string `json:"unit"`
	// Cost is paid once: the compactor's own calls, and the cache written again.
	Cost float64 `json:"cost"`
	// SavedPerCall is saved with every following call.
	SavedPerCall float64 `json:"saved_per_call"`
	// PaybackCalls is the number of calls after which the compaction has paid
	// for itself; -1 for never.
	PaybackCalls int `json:"payback_calls"`
}

// Units of a receipt.
const (
	UnitUSD         = "usd"
	UnitInputTokens = "input_tokens"
)
