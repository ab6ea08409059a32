package abi

// CallStats is what one call of a hook did and cost.
type CallStats struct {
	// Limits are what the call was held to, beside what it used.
	Limits Limits `json:"limits,omitzero"`
	// MS is the wall clock in milliseconds, instantiation included.
	MS float64 `json:"ms"`
	// Fuel is the weight of the instructions executed, instantiation included;
	// 0 where the engine does not count.
	Fuel int64 `json:"fuel"`
	// StackBytes is how deep calls nested, by the estimated size of their frames;
	// in steps of 64 KiB, rounded up. Compare it with the limit, which counts the
	// same way. The real stack is smaller: no frame is larger than its estimate,
	// and a usual one takes a tenth of it.
	StackBytes int64 `json:"stack_bytes"`
	// TableElements is how many elements all tables had in the end.
	TableElements int64 `json:"table_elements"`
	// PeakMemoryBytes is the most memory that the guest held, or that the host
	// took to read what the guest wrote, whichever was more.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	InputBytes      int   `json:"input_bytes"`
	OutputBytes     int   `json:"output_bytes"`
	// ErrorBytes is the length of the error text it set, LogBytes of what it
	// logged.
	ErrorBytes int `json:"error_bytes,omitempty"`
	LogBytes   int `json:"log_bytes,omitempty"`
	// HostCalls counts the host calls by op.
	HostCalls map[Op]int `json:"host_calls,omitempty"`
	// HostCallBytes is what their requests and responses held.
	HostCallBytes int64 `json:"host_call_bytes,omitempty"`
	// HTTPRequests counts the HTTP requests sent, redirects included, and
	// HTTPBytes what their bodies held, both ways.
	HTTPRequests int   `json:"http_requests,omitempty"`
	HTTPBytes    int64 `json:"http_bytes,omitempty"`
	// Model is what completions cost; nil where there was none.
	Model *ModelUsage `json:"model,omitempty"`
	// Logs are the lines the guest logged, oldest first; LogsDropped is how
	// many were over the limit.
	Logs        []LogRequest `json:"logs,omitempty"`
	LogsDropped int          `json:"logs_dropped,omitempty"`
	// Warnings are things that were wrong and did no harm, such as output
	// fields the host does not know.
	Warnings []string `json:"warnings,omitempty"`
	// Unstored is why something that the guest stored was not stored, or what it
	// keeps could not be read; nil where all went well. See [Output.Unstored].
	Unstored *Error `json:"unstored,omitempty"`
}

// ModelUsage is what the completions of one call took.
type ModelUsage struct {
	Calls        int `json:"calls"`
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// Cost in US dollars, as far as the host knows the prices.
	Cost float64 `json:"cost,omitempty"`
	// Model is the one that answered, the last where several did; empty where it is told elsewhere.
	Model string `json:"model,omitempty"`
}

// Unpriced reports whether nothing is known of what it cost.
func (u *ModelUsage) Unpriced() bool { return u.Cost == 0 && u.InputTokens+u.OutputTokens > 0 }
