"""A user's mistake: one clear line, exit code 2, nothing written."""

import pickle
from pathlib import Path

import pytest
from checkpoints import described

SMALL = ("--collection", "small")
LONG = "x" * 300
RUN = ("run", *SMALL)
DEMO = ("run", "--collection", "demo", "--reranker", "delta")
DELTA = (*RUN, "--reranker", "delta", "--train-on", "small")
DEEPSENSE = ("run", "--collection", "demo", "--reranker", "deepsense")
DUAL = ("run", "--collection", "demo", "--reranker", "dual-encoder")
PAIRS = "pairs.file=small/qrels/test.tsv"
STACKED = 'ltr.settings.stack.settings.deepsense.pairs={file="nowhere.tsv"}'
GOOD = "q1 Q0 d1 1 2.0 x\n"


def _everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


@pytest.fixture
def refused(platform, folder):
    """Call and expect a refusal; returns its line."""

    def refused(*arguments):
        before = _everything(folder.parent)
        outcome = platform(*arguments)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert len(outcome.err.splitlines()) == 1, outcome.err
        assert outcome.err.startswith("platform: ")
        assert _everything(folder.parent) == before
        return outcome.err

    return refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--collection", "dmeo"), "unknown collection 'dmeo'. Did you mean 'demo'?"),
        (
            ("run", "--collection", "longeval-sci/2024-11"),
            "Ids of ir-datasets-longeval are not read: name the files in a collection.toml",
        ),
        (("run", "--collection", "beir/nfcorpos/test"), "Did you mean 'beir/nfcorpus/test'?"),
        ((*RUN, "--reranker", "detla"), "unknown reranker 'detla'. Did you mean 'delta'?"),
        ((*RUN, "--first-stage", "bn25"), "unknown retriever 'bn25'. Did you mean 'bm25'?"),
        ((*RUN, "--measure", "nDGC@10"), "unknown measure 'nDGC'. Did you mean 'nDCG'?"),
        (
            ("train", "--collection", "small", "--reranker", "delta", "--reranker", "drmm"),
            "--reranker takes one value, but is given 2 times.",
        ),
        (
            (*RUN, "--seed", "1", "--seed=1", "--seed", "2"),
            "--seed takes one value, but is given 3",
        ),
        (("kb", "add", "x", "y", "--format", "a", "--format", "b"), "--format takes one value"),
        ((*RUN, "--set", "k2=1"), "'k2' is not an option of bm25. Did you mean 'k1'?"),
        ((*DELTA, "--set", "filtres=8"), "'filtres' is not an option of bm25, delta. Did you mean"),
        ((*RUN, "--set", "k1=low"), "option 'k1' of retriever 'bm25' cannot be 'low'"),
        ((*RUN, "--set", "k1"), "'k1' is not a setting; write it as NAME=VALUE"),
        ((*RUN, "--config", "nowhere.toml"), "nowhere.toml: there is no such file"),
        (("run", "--collection", "./nowhere"), "nowhere: there is no such folder"),
        (("run", "--collection", "small:dev"), "small"),
        (("run", "--collection", "nowhere.toml"), "nowhere.toml"),
        ((*RUN, "--depth", "0"), "--depth is 0; it must be at least 1"),
        ((*RUN, "--rerank-depth", "0"), "--rerank-depth is 0; it must be at least 1."),
        (
            (*RUN, "--rerank-depth", "5000", "--depth", "100"),
            "--rerank-depth 5000 has no effect beyond --depth 100",
        ),
        (
            ("tune", *SMALL, "--rerank-depth", "1001"),
            "--rerank-depth 1001 has no effect beyond --depth 1000",
        ),
        ((*RUN, "--interpolate", "2"), "2.0 is not between 0 and 1"),
        ((*RUN, "--interpolate", "much"), "--interpolate takes a number or auto, not 'much'"),
        ((*RUN, "--interpolate", "nan"), "nan is not between 0 and 1"),
        ((*RUN, "--interpolate", "0.5"), "--interpolate has no effect without --reranker"),
        ((*RUN, "--train-on", "demo"), "--train-on has no effect without --reranker"),
        (
            (
                *RUN,
                "--first-stage=bm25+rm3",
                "--fusion=ranks",
                "--train-on=demo-train",
            ),
            "--train-on has no effect without --reranker",
        ),
        ((*DELTA, "--checkpoint", "x"), "--train-on has no effect with --checkpoint"),
        ((*RUN, "--vectors", "nowhere.vec"), "nowhere.vec: there is no such file"),
        ((*RUN, "--vectors", "good.run"), "good.run: this is not a file of word vectors"),
        ((*RUN, "--vectors-text", "good.run"), "good.run: text must be a .txt, .jsonl or .tsv"),
        (
            (*RUN, "--vectors-text", "small/qrels/test.tsv"),
            "test.tsv:1: this table needs a header with columns named title, abstract",
        ),
        ((*DEEPSENSE, "--set", "pairs.file=nowhere"), "nowhere: there is no such file"),
        ((*DEEPSENSE, "--set", "pairs.file=small"), "small: this is a folder; name a file."),
        ((*DEEPSENSE, "--set", PAIRS), "test.tsv:1: there is no column 'sentence'; the columns: q"),
        ((*DUAL, "--set", "pairs.file=nowhere"), "nowhere: there is no such file"),
        ((*DUAL, "--set", PAIRS, "--set", "pairs.query=quest"), "1: there is no column 'quest'"),
        (
            (*RUN, "--first-stage", "dual-encoder", "--set", PAIRS),
            "test.tsv:1: there is no column 'sentence'",
        ),
        (
            (*DEMO[:3], "--reranker", "ltr", "--set", 'stack=["deepsense"]', "--set", STACKED),
            "nowhere.tsv: there is no such file",
        ),
        ((*RUN, "--run-dir", "good.run/runs"), "good.run: this is a file, not a folder"),
        ((*RUN, "--run-dir", ""), "--run-dir is empty; name a file or a folder."),
        (("evaluate", "--collection", "small", ""), "a path is empty; name a file or a folder."),
        ((*DELTA,), "'small-test' cannot train rerankers for itself"),
        ((*RUN, "--reranker", "delta", "--train-on", "demo-train"), "has other documents than the"),
        ((*RUN, "--reranker", "revdocid", "--train-on", "demo-train"), "has other documents than"),
        (
            (*RUN, "--first-stage=bm25+rm3", "--train-on", "demo-train"),
            "'demo-train' has other documents than 'small-test': the weights of retrievers cannot",
        ),
        (("train", *SMALL, "--reranker", "delta", "--pretrain", "demo-train"), "has other doc"),
        ((*DEMO, "--pretrain", "small"), "'small-test' has other documents than the evaluated"),
        ((*DEMO, "--pretrain", "mesch"), "unknown collection 'mesch'. Did you mean 'mesh'?"),
        ((*DEMO, "--pretrain", "non"), "unknown collection 'non'. Did you mean 'none'?"),
        ((*RUN, "--reranker", "drmm", "--pretrain", "mesh"), "have no field 'mesh' with MeSH head"),
        (
            (*DEMO, "--train-on", "demo-train", "--train-on", "demo-train"),
            "'demo-train' is named twice",
        ),
        ((*DEMO, "--train-on", "demo-train", "--train-on", "small"), "'small-test' has other doc"),
        (("train", *SMALL, *SMALL, "--reranker", "delta"), "'small-test' is named twice"),
        ((*RUN, "--reranker", "delta"), "names no training collection for delta"),
        ((*DEMO, "--device", "gpu"), "unknown device 'gpu'. Choose one of auto, cpu, cuda, mps"),
        ((*RUN, "--device", "gpu"), "unknown device 'gpu'. Choose one of auto, cpu, cuda, mps"),
        ((*RUN, "--compare"), "--compare has no effect without --reranker"),
        ((*RUN, "--compare"), "--compare has no effect without --reranker"),
        ((*RUN, "--tag", ""), "--tag '' is not a run tag: TREC takes letters, digits"),
        ((*RUN, "--tag", "my run"), "--tag 'my run' is not a run tag: TREC takes letters, digits"),
        ((*RUN, "--tag", "bm25+rm3"), "--tag 'bm25+rm3' is not a run tag: TREC takes letters"),
        ((*RUN, "--fusion", "ranks"), "--fusion ranks has no effect without a second retriever"),
        ((*RUN, "--rerank-depth", "50"), "--rerank-depth has no effect without --reranker"),
        (
            (*DEMO, "--pretrain-queries", "50"),
            "--pretrain-queries has no effect without --pretrain mesh",
        ),
        ((*RUN, "--set", "delta.filters=8"), "the reranker 'delta' is not in this run"),
        ((*RUN, "--set", "expand=mesh"), """write a list, as ["mesh"] (in a shell: '["mesh"]')"""),
        ((*RUN, "--set", 'expand=["mesh"'), 'write a list, as ["mesh"] '),
        ((*RUN, "--seeds", "2", "--reranker", "revdocid"), "--seeds has no effect"),
        ((*RUN, "--members", "2", "--reranker", "revdocid"), "--members has no effect"),
        ((*RUN, "--members", "2"), "--members has no effect"),
        (
            (*RUN, "--checkpoint", "ckpt", "--members", "1", "--reranker", "delta"),
            "--members has no",
        ),
        ((*RUN, "--preset", "paper"), "--preset paper has no effect: a run without rerankers"),
        (
            ("reproduce", "--only", "nothing-*"),
            "unknown result, tag, system or difference 'nothing-*'",
        ),
        (("reproduce", "--file", "nowhere.toml"), "nowhere.toml: there is no such file"),
        (("evaluate", "good.run"), "metadata name no collection: give --collection or --qrels"),
        (("evaluate", "good.run", "--qrels", "nowhere"), "nowhere"),
        (("evaluate", "nowhere.run", *SMALL), "nowhere.run"),
        (("evaluate", "good.run", *SMALL, "--measure", "P@"), "P@"),
        (
            ("search", *SMALL, "--query", "x", "--depth", "0"),
            "--depth is 0; it must be at least 1.",
        ),
        (("search", *SMALL), "give either --query or --topic"),
        (("search", *SMALL, "--topic", "q3"), "'q3' is not a topic of 'small-test'."),
        (("train", *SMALL, "--reranker", "detla"), "Did you mean 'delta'?"),
        (("train", *SMALL, "--reranker", "delta", "--out", "small"), "small: this exists already"),
        (("train", *SMALL, "--reranker", "delta", "--out", "good.run/x"), "good.run: this is a"),
        (("train", *SMALL, "--reranker", "revdocid"), "'revdocid' does not learn"),
        (("train", *SMALL, "--reranker", "revdocid", "--members", "2"), "--members has no effect"),
        (("fuse", "good.run", "--out", "f.run"), "at least two runs are needed"),
        (("fuse", "a", "b", "--out", "f", "--by", "scores", "--k", "9"), "--k has no effect"),
        (("collections", "show", "dmeo"), "Did you mean 'demo'?"),
        (("collections", "check", "nowhere/"), "unknown collection 'nowhere/'"),
        (("collections", "add", "demo", "small"), "'demo' is a plugin's collection"),
        (("collections", "add", "Small!", "small"), "'Small!' cannot be a name"),
        (("collections", "add", "mine", "./nowhere"), "there is no such folder"),
        (("collections", "add", "trec-pm-2017", "small"), "trec-pm-2017 already"),
        (("rerankers", "show", "detla"), "Did you mean 'delta'?"),
        (("retrievers", "show", "bm52"), "Did you mean 'bm25'?"),
        (("rnu",), "unknown command 'rnu'. Did you mean 'run'?"),
        (("help",), "unknown command 'help'. `platform --help` lists all."),
        (("version",), "unknown command 'version'. `platform --version` shows the version."),
        (("bibtex",), "unknown command 'bibtex'. Did you mean 'cite'?"),
        (("nonsense",), "unknown command 'nonsense'. `platform --help` lists all."),
        (("rerank",), "unknown command 'rerank'. Did you mean 'run'?"),
        (("cache", "clean"), "'clean' is not a command of platform cache. Did you mean 'remove'?"),
        (("cache", "lst"), "'lst' is not a command of platform cache. Did you mean 'list'?"),
        (("collections", "fetch"), "Did you mean 'download'?"),
        (("rerankers", "info"), "Did you mean 'show'?"),
        (("plugins", "create"), "Did you mean 'new'?"),
        (
            ("kb", "nonsense"),
            "'nonsense' is not a command of platform kb. Known: add, list",
        ),
        (("run", "--collection", "smal"), "unknown collection 'smal'. Did you mean 'small'?"),
        (("run", "--collection", "./smal"), "no such folder or file. Did you mean './small'?"),
        (("run", "--collection", "smal:dev"), "Did you mean 'small:dev'?"),
        (("run", "--collection", "smal/"), "Did you mean 'small'?"),
        (("run", "--collection", "SMALL"), "Did you mean 'small'?"),
        (("train", "--collection", "demo,smal", "--reranker", "delta"), "Did you mean 'small'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_mistake_is_answered_in_a_line(refused, arguments, message):
    assert message in refused(*arguments)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD + "q1 Q0 d2 2 1.0\n", "bad.run:2: "),
        (GOOD + "q1 Q0 d2 2 nan x\n", "bad.run:2: "),
        (GOOD + "q1 Q0 d2 2 high x\n", "bad.run:2: "),
        (GOOD + "q1 Q0 d1 2 1.0 x\n", "bad.run:2: "),
        ("", "bad.run"),
    ],
)
def test_a_bad_run_is_refused_with_file_and_line(refused, folder, content, message):
    (folder / "bad.run").write_text(content)
    assert message in refused("evaluate", "bad.run", *SMALL)
    assert message in refused("fuse", "good.run", "bad.run", "--out", "fused.run")


