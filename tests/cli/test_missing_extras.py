"""Without the extras every command works, or ends in a line that names the extra."""

import json
import os
import re
import subprocess
import sys

import pytest

from irplatform.registry.loading import registry
from irplatform.system.packages import EXTRAS

MODULES = sorted({module for modules in EXTRAS.values() for module in modules})
LINE = re.compile(r"needs [\w-]+\. Run pip install 'irplatform\[([\w,]+)\]'\.")
PROGRAM = """
import contextlib, io, json, sys
sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))  # None: as if it were not installed
from irplatform.cli.main import main
outcomes = []
for arguments in json.loads(sys.argv[2]):
    sys.argv = ["platform", *arguments]
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    outcomes.append((code, out.getvalue(), err.getvalue()))
sys.stdout.write("\\nOUTCOMES" + json.dumps(outcomes))
"""
DEMO = ("--collection", "demo")
CALLS = {
    "run": (*DEMO, "--first-stage", "bm25+rm3", "--run-dir", "runs"),
    "search": (*DEMO, "--query", "melanoma"),
    "explain": (*DEMO, "--reranker", "delta", "--topic", "1", "--doc", "d1"),
    "index": DEMO,
    "serve": ("--help",),
    "train": (*DEMO, "--reranker", "ltr"),
    "tune": (*DEMO, "--reranker", "wmd-text", "--over", "form=exact,relaxed"),
    "fuse": ("runs/bm25.run", "runs/rm3.run", "--out", "fused.run"),
    "evaluate": ("runs/bm25.run", *DEMO, "--measure", "nDCG@20,AP"),
    "compare": ("runs/bm25.run", "runs/rm3.run", *DEMO, "--measure", "nDCG@20,AP"),
    "report": ("runs/bm25.run", "runs/rm3.run", *DEMO),
    "verify": ("runs/bm25.run",),
    "rerun": ("runs/bm25.run.meta.json",),
    "cite": ("runs/bm25.run",),
    "config ask": (),
    "config set": ("team", "Ours"),
    "config show": (),
    "agree": ("a", "b", "--runs-dir", "runs"),
    "reproduce": ("--list",),
    "bench rerankers": (*DEMO, "--reranker", "bm25-text"),
    "submit bioasq": ("runs/bm25.run", *DEMO, "--out", "answers.json"),
    "submit tira": ("runs/bm25.run", "--out", "upload"),
    "submit check": ("runs/bm25.run",),
    "submit biogen": ("answers.json", *DEMO, "--out", "cited.json"),
    "submit fix": ("runs/bm25.run", "--out", "fixed.run"),
    "submit prepare": ("runs/bm25.run", "--task", "trec-pm-2017", "--out", "prepared"),
    "tasks list": (),
    "tasks new": ("mine", "--run", "runs/bm25.run", "--topics", "topics.tsv"),
    "tasks show": ("trec-pm-2017",),
    "tira": ("--input", "tira-in", "--output", "tira-out"),
    "bioasq": ("answers.json", "--golden", "golden.json"),
    "collections add": ("mine", "folder"),
    "collections build mesh": ("--from", "demo", "--out", "mesh"),
    "collections build new-documents": ("--from", "folder", "--out", "new"),
    "collections build pubmed-articles": ("--qrels", "qrels.txt", "--out", "articles"),
    "collections build trec-pm-pool-2017": ("--help",),
    "collections build trec-pm-pool-2018": ("--help",),
    "collections check": ("demo",),
    "collections download": ("beir/nfcorpus/test",),
    "collections list": (),
    "collections remove": ("mine",),
    "collections show": ("demo",),
    "qrels from-citations": ("article.xml", "--out", "citations.txt"),
    "qrels from-clicks": ("clicks.tsv", "--out", "clicks"),
    "qrels pool": ("runs/bm25.run", "runs/rm3.run", "--depth", "2", "-o", "pool"),
    "qrels simulate-clicks": (*DEMO, "--out", "simulated.tsv"),
    "qrels judge": ("pool", *DEMO, "--judge", "llm", "--grades", "0=no,1=yes"),
    "qrels write": ("qrels.txt", "--by", "person:ann", "-o", "written.txt"),
    "judge": ("pool", *DEMO, "--grades", "0=no,1=yes"),
    "concepts build": DEMO,
    "concepts check": DEMO,
    "concepts export": ("graph.graphml", *DEMO),
    "concepts show": ("melanoma", *DEMO),
    "kb add": ("own", "own.obo"),
    "kb list": (),
    "kb remove": ("own",),
    "kb show": ("melanoma",),
    "judges list": (),
    "judges show": ("llm",),
    "rerankers list": (),
    "rerankers show": ("delta",),
    "retrievers list": (),
    "retrievers show": ("bi-encoder",),
    "features list": (),
    "features show": ("lexical",),
    "plugins check": ("baselines", "--only", "revdocid"),
    "plugins list": (),
    "plugins new": ("my-ranker",),
    "cache list": (),
    "cache remove": ("--all", "--dry-run"),
    "cache verify": (),
    "doctor": (),
    "headings": ("--from", "demo", "--out", "headings"),
    "completion": ("bash",),
}


