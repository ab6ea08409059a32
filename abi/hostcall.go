package abi

import "encoding/json"

// Names of the two import modules a plugin may use beside WASI.
const (
	// ImportModule holds the bulk calls:
	//
	//	input_length() -> i32             length of the input in bytes
	//	input_read(ptr, offset, len i32) -> i32   copies input to guest memory, returns the bytes copied
	//	output_write(ptr, len i32) -> i32 appends to the output; 0, or -1 where the limit is reached
	//	error_write(ptr, len i32)         sets the error text
	//	host_call(op_ptr, op_len, req_ptr, req_len i32) -> i32   runs an op, returns the length of the response
	//	response_read(ptr, offset, len i32) -> i32   copies the last response, returns the bytes copied
	ImportModule = "kagewasm:host/env"
	// ExtismModule holds the calls of the Extism ABI, so that any Extism PDK
	// plugin loads.
	ExtismModule = "extism:host/env"
)

// Op is the name of a host call: host_call(op, request) -> response, JSON both
// ways.
type Op string

const (
	OpLog            Op = "log"                // LogRequest -> null
	OpKVGet          Op = "kv.get"             // KVRequest -> KVResponse
	OpKVSet          Op = "kv.set"             // KVRequest -> null
	OpKVDelete       Op = "kv.delete"          // KVRequest -> null
	OpKVList         Op = "kv.list"            // KVRequest (Key is the prefix) -> KVResponse
	OpTokensCount    Op = "tokens.count"       // TokensRequest -> TokensResponse
	OpMessagesGet    Op = "messages.get"       // MessagesRequest -> MessagesResponse
	OpMessagesSearch Op = "messages.search"    // SearchRequest -> SearchResponse
	OpRequestCompact Op = "compaction.request" // CompactionRequest -> null
	OpHTTP           Op = "http"               // HTTPRequest -> HTTPResponse
	OpModelComplete  Op = "model.complete"     // ModelRequest -> ModelResponse
)

// HostResponse is the envelope of every response: either the result or an
// error.
type HostResponse struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// LogRequest is the request of log.
type LogRequest struct {
	Level   LogLevel `json:"level"`
	Message string   `json:"message"`
}

// LogLevel is "debug", "info", "warn" or "error".
type LogLevel string

const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// KVRequest is the request of the kv ops. Keys are 1 to 512 bytes of UTF-8
// without control characters; "/" separates at most 16 segments, none of them
// empty, "." or ".."; see [CheckKey]. Values are text.
type KVRequest struct {
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	// Expect, for kv.set, is what the key has to hold: the value is stored in
	// the same step, or refused with [CodeConflict]. An empty text asks for an
	// empty value or none. Nil stores whatever the key holds.
	Expect *string `json:"expect,omitempty"`
}

// KVResponse answers kv.get (Found, Value) and kv.list (Keys, sorted).
type KVResponse struct {
	Found bool     `json:"found,omitempty"`
	Value string   `json:"value,omitempty"`
	Keys  []string `json:"keys,omitempty"`
}

// TokensRequest is the request of tokens.count, of at most [MaxRequestItems]
// texts.
type TokensRequest struct {
	Texts []string `json:"texts"`
}

// TokensResponse holds a count for each text.
type TokensResponse struct {
	Counts []int `json:"counts"`
}

// MessagesRequest is the request of messages.get. Each id is named once; all
// of the response has to fit what is left of the memory of the call.
type MessagesRequest struct {
	IDs []string `json:"ids"`
}

// MessagesResponse holds the messages in the order asked.
type MessagesResponse struct {
	Messages []InputMessage `json:"messages"`
}

// RetainedPrefix is where in a plugin's namespace the host stores what its
// hooks retain.
const RetainedPrefix = "retained/"
