"""Compaction of hermes by kagewasm, as its context engine. What fails here leaves the messages as they are."""

import logging
import threading
import time

from agent.context_engine import ContextEngine

from .ask import FAILURES, PATIENCE, compact, turn_ended

log = logging.getLogger(__name__)

SILENCE = 300  # seconds in which nobody is asked again who listens to ends of turns


class KagewasmEngine(ContextEngine):
    last_prompt_tokens = 0
    last_completion_tokens = 0
    last_total_tokens = 0
    threshold_percent = 0.75
    context_length = 128_000
    threshold_tokens = 96_000
    compression_count = 0
    session_id = ""
    wanted = None  # the compaction that a plugin wants, with its reason and instructions
    silent_until = 0.0
    telling = None  # the thread that tells of the end of a turn

    @property
    def name(self):
        return "kagewasm"

    def on_session_start(self, session_id="", **_):
        self.session_id, self.wanted = session_id, None

    def update_model(self, model, context_length, *_, **__):
        self.context_length = context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)

    def update_from_response(self, usage):
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)
        self.last_completion_tokens = usage.get("completion_tokens", 0)
        self.last_total_tokens = usage.get("total_tokens", 0)

    def should_compress(self, prompt_tokens=None):
        return self.wanted is not None or (prompt_tokens or self.last_prompt_tokens) >= self.threshold_tokens

    def should_compress_preflight(self, messages):
        return self.wanted is not None

    def on_turn_complete(self, messages, usage=None, **how):
        """Tells plugins in the background. What one of them wants is done before the next turn's first call."""
        busy = self.telling is not None and self.telling.is_alive()
        if how.get("interrupted") or how.get("failed") or busy or time.monotonic() < self.silent_until:
            return
        about = (list(messages), self.session_id, self.context_length)
        self.telling = threading.Thread(target=self._tell, args=about, daemon=True)
        self.telling.start()

    def _tell(self, *about):
        try:
            ended = turn_ended(*about)
        except FAILURES as error:
            log.debug("kagewasm did not hear of a turn: %s", error)
            ended = {"listening": False}
        if not ended["listening"]:
            self.silent_until = time.monotonic() + SILENCE
        wanted = ended.get("wanted")
        if wanted and wanted["reason"] in ("plugin", "agent") and about[1] == self.session_id:
            self.wanted = wanted

    def on_session_end(self, session_id, messages):
        if self.telling is not None:
            self.telling.join(PATIENCE)

    def on_session_reset(self):
        super().on_session_reset()
        self.wanted = None

    def compress(self, messages, current_tokens=None, focus_topic=None, force=False, memory_context=""):
        wanted, self.wanted = self.wanted or {}, None
        instructions = focus_topic or wanted.get("instructions")
        reason = None if focus_topic else wanted.get("reason", None if force else "threshold")
        try:
            compacted = compact(messages, self.session_id, self.context_length, instructions, reason)
        except FAILURES as error:
            log.warning("kagewasm did not compact: %s %s", error, getattr(error, "stderr", ""))
            return messages
        self.compression_count += 1
        return compacted


def register(ctx):
    ctx.register_context_engine(KagewasmEngine())
