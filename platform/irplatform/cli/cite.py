"""`platform cite`: BibTeX of what was used."""

from __future__ import annotations

import click

from irplatform.cli.commands import command
from irplatform.cli.output import json_option, print_json
from irplatform.system.console import notice, say


@command("platform cite runs/demo/delta.run", "platform cite delta bm25 nfcorpus.toml > used.bib")
@click.argument("names", nargs=-1, required=True)
@json_option
def cite(names: tuple[str, ...], as_json: bool) -> None:
    """Print BibTeX of the systems, collections and tools that runs used.

    NAMES are run files with their metadata, folders of them, retrievers, rerankers, feature groups
    and collections.
    """
    from irplatform import cite as references_of
    from irplatform.analysis.cite import as_bibtex

    references = references_of(names)
    if as_json:
        entries = [{"key": r.key, "for": list(r.used_for), "bibtex": r.entry} for r in references]
        print_json({"references": entries})
    elif references:
        say(as_bibtex(references).rstrip("\n"))
    else:
        notice("nothing is cited: neither systems nor collections name a paper.")
