package modeltest

import (
	"cmp"
	"net/http"

	"github.com/kagewasm/kagewasm/abi"
)

func openaiAnswer(r Request, a Answer) object {
	resp := a.response(r.ModelRequest)
	message := object{"role": "assistant", "content": resp.Text, "refusal": nil}
	if a.Refusal != "" {
		message["content"], message["refusal"] = nil, a.Refusal
	}
	if a.Thinking != "" {
		message["reasoning_content"] = a.Thinking
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": resp.Model,
		"choices": []object{{"index": 0, "message": message, "logprobs": nil, "finish_reason": openaiStops[resp.StopReason]}},
		"usage": object{
			"prompt_tokens": resp.InputTokens, "completion_tokens": resp.OutputTokens,
			"total_tokens": resp.InputTokens + resp.OutputTokens,
			"prompt_tokens_details": object{
				"cached_tokens": resp.CacheReadTokens, "cache_write_tokens": resp.CacheWriteTokens, "audio_tokens": 0,
			},
			"completion_tokens_details": object{"reasoning_tokens": len(a.Thinking) / 4},
		},
	}
}

var openaiStops = map[abi.StopReason]string{
	abi.StopEnd: "stop", abi.StopLength: "length", abi.StopRefusal: "content_filter", abi.StopOther: "tool_calls",
}

func anthropicAnswer(r Request, a Answer) object {
	resp := a.response(r.ModelRequest)
	content := []object{}
	if a.Thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": a.Thinking, "signature": "c2lnbmF0dXJl"})
	}
	if resp.Text != "" {
		content = append(content, object{"type": "text", "text": resp.Text})
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": resp.Model,
		"content": content, "stop_reason": anthropicStops[resp.StopReason], "stop_sequence": nil,
		"usage": object{
			"input_tokens":                resp.InputTokens - resp.CacheReadTokens - resp.CacheWriteTokens,
			"cache_creation_input_tokens": resp.CacheWriteTokens,
			"cache_read_input_tokens":     resp.CacheReadTokens,
			"output_tokens":               resp.OutputTokens,
		},
	}
}

var anthropicStops = map[abi.StopReason]string{
	abi.StopEnd: "end_turn", abi.StopLength: "max_tokens", abi.StopRefusal: "refusal", abi.StopOther: "tool_use",
}

func ollamaAnswer(r Request, a Answer) object {
	resp := a.response(r.ModelRequest)
	message := object{"role": "assistant", "content": resp.Text}
	if a.Thinking != "" {
		message["thinking"] = a.Thinking
	}
	return object{
		"model": resp.Model, "created_at": "2026-01-01T00:00:00Z", "message": message,
		"done": true, "done_reason": ollamaStops[resp.StopReason],
		"total_duration": 1, "load_duration": 1, "prompt_eval_duration": 1, "eval_duration": 1,
		"prompt_eval_count": resp.InputTokens, "eval_count": resp.OutputTokens,
	}
}

var ollamaStops = map[abi.StopReason]string{
	abi.StopEnd: "stop", abi.StopLength: "length", abi.StopRefusal: "stop", abi.StopOther: "load",
}

// failure is the body of an error.
func failure(w Wire, status int, a Answer) object {
	message := a.message(w)
	switch w {
	case Ollama:
		return object{"error": message}
	case Anthropic:
		kind := cmp.Or(a.Code, anthropicTypes[status], "api_error")
		return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_1"}
	}
	code := a.Code
	if a.tooLong[1] > 0 {
		code = "context_length_exceeded"
	}
	return object{"error": object{
		"message": message, "type": cmp.Or(openaiTypes[status], "invalid_request_error"),
		"param": nil, "code": cmp.Or(code, openaiCodes[status], "error"),
	}}
}

var anthropicTypes = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	529:                              "overloaded_error",
}

var openaiTypes = map[int]string{
	http.StatusTooManyRequests:     "requests",
	http.StatusInternalServerError: "server_error",
	http.StatusServiceUnavailable:  "server_error",
}

var openaiCodes = map[int]string{
	http.StatusUnauthorized:    "invalid_api_key",
	http.StatusNotFound:        "model_not_found",
	http.StatusTooManyRequests: "rate_limit_exceeded",
}
