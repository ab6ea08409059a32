package abi

// Limits bound one call of a plugin. The zero value of a field means the
// default. A manifest may lower a limit; only the operator may raise one.
type Limits struct {
	// TimeoutMS is the wall clock in milliseconds, instantiation included.
	// Default 10,000; 300,000 where the plugin is granted a model call.
	TimeoutMS int `json:"timeout_ms,omitempty"`
	// MemoryMB is the memory in MiB. Default 64.
	MemoryMB int `json:"memory_mb,omitempty"`
	// OutputBytes is the length of the answer. Default 4 MiB.
	OutputBytes int `json:"output_bytes,omitempty"`
	// LogBytes is the length of all log lines. Default 64 KiB. What is over
	// is dropped, and the report says so.
	LogBytes int `json:"log_bytes,omitempty"`
	// ErrorBytes is the length of an error text. Default 4 KiB; longer ones
	// are cut.
	ErrorBytes int `json:"error_bytes,omitempty"`
	// HostCalls is how many host_calls are allowed. Default 10,000.
	HostCalls int `json:"host_calls,omitempty"`
	// HostCallBytes is what all requests and responses of host calls may hold
	// together. Default 64 MiB.
	HostCallBytes int `json:"host_call_bytes,omitempty"`
	// HTTPRequests is how many HTTP requests are allowed, each redirect being
	// one. Default 16.
	HTTPRequests int `json:"http_requests,omitempty"`
	// HTTPBytes is how long the body of one request, or of one response, may
	// be. Default 1 MiB.
	HTTPBytes int `json:"http_bytes,omitempty"`
	// ModelCalls is how many completions are allowed. Default 8.
	ModelCalls int `json:"model_calls,omitempty"`
	// Fuel is the budget of executed instructions, by weight. Default: none
	// but the clock.
	Fuel int64 `json:"fuel,omitempty"`
}

// DefaultLimits are the limits of a call where nobody says otherwise.
func DefaultLimits() Limits {
	return Limits{
		TimeoutMS:   10_000,
		MemoryMB:    64,
		OutputBytes: 4 << 20,
		LogBytes:    64 << 10,
		ErrorBytes:  4 << 10,
		HostCalls:   10_000,

		HostCallBytes: 64 << 20,
		HTTPRequests:  16,
		HTTPBytes:     1 << 20,
		ModelCalls:    8,
	}
}

// fields pairs every limit of l with its counterpart in m.
func (l *Limits) fields(m *Limits) [][2]*int {
	return [][2]*int{
		{&l.TimeoutMS, &m.TimeoutMS}, {&l.MemoryMB, &m.MemoryMB}, {&l.OutputBytes, &m.OutputBytes},
		{&l.LogBytes, &m.LogBytes}, {&l.ErrorBytes, &m.ErrorBytes}, {&l.HostCalls, &m.HostCalls},
		{&l.HostCallBytes, &m.HostCallBytes}, {&l.HTTPRequests, &m.HTTPRequests}, {&l.HTTPBytes, &m.HTTPBytes},
		{&l.ModelCalls, &m.ModelCalls},
	}
}

// Or returns l with the limits that are zero taken from def.
func (l Limits) Or(def Limits) Limits {
	for _, f := range l.fields(&def) {
		if *f[0] == 0 {
			*f[0] = *f[1]
		}
	}
	if l.Fuel == 0 {
		l.Fuel = def.Fuel
	}
	return l
}

// Lower returns l with the limits that m sets lower. The zero fields of l say
// nothing to compare with and stay: resolve l with [Limits.Or] first.
func (l Limits) Lower(m Limits) Limits {
	for _, f := range l.fields(&m) {
		if *f[1] > 0 && *f[1] < *f[0] {
			*f[0] = *f[1]
		}
	}
	if m.Fuel > 0 && (l.Fuel == 0 || m.Fuel < l.Fuel) {
		l.Fuel = m.Fuel
	}
	return l
}

// negative names a limit that is less than nothing, or returns "".
func (l Limits) negative() string {
	names := []string{"timeout_ms", "memory_mb", "output_bytes", "log_bytes", "error_bytes", "host_calls",
		"host_call_bytes", "http_requests", "http_bytes", "model_calls"}
	for i, f := range l.fields(&l) {
		if *f[0] < 0 {
			return names[i]
		}
	}
	if l.Fuel < 0 {
		return "fuel"
	}
	return ""
}

const (
	// MaxJSONDepth is how deep any document may nest.
	MaxJSONDepth = 64
	// MaxJSONNumber is how many characters a number may be written with.
	MaxJSONNumber = 64
	// MaxRetained is how many facts an output may retain; the host leaves out
	// the rest and says so.
	MaxRetained = 1_000
	// MaxOutputIDs is how many ids an output may name, in all its lists.
	MaxOutputIDs = 200_000
)
