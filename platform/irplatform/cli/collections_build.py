"""`platform collections build`: collections made from published data or other collections."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irplatform.building.pubmed_articles import MISSING_FILE
from irplatform.cli.commands import Command, Group, with_options
from irplatform.cli.names import COLLECTION
from irplatform.cli.options import PATH, NamedPath, flag_option, number_option, seed_option
from irplatform.cli.output import json_option, print_json
from irplatform.collections.names import BUILDERS
from irplatform.errors import counted
from irplatform.system.console import say_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from irplatform.cli.commands import Declared

_FILE = NamedPath(exists=True, dir_okay=False, path_type=Path)
_eutils_options = with_options(
    click.option("--email", help="Your e-mail address. NCBI writes to it before blocking a user."),
    click.option(
        "--rate", type=float, help="Calls per second.  [default: 3; 10 with NCBI_API_KEY]"
    ),
)
_dry_run_option = flag_option("--dry-run", text="Only show what would be fetched.")
_pool_options = with_options(
    with_options(
        click.option(
            "--topics", type=_FILE, help="This year's topics (XML), instead of a download."
        ),
        click.option(
            "--qrels",
            type=_FILE,
            help="This year's judgments (4 columns), instead of a download. The other year is "
            "then left out unless you give its files too.",
        ),
        click.option(
            "--sampled-qrels", type=_FILE, help="This year's sampled judgments (5 columns)."
        ),
        group="This year",
    ),
    with_options(
        click.option("--partner-topics", type=_FILE, help="Topics of the other year."),
        click.option("--partner-qrels", type=_FILE, help="Judgments of the other year."),
        click.option(
            "--partner-sampled-qrels", type=_FILE, help="Sampled judgments of the other year."
        ),
        flag_option(
            "--alone",
            text="Leave out the other year; rerankers are then cross-validated on this year's "
            "topics.",
        ),
        group="The other year, used for training",
    ),
    with_options(
        click.option(
            "--extra-abstracts",
            type=NamedPath(exists=True, path_type=Path),
            help="The track's conference abstracts: extra_abstracts.tar.gz or a folder.",
        ),
        flag_option(
            "--no-extra-abstracts",
            text="Leave out conference abstracts (one judged document in thirteen).",
        ),
        _eutils_options,
        group="Documents",
    ),
    with_options(
        click.option("--out", type=PATH, help="The folder to create.  [default: in the cache]"),
        _dry_run_option,
        json_option,
        group="Output",
    ),
)


@click.group(cls=Group)
def build() -> None:
    """Build a collection from published data or from another collection."""


def _out_option(text: str = "The folder to create.") -> Callable[[Declared], Declared]:
    return click.option("--out", type=PATH, required=True, help=text)


def _pool_command(year: int) -> click.Command:
    name = f"trec-pm-pool-{year}"

    def command(**options: Any) -> None:
        _build_pool(year, options)

    command.__doc__ = f"""Build {BUILDERS[name]}.

    Fetches them from PubMed under the collection name {name}. The other year's judged documents
    are included, because its topics train rerankers for this one. If interrupted, run the same
    command again to continue.
    """
    example = f"platform collections build {name} --email you@example.org"
    return click.command(name, cls=Command, examples=[example])(_pool_options(command))


def _build_pool(year: int, options: dict[str, Any]) -> None:
    from irplatform.building.pm_pool import PoolSettings, build_pool, preview
    from irplatform.building.pm_sources import TrackFiles

    names = ("topics", "qrels", "sampled_qrels")
    settings = PoolSettings(
        year,
        out=options["out"],
        email=options["email"],
        rate=options["rate"],
        files=TrackFiles(*(options[name] for name in names)),
        partner=TrackFiles(*(options[f"partner_{name}"] for name in names)),
        alone=options["alone"],
        extra_abstracts=options["extra_abstracts"],
        download_extra=not options["no_extra_abstracts"],
    )
    if options["dry_run"]:
        lines = preview(settings)
        if options["as_json"]:
            print_json({"collection": settings.name, "would_fetch": lines})
        else:
            say_text("\n".join(lines))
        return
    report = build_pool(settings)
    if options["as_json"]:
        print_json(report.facts())
    else:
        say_text("\n".join(report.lines()))


for _year in (2017, 2018):
    build.add_command(_pool_command(_year))


@build.command(
    "pubmed-articles",
    examples=["platform collections build pubmed-articles --qrels qrels.txt --out articles"],
)
@click.option(
    "--qrels",
    multiple=True,
    required=True,
    type=PATH,
    help="A file of judgments whose documents are PMIDs (TREC, BEIR or BioASQ); repeat for "
    "several.",
)
@_out_option()
@_eutils_options
@_dry_run_option
@json_option
def pubmed_articles(
    qrels: tuple[Path, ...],
    out: Path,
    email: str | None,
    rate: float | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Fetch the PubMed articles that judgments name.

    The articles are the documents of a closed pool: name their files under [documents] in a
    collection.toml. If interrupted, run the same command again to continue.
    """
    from irplatform.building.pubmed_articles import build_articles, preview
    from irplatform.files.formats import toml_value

    if dry_run:
        lines = preview(qrels, out, email=email, rate=rate)
        if as_json:
            print_json({"would_fetch": lines})
        else:
            say_text("\n".join(lines))
        return
    fetched = build_articles(qrels, out, email=email, rate=rate)
    files = [str(out / name) for name in fetched.files]
    if as_json:
        print_json({**asdict(fetched), "path": str(out), "files": files})
        return
    say_text(f"{counted(fetched.documents, 'document')} in {out}")
    if fetched.chapters:
        say_text(f"of these, book chapters and books: {fetched.chapters:,}")
    if fetched.missing:
        number = counted(len(fetched.missing), "judged document")
        say_text(f"not there: {number}, see {out / MISSING_FILE}")
    say_text(
        "Use them in a collection.toml of the current folder:\n"
        f"[documents]\nfiles = {toml_value(files)}\n"
        f"fields = {toml_value(list(fetched.fields))}"
    )


