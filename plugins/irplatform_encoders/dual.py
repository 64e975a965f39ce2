"""A small dual encoder on word vectors: a reranker, and a retriever through an index of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.plugin import RegisterReranker, RegisterResults, RegisterRetriever, hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """The reranker `dual-encoder`."""
    from irplatform_encoders.dual_ranking import DualEncoder

    register("dual-encoder", DualEncoder)


@hookimpl
def register_retrievers(register: RegisterRetriever) -> None:
    """The retriever `dual-encoder`."""
    from irplatform_encoders.dual_ranking import DualEncoderSearch

    register("dual-encoder", DualEncoderSearch)


@hookimpl
def register_results(register: RegisterResults) -> None:
    """What we measured, for `platform reproduce`."""
    register(Path(__file__).with_name("results-dual.toml"))


@hookimpl
def register_commands(cli: click.Group) -> None:
    """The command `headings`, which makes queries to pre-train on."""
    from irplatform_encoders.commands import heading_queries

    cli.add_command(heading_queries)
