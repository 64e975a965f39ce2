"""Machines that judge: a chat model (`llm`), and a cross-encoder with thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.plugin import hookimpl

if TYPE_CHECKING:
    from irplatform.plugin import Judge


@hookimpl
def register_judges(register: Judge.Register) -> None:
    """The judges `llm` and `cross-encoder`."""
    register("llm", "irplatform_judges.llm:LanguageModel")
    register("cross-encoder", "irplatform_judges.crossencoder:CrossEncoderJudge")
