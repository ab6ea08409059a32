"""Compaction of hermes by kagewasm, as its context engine. What fails here leaves the messages as they are."""

import logging
import subprocess

from agent.context_engine import ContextEngine

from .ask import compact

log = logging.getLogger(__name__)


class KagewasmEngine(ContextEngine):
    last_prompt_tokens = 0
    last_completion_tokens = 0
    last_total_tokens = 0
    threshold_percent = 0.75
    context_length = 128_000
    threshold_tokens = 96_000
    compression_count = 0
    session_id = ""

    @property
    def name(self):
        return "kagewasm"

    def on_session_start(self, session_id="", **_):
        self.session_id = session_id

    def update_model(self, model, context_length, *_, **__):
        self.context_length = context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)

    def update_from_response(self, usage):
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)
        self.last_completion_tokens = usage.get("completion_tokens", 0)
        self.last_total_tokens = usage.get("total_tokens", 0)

    def should_compress(self, prompt_tokens=None):
        return (prompt_tokens or self.last_prompt_tokens) >= self.threshold_tokens

    def compress(self, messages, current_tokens=None, focus_topic=None, force=False, memory_context=""):
        try:
            compacted = compact(messages, self.session_id, self.context_length, focus_topic)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            log.warning("kagewasm did not compact: %s %s", error, getattr(error, "stderr", ""))
            return messages
        self.compression_count += 1
        return compacted


def register(ctx):
    ctx.register_context_engine(KagewasmEngine())