@pytest.mark.parametrize("line", ["q1 0 d1 0.5", "q1 0 d1", "q1 0 d1 high"])
def test_bad_judgments_are_refused_with_file_and_line(refused, folder, line):
    (folder / "qrels.txt").write_text(f"q1 0 d2 1\n{line}\n")
    assert "qrels.txt:2: " in refused("evaluate", "good.run", "--qrels", "qrels.txt")


def test_control_characters_of_a_file_are_printed_as_escapes(refused, folder):
    (folder / "qrels.txt").write_text("q1 0 d2 1\nq1 0 d1 \x1b[31mhigh\x07\n")
    message = refused("evaluate", "good.run", "--qrels", "qrels.txt")
    assert r"the grade '\x1b[31mhigh\x07' is not a whole number" in message


def test_grades_that_a_measure_cannot_take_are_refused_before_anything_is_done(refused, folder):
    (folder / "small/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t5\n")
    (folder / "qrels.txt").write_text("q1 0 d2 5\n")
    message = "ERR@10 takes grades up to 4; the judgments of 'small-test' have 5"
    options = ("--measure", "P@1", "--measure", "ERR@10")
    assert message in refused(*RUN, *options)
    assert not (folder / "runs").exists()
    assert message in refused("evaluate", "good.run", *SMALL, *options)
    error = refused("evaluate", "good.run", "--qrels", "qrels.txt", *options)
    assert "ERR@10 takes grades up to 4; the judgments of qrels.txt have 5" in error


