"""A list-wise reranker: a chat model sorts passages, window by window (RankGPT).

The model is on a server that speaks OpenAI's chat API: vLLM, llama.cpp, Ollama, SGLang, or a paid
service.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from irplatform.plugin import RegisterReranker, RunEvent


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The reranker `rankgpt`."""
    register("rankgpt", "irplatform_rankgpt.reranker:RankGPT")


@hookimpl
def run_finished(event: RunEvent) -> None:
    """Tell how much a model was asked: paid services count tokens."""
    del event
    chat = sys.modules.get("irplatform.chat.client")
    if chat is None or not chat.Chat.tally["answers"]:
        return
    tally = chat.Chat.tally.copy()
    chat.Chat.tally.clear()
    parts = [f"{tally['answers']:,} answers, {tally['kept']:,} of them kept before"]
    parts += [
        f"{tally[what]:,} {what}" for what in ("repaired", "unusable", "cut off") if tally[what]
    ]
    if tally["prompt_tokens"]:
        read, written = tally["prompt_tokens"], tally["completion_tokens"]
        parts.append(f"{read:,} tokens read, {written:,} written")
    print(f"rankgpt: {', '.join(parts)}", file=sys.stderr)
