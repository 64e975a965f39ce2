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
    if "irplatform_rankgpt.reranker" in sys.modules:  # it is imported when it is used
        from irplatform.kit import Chat

        Chat.tell_tally("rankgpt")