def test_a_run_that_is_named_twice_is_refused(refused):
    message = refused("evaluate", "good.run", "good.run", *SMALL)
    assert "the run good.run is named more than once." in message
    message = refused("evaluate", "good.run", "../" + Path.cwd().name + "/good.run", *SMALL)
    assert "good.run is named more than once, once as good.run." in message


def test_a_link_to_itself_is_a_problem_of_one_run(platform, folder):
    (folder / "loop.run").symlink_to("loop.run")
    checked = platform("submit", "check", "good.run", "loop.run")
    assert checked.code == 2
    assert "loop.run: error: this link leads back to itself." in checked.out
    assert "good.run: " in checked.out


def test_a_run_without_any_judged_document_is_told_of(platform, folder):
    (folder / "strange.run").write_text("q1 Q0 nobody-knows-it 1 1.0 x\n")
    outcome = platform("evaluate", "strange.run", *SMALL)
    assert outcome.code == 0
    assert "strange.run: none of its documents is judged for its topic" in outcome.err


def test_a_run_of_other_topics_is_refused(refused, folder):
    (folder / "other.run").write_text("".join(f"t{n} Q0 d1 1 1.0 x\n" for n in range(7)))
    message = refused("evaluate", "good.run", "other.run", *SMALL)
    assert (
        "other.run: none of its 7 topics (t0, t1, t2, t3, t4, …) is among the 2 judged" in message
    )
    assert "(q1, q2). Is this another collection's run?" in message