@build.command("mesh", examples=["platform collections build mesh --from demo --out demo-mesh"])
@click.option(
    "--from", "source", required=True, type=COLLECTION, help="The collection to take articles from."
)
@_out_option("The folder to create (BEIR layout).")
@number_option(
    "--queries",
    default=20000,
    least=10,
    text="Articles to turn into queries, split 8:1:1 into train, dev and test.",
)
@seed_option("Random seed for choosing the articles.")
@json_option
def mesh(source: str, out: Path, queries: int, seed: int, as_json: bool) -> None:
    """Build MeSH-term queries: the headings of an article, which is the relevant document.

    The folder has the documents without their headings, and the splits train, dev and test.
    """
    from irplatform.collections.derived import build_mesh
    from irplatform.registry.loading import registry

    collection = registry().documents_of(source)
    counted_queries, shared = build_mesh(collection.corpus, out, count=queries, seed=seed)
    if as_json:
        print_json(
            {
                "collection": f"{out}:test",
                "path": str(out),
                "from": collection.id,
                "queries": counted_queries,
                "shared": shared,
            }
        )
        return
    counts = ", ".join(f"{name} {number:,}" for name, number in counted_queries.items())
    say_text(f"MeSH-term queries of {collection.id} in {out}: {counts}")
    if shared:
        say_text(f"{shared:,} of them are answered by several articles with these headings.")
    say_text(f"Use it: platform run --collection {out}:test")


@build.command(
    "new-documents", examples=["platform collections build new-documents --from demo --out halves"]
)
@click.option(
    "--from",
    "source",
    required=True,
    type=COLLECTION,
    help="A collection that has a training partner.",
)
@_out_option("The folder to create, with subfolders learn and test (BEIR layout).")
@seed_option("Random seed for choosing the documents.")
@json_option
def new_documents(source: str, out: Path, seed: int, as_json: bool) -> None:
    """Split a collection in two, to test on documents that were not used in training.

    One half of the documents goes to the training topics, the other half to the test topics.
    """
    from irplatform.collections.derived import build_new_documents
    from irplatform.registry.loading import registry

    collection = registry().collection(source)
    counts = build_new_documents(collection, out, seed=seed)
    if as_json:
        print_json({"path": str(out), "from": collection.id, "documents": counts})
        return
    say_text(
        f"{counts['learn']:,} documents of {collection.id} to learn from, {counts['test']:,} to "
        f"test in {out}"
    )
    say_text(
        f"Use them: platform train --collection {out}/learn:train --reranker NAME --out FOLDER\n"
        f"          platform run --collection {out}/test --reranker NAME --checkpoint FOLDER"
    )
