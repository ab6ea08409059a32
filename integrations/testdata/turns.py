"""Drives the context engine as hermes does around turns: it is told of a turn, asked before the next one's first call
whether to compress, and then told to."""
import json, sys

from hermes import engine, messages  # which loads the plugin

engine.threshold_tokens = 10**9  # the session is not too long by itself
engine.on_session_start("hermes-turns")
engine.on_turn_complete(messages, None, interrupted=True)
interrupted = engine.telling is not None
early = engine.should_compress_preflight(messages)
engine.on_turn_complete(messages, {"prompt_tokens": 1000}, turn_id="1")
engine.on_session_end("hermes-turns", messages)  # waits for what goes on behind
wanted, due = engine.should_compress_preflight(messages), engine.should_compress(1000)
left = engine.compress(messages, current_tokens=1000)
again = engine.should_compress(1000)
print(json.dumps({"interrupted": interrupted, "early": early, "wanted": wanted, "due": due, "left": left, "again": again}))