def test_a_fractional_grade_in_a_collection_is_refused(refused, folder):
    (folder / "small/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0.5\n")
    assert "test.tsv:2: " in refused(*RUN)


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_corpus_line_that_is_not_json_is_refused_with_file_and_line(refused, folder, command):
    (folder / "small/corpus.jsonl").write_text('{"_id": "d1", "text"\n')
    assert "corpus.jsonl:1: " in refused("collections", command, "small")


@pytest.fixture
def checkpoint(folder):
    """What `platform train --reranker delta-32` could have written."""
    return described(folder / "checkpoint", "delta-32")


def test_a_checkpoint_of_another_model_is_refused(refused, checkpoint):
    line = refused(*RUN, "--reranker", "delta", "--checkpoint", "checkpoint")
    assert "checkpoint: this is a checkpoint of 'delta-32', not of 'delta'" in line


def test_a_pickle_as_checkpoint_is_refused(refused, folder):
    (folder / "model.pt").write_bytes(pickle.dumps({"weights": [1.0]}))
    line = refused(*RUN, "--reranker", "delta", "--checkpoint", "model.pt")
    assert "model.pt: a checkpoint is the folder that `platform train` writes" in line


def test_a_checkpoint_needs_one_reranker_that_learns(refused, checkpoint):
    for rerankers in ([], ["--reranker", "delta", "--reranker", "delta-32"]):
        assert "exactly one reranker" in refused(*RUN, *rerankers, "--checkpoint", "checkpoint")