def commands():
    import click

    from irplatform.cli.main import cli

    def leaves(command, path):
        if not isinstance(command, click.Group):
            yield " ".join(path)
            return
        for name in command.list_commands(click.Context(command)):
            yield from leaves(command.get_command(None, name), [*path, name])

    registry().add_commands(cli)
    return {*leaves(cli, [])}


def _write_small(folder):
    """A collection with as many topics as training needs."""
    (folder / "qrels").mkdir(parents=True)
    for name, ids in {"train": "abcdef", "test": "uv"}.items():
        lines = "".join(f"{id_}\td{id_}\t1\n" for id_ in ids)
        (folder / "qrels" / f"{name}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}")
    for file, key in (("corpus", "d"), ("queries", "")):
        texts = [{"_id": f"{key}{id_}", "text": f"melanoma of {id_}"} for id_ in "abcdefuv"]
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(t) + "\n" for t in texts))


def without_extras(folder, calls):
    """What commands end with, one after the other in a process that lacks all extras."""
    (folder / "folder").mkdir()
    (folder / "folder" / "corpus.jsonl").write_text('{"_id": "d1", "text": "melanoma"}\n')
    _write_small(folder / "small")
    (folder / "qrels.txt").write_text("1 0 d1 1\n")
    (folder / "topics.tsv").write_text("id\tquery\n1\tmelanoma\n")
    (folder / "clicks.tsv").write_text("session\tquery\tdocument\n1\tmelanoma\td1\n")
    (folder / "article.xml").write_text("<article/>")
    (folder / "own.obo").write_text("format-version: 1.4\n\n[Term]\nid: X:1\nname: melanoma\n")
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(MODULES), json.dumps(calls)],
        cwd=folder,
        env={**os.environ, "IRPLATFORM_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.rpartition("OUTCOMES")[2])


def extra_named(outcome):
    """The extra that a command's last line names; "" where it names none."""
    code, _, err = outcome
    assert "Traceback" not in err
    assert "No module named" not in err
    lines = err.strip().splitlines() or [""]
    match = LINE.search(lines[-1])
    assert match is None or code == 2
    return match[1] if match else ""


@pytest.mark.java
def test_every_command_works_or_names_the_extra(tmp_path):
    assert CALLS.keys() == commands()
    calls = [[*command.split(), *arguments] for command, arguments in CALLS.items()]
    outcomes = dict(zip(CALLS, without_extras(tmp_path, calls), strict=True))
    extras = {c: extra for c, outcome in outcomes.items() if (extra := extra_named(outcome))}
    assert extras == {
        "explain": "neural",
        "train": "ltr",
        "tune": "wmd",
        "collections download": "datasets",
        "qrels from-clicks": "clicks",
        "qrels simulate-clicks": "clicks",
        "concepts build": "concepts",
        "concepts export": "concepts",
        "concepts show": "concepts",
        "report": "report",
        "judge": "serve",
        "kb add": "knowledge",
    }
    print({c: o for c, o in outcomes.items() if o[0] and c not in extras})


@pytest.mark.java
def test_every_system_runs_or_names_the_extra(tmp_path):
    systems = [("--reranker", name) for name in registry().rerankers]
    systems += [("--first-stage", name) for name in registry().retrievers]
    calls = [["run", "--collection", "small", *s, "--run-dir", s[1]] for s in systems]
    outcomes = dict(zip(systems, without_extras(tmp_path, calls), strict=True))
    extras = {system: extra_named(outcome) for system, outcome in outcomes.items()}
    works = {name for _, name in systems if not outcomes[_, name][0]}
    asks_for_a_server = {"rankgpt"}
    assert {name for (_, name), extra in extras.items() if not extra} == works | asks_for_a_server
    assert works == {
        *(
            "revdocid",
            "random-order",
            "mbm",
            "bm25",
            "qld",
            "rm3",
            "dlh13",
            "dlh13-title",
            "dlh13-abstract",
        ),
        *(f"{kind}-{part}" for kind in ("bm25", "uqlm") for part in ("title", "abstract", "text")),
    }
    assert extras["--reranker", "graphene"] == "neural,concepts"
    assert extras["--reranker", "delta"] == extras["--first-stage", "embedding"] == "neural"
    assert extras["--reranker", "ltr"] == extras["--reranker", "lexical"] == "ltr"
    assert extras["--first-stage", "dual-encoder"] == "encoders"
