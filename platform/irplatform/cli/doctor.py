"""`platform doctor`: check the installation."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import command
from irplatform.cli.output import json_option, print_json, print_rows
from irplatform.errors import PlatformError, in_a_line, one_line
from irplatform.files.code_digests import distributions_of_packages
from irplatform.files.writing import home
from irplatform.registry.loading import registry
from irplatform.system.arithmetic import portable
from irplatform.system.console import say_text
from irplatform.system.packages import CORE, EXTRAS, absent, failure, how_to_install, package_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TESTED = ((3, 11), (3, 13))
_PROCESSORS = {"x86_64": "tested", "aarch64": "tested under emulation"}
"""Processors under Linux that `make test` and `make test-arm` run on."""
_GIB = 2**30
_LEAST_FREE = 5 * _GIB
OK, ABSENT, WRONG = "ok", "-", "WRONG"


@dataclass(frozen=True)
class Finding:
    """One thing checked: its state, what was found, and how to fix it."""

    subject: str
    state: str
    found: str
    advice: str = ""


@command("platform doctor")
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check the installation, and say how to fix what is missing.

    Imports the packages of all extras, which takes some seconds. Nothing is downloaded. The exit
    code is 1 if something is wrong; a missing extra is not wrong.
    """
    findings = list(_findings())
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        rows = []
        for finding in findings:
            advice = f" {finding.advice}" if finding.advice else ""
            rows.append((finding.state, finding.subject, finding.found + advice))
        print_rows(rows)
        wrong = sum(finding.state == WRONG for finding in findings)
        say_text(f"{wrong} wrong." if wrong else "Nothing is wrong.")
    context.exit(any(finding.state == WRONG for finding in findings))


def _findings() -> Iterator[Finding]:
    yield machine()
    yield _python()
    names = dict(distributions_of_packages())
    yield _packages("core", CORE, names)
    for extra, modules in EXTRAS.items():
        yield _packages(f"extra {extra}", modules, names)
    yield _lucene()
    if not absent("torch"):
        yield _torch()
    if not absent("scispacy"):
        yield _models()
    yield _cache()
    for plugin in registry().plugins:
        if plugin.error or plugin.wrong or plugin.failed:
            reasons = filter(None, [plugin.error, plugin.wrong, plugin.failed])
            remedy = "Switch it off" if plugin.is_builtin else "Ask its author, or switch it off"
            advice = f"{remedy}: IRPLATFORM_PLUGINS=-{plugin.name}."
            yield Finding(f"plugin {plugin.name}", WRONG, one_line("; ".join(reasons)), advice)
    sound = [
        p.name if p.is_builtin else f"{p.name} (for irplatform {p.contract or 'of any version'})"
        for p in registry().plugins
        if not (p.error or p.wrong or p.failed)
    ]
    yield Finding("plugins", OK, ", ".join(sound))


def machine() -> Finding:
    """Return whether the platform is tested on this kind of machine."""
    system, processor = platform.system(), platform.machine()
    detail = f"{'macOS' if system == 'Darwin' else system} on {processor}"
    if system == "Windows":
        return Finding("machine", WRONG, f"{detail}: not supported.", "Use it in WSL, a Linux.")
    if system != "Linux" or processor not in _PROCESSORS:
        advice = "`make test` shows if it does; scores may differ in their last digits."
        return Finding("machine", ABSENT, f"{detail}: not tested, should work.", advice)
    kind = "portable" if portable() else "native"
    return Finding("machine", OK, f"{detail}: {_PROCESSORS[processor]}; {kind} arithmetic")


def _python() -> Finding:
    version = f"{platform.python_version()} in {sys.prefix}"
    if _TESTED[0] <= sys.version_info[:2] <= _TESTED[1]:
        return Finding("Python", OK, version)
    advice = "The platform is tested on 3.11 to 3.13: gensim and ir-measures do not work on 3.14."
    return Finding("Python", WRONG, version, advice)


