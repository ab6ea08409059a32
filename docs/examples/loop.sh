#!/bin/sh
# The loop of an agent with curl, over the socket: no token is needed there.
set -eu
socket=${KAGEWASM_SOCKET:-${XDG_STATE_HOME:-$HOME/.local/state}/kagewasm/serve.sock}
api() { # METHOD PATH [BODY]
	curl -sS --fail-with-body --unix-socket "$socket" -X "$1" "http://localhost/api/v1$2" \
		-H 'Content-Type: application/json' ${3+--data-binary "$3"}
}

api POST /sessions '{"id":"from-curl","model":"gpt-4o"}' >/dev/null
api POST /sessions/from-curl/messages '{"messages":[{"role":"user","content":"Fix the parser."}]}' >/dev/null
api GET /sessions/from-curl/context # what to send to the model
echo
api POST /sessions/from-curl/messages '{"messages":[{"role":"assistant","content":"It is fixed."}]}' >/dev/null
api POST /sessions/from-curl/usage '{"input_tokens":12,"output_tokens":4}'

# Messages that are kept elsewhere come back in the form that they came in, with a report.
api POST /compact '{"messages":[{"role":"user","content":"Hello."}],"model":"gpt-4o"}'
echo