@pytest.mark.java
def test_more_than_there_is_of_documents_or_cores_is_told(platform):
    most = ("--depth", 10**12, "--threads", 100_000, "--measure", "P@1", "--run-dir", "runs")
    outcome = platform(*RUN, *most)
    assert outcome.code == 0, outcome.err
    assert f"--depth {10**12} is more than the documents: all 3 are looked at\n" in outcome.err
    assert "--threads 100000 is more than the cores here: " in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        (*RUN, "--bogus"),
        (*RUN, "--seed", "-1"),
        (*RUN, "--threads", "0"),
        (*RUN, "--depth", "many"),
        ("index", *SMALL, "--threads", "x"),
    ],
    ids=" ".join,
)
def test_wrong_usage_has_exit_code_2(platform, folder, arguments):
    before = _everything(folder.parent)
    outcome = platform(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("platform: ")
    assert len(outcome.err.splitlines()) == 1
    assert "Traceback" not in outcome.err
    assert _everything(folder.parent) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "good.run", "--collection", LONG),
        ("fuse", "good.run", LONG, "--out", "new.run"),
        ("fuse", "good.run", "other.run", "--out", LONG),
        (*RUN, "--run-dir", LONG),
        (*RUN, "--first-stage", f"{LONG}/my.run"),
    ],
)
def test_a_name_that_is_too_long_for_a_file_is_refused(refused, arguments):
    name = max(arguments, key=len)
    assert f"{name}: this name is too long for a file." in refused(*arguments)


def test_a_link_to_itself_is_refused(refused, folder):
    (folder / "loop").symlink_to("loop")
    assert "loop: this link leads back to itself." in refused("evaluate", "loop", "--qrels", "loop")


@pytest.mark.parametrize(
    "arguments",
    [("--collection", "demo", "run"), ("--depth=3", "run"), ("cache", "--kind", "index", "list")],
    ids=" ".join,
)
def test_an_option_before_the_command_is_told_where_it_belongs(platform, arguments):
    outcome = platform(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Put a command's options after the command." in outcome.err
    assert "Options of" not in platform(*RUN, "--bogus").err


@pytest.mark.java
def test_a_corpus_line_that_is_not_json_ends_a_run_before_it_writes(platform, folder):
    with (folder / "small/corpus.jsonl").open("a") as file:
        file.write('{"_id": "d4", "text"\n')
    outcome = platform(*RUN)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.splitlines()[-1].startswith("platform: ")
    assert "corpus.jsonl:4: " in outcome.err
    assert not (folder / "runs").exists()


def test_a_file_of_text_without_any_is_named(refused, folder):
    (folder / "full.txt").write_text("crizotinib in lung cancer\n")
    (folder / "empty.txt").write_text("\n")
    texts = ("--vectors-text", "full.txt", "--vectors-text", "empty.txt")
    assert "empty.txt: there is no text in this file." in refused(*RUN, *texts)