def _packages(subject: str, modules: Sequence[str], names: dict[str, Sequence[str]]) -> Finding:
    missing = absent(*modules)
    inner = {m: [package_of(m)] for m in modules if "." in m and m not in missing}
    versions = [
        f"{package} {metadata.version(package)}"
        for module in modules
        for package in (names | inner).get(module, ())[:1]
    ]
    for module in modules:
        if module not in missing and (failed := failure(module)):
            package, reason = failed
            detail = f"{package} fails while it is imported: {reason}."
            advice = f"Install it again: pip install --force-reinstall {package}"
            return Finding(subject, WRONG, detail, advice)
    if not missing:
        return Finding(subject, OK, ", ".join(versions))
    detail = ", ".join([*versions, f"without {', '.join(map(package_of, missing))}."])
    if modules is CORE:
        return Finding(subject, WRONG, detail, f"Run {how_to_install(missing)}.")
    return Finding(subject, ABSENT, detail, f"If you need it: {how_to_install(missing)}")


def _lucene() -> Finding:
    """Start Java, and index and find three documents."""
    from irplatform.lucene.java import (
        INSTALL,
        find_runtime,
        is_here,
        lucene_version,
        runtime_version,
    )

    try:
        runtime = find_runtime()
        java = f"Java {runtime_version(runtime)} in {runtime}"
        if not is_here():
            advice = f"The first search fetches it; or run {INSTALL}."
            return Finding("Lucene", ABSENT, f"{java}; Lucene is not here yet.", advice)
        results = _search()
    except PlatformError as error:
        return Finding("Lucene", WRONG, str(error))
    except Exception as error:
        advice = "Set JAVA_HOME to another Java of version 21 or newer, or unset it."
        return Finding("Lucene", WRONG, f"{java} failed: {in_a_line(error)}.", advice)
    if results != ["2"]:
        return Finding("Lucene", WRONG, f"{java} found {results} where document 2 was right.")
    return Finding("Lucene", OK, f"Lucene {lucene_version()} on {java}: indexed and searched")


def _search() -> list[str]:
    from irplatform.data import Document
    from irplatform.lucene import LuceneIndex
    from irplatform.lucene.java import java_class
    from irplatform.lucene.transfer import to_record

    texts = ("melanoma", "vemurafenib in melanoma", "liposarcoma")
    records = [to_record(Document(str(number), text)) for number, text in enumerate(texts, 1)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["-input", "", "-collection", "JsonCollection", "-index", folder]
        indexer = java_class("io.anserini.index.SimpleIndexer")([*arguments, "-storeRaw"])
        indexer.addRawDocuments(records)
        indexer.close()
        with closing(LuceneIndex.open(Path(folder))) as index:
            return list(index.search({"q": "vemurafenib"}, 10)["q"].doc_ids)


def _torch() -> Finding:
    try:
        import torch

        cuda = torch.cuda.is_available()
        names = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
        gpu = f"cuda: {', '.join(names)}" if cuda else "no CUDA"
        mps = "; mps" if torch.backends.mps.is_available() else ""
    except Exception as error:  # a damaged library
        return Finding("devices", WRONG, f"torch: {in_a_line(error)}.", "Install torch again.")
    return Finding("devices", OK, f"cpu with {os.cpu_count()} cores; {gpu}{mps}")


def _models() -> Finding:
    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.pipeline import model_name

    model = model_name(ConceptOptions())
    detail = f"scispaCy's model {model}" if model else "no scientific model: names are matched"
    return Finding("concepts", OK, detail)


def _cache() -> Finding:
    folder = home()
    ancestor = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(ancestor).free
    detail = f"{folder}, {free / _GIB:,.0f} GiB free"
    if not os.access(ancestor, os.W_OK):
        return Finding("cache", WRONG, detail, "It cannot be written: set IRPLATFORM_HOME.")
    if free < _LEAST_FREE:
        return Finding("cache", WRONG, detail, "`platform cache remove` makes room.")
    return Finding("cache", OK, detail)
