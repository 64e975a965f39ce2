"""A whole experiment in a TOML file."""

from pathlib import Path

import pytest
from commands import call

from irplatform import read_experiment, run
from irplatform.cli.run import run as command
from irplatform.errors import InputError
from irplatform.experiment.experiment_file import _DECLARED as KEYS
from irplatform.experiment.experiment_file import SINGULAR, settings_of

WHOLE = """
collections = ["demo", "beside", "beir/nfcorpus/test"]
first-stages = ["bm25", "judged+rm3", "theirs.run+rm3"]
measures = "AP"
topics = ["first:2"]
rerank_depth = 100
interpolate = "auto"
run-dir = "runs/mine"
force = true

[rerankers]
lexical = {}
big = { reranker = "delta", filters = 64, loop.epochs = 3 }

[settings]
k1 = 1.2
[settings.rm3]
fb_terms = 20
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with an experiment, a collection and a run beside it."""
    place = tmp_path / "study"
    (place / "beside").mkdir(parents=True)
    (place / "beside" / "corpus.jsonl").write_text("")
    (place / "theirs.run").write_text("1 Q0 a 1 1 x\n")
    (place / "experiment.toml").write_text(WHOLE)
    return place


def test_a_file_says_all_that_options_say(folder):
    assert read_experiment(folder / "experiment.toml") == {
        "collections": ["demo", str(folder / "beside"), "beir/nfcorpus/test"],
        "first_stages": ["bm25", "judged+rm3", f"{folder / 'theirs.run'}+rm3"],
        "measures": ["AP"],
        "topics": ["first:2"],
        "rerank_depth": 100,
        "interpolate": "auto",
        "run_dir": folder / "runs" / "mine",
        "force": True,
        "rerankers": ["lexical", "big=delta"],
        "settings": {
            "k1": 1.2,
            "rm3.fb_terms": 20,
            "big.filters": 64,
            "big.loop.epochs": 3,
        },
    }


ON_THE_COMMAND_LINE = {
    "experiment": "the file itself",
    "settings": "the tables [settings] and [rerankers]",
    "config": "the same",
    **dict.fromkeys(("as_json", "quiet", "verbose"), "about what is printed"),
    "only_plan": "of a single call",
    "plugin": "of every command",
}
"""Options that a file does not take → why."""


def test_a_file_takes_every_option_of_the_command():
    names = [SINGULAR.get(option.name, option.name) for option in command.params]
    missing = {*names} - {*KEYS}
    assert missing - ON_THE_COMMAND_LINE.keys() == set()
    assert {*KEYS} - {*names} == set()


def test_what_is_shown_is_no_setting_of_a_run(folder):
    path = folder / "experiment.toml"
    path.write_text('collection = "demo"\ncompare = true\n')
    assert read_experiment(path) == {"collections": ["demo"]}


def test_a_file_asks_for_a_comparison(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    Path("experiment.toml").write_text('collection = "demo"\ncompare = true\n')
    refused = call(capsys, monkeypatch, "run", "experiment.toml")
    assert "--compare has no effect without --reranker NAME" in refused.err


@pytest.mark.parametrize(
    "text", ['first-stage = "bm52"', 'measures = ["nDGC@20"]', 'topics = ["x"]\nseed = 3']
)
def test_errors_of_the_plan_name_the_file_that_has_them(tmp_path, capsys, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    Path("e.toml").write_text(f'collection = "demo"\n{text}\n')
    refused = call(capsys, monkeypatch, "run", "e.toml", "--seed", "4")
    assert refused.code == 2
    assert refused.err.startswith("platform: e.toml: ")
    with pytest.raises(InputError, match=r"e\.toml: "):
        run("e.toml")
    Path("e.toml").write_text('collection = "demo"\n')
    refused = call(capsys, monkeypatch, "run", "e.toml", "--first-stage", "bm52")
    assert refused.err.startswith("platform: unknown retriever 'bm52'")


def test_python_takes_the_file_where_a_collection_goes(folder):
    settings = settings_of(folder / "experiment.toml", {"depth": 50})
    assert settings.labels == ("lexical", "big")
    assert settings.depth == 50


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dpth = 3", "'dpth' is not a key of an experiment. Did you mean 'depth'?"),
        ('depth = "3"', "'depth' is '3'; it must be a whole number."),
        ("depth = true", "'depth' is True; it must be a whole number."),
        ("force = 1", "'force' is 1; it must be true or false."),
        ("rerankers = 3", "'rerankers' is 3; it must be a name or a list of names."),
        ("measures = [1]", "'measures' is 1; it must be a name or a list of names."),
        ("[rerankers]\ndelta = 3", "'rerankers.delta' is 3; it must be a table of options."),
        ("[rerankers.x]\nreranker = 1", "'rerankers.x.reranker' is 1; it must be a name."),
        ("settings = 1", "'settings' is 1; it must be a table of options."),
        ('interpolate = "half"', "'interpolate' is 'half'; it must be a number or auto."),
        ("topic = '1'\ntopics = '1'", "'topic' and 'topics' say the same."),
        (
            "[rerankers.delta]\nfilters = 1\n[settings.delta]\nfilters = 2",
            "'delta.filters' is set in [rerankers] and in [settings].",
        ),
        ("[documents]\nfiles = ['x']", "this describes a collection, not an experiment"),
        ("depth =", ": this is not TOML"),
        ('config = "tuned.toml"', "'config' is not a key of an experiment"),
        ("depth = 0", "depth= is 0; it must be at least 1"),
        ('first-stages = ["bm25", "bm25"]', "first stage 'bm25' is named twice"),
        ('fusion = "ranks"', "fusion='ranks' has no effect"),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path, text, message):
    path = tmp_path / "e.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_experiment(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


@pytest.fixture
def ask(folder, capsys, monkeypatch):
    """The settings that `platform run study/experiment.toml …` would run with."""
    monkeypatch.chdir(folder.parent)
    calls = []

    def remember(settings=None, **_options):
        calls.append(settings)
        raise InputError("enough")

    monkeypatch.setattr("irplatform.run", remember)

    def ask(*arguments):
        result = call(capsys, monkeypatch, "run", "study/experiment.toml", *arguments)
        assert "enough" in result.err, result.err
        return calls[-1]

    return ask


def test_the_command_line_takes_precedence(ask):
    file = ask()
    assert (file.rerank_depth, file.force, file.run_dir) == (100, True, Path("study/runs/mine"))
    assert [stage.name for stage in file.stages][:2] == ["bm25", "judged+rm3"]
    options = ask(
        *("--collection", "demo", "--rerank-depth", "50", "--topics", "first:1", "--run-dir", "r"),
        *("--set", "rm3.fb_terms=5", "--measure", "P@10"),
    )
    assert (options.collection, options.collections, options.rerank_depth) == ("demo", (), 50)
    assert (options.topics, options.run_dir, options.measures) == (
        ("first:1",),
        Path("r"),
        ("P@10",),
    )
    assert options.settings == {**file.settings, "rm3.fb_terms": 5}
    assert ask("--compare", "--first-stage", "bm25").rerankers == file.rerankers


def test_options_of_systems_that_the_command_line_replaces_go_with_them(ask):
    assert ask("--reranker", "lexical").settings == {"k1": 1.2, "rm3.fb_terms": 20}
    options = ask("--first-stage", "bm25")
    assert options.settings == {"k1": 1.2, "big.filters": 64, "big.loop.epochs": 3}
    assert options.first_stages == ("bm25",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mydata",), "'mydata' has no option. Did you mean --collection mydata?"),
        (("foo", "--collection", "demo"), "foo: an experiment is a .toml file."),
        (("nix.toml",), "nix.toml: there is no such file"),
        ((), "--collection COLLECTION,… is missing. `platform run --help` explains it."),
        (("empty.toml",), "empty.toml: names no collection."),
    ],
)
def test_a_word_that_is_no_experiment_is_answered(
    tmp_path, capsys, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.toml").write_text("depth = 10\n")
    result = call(capsys, monkeypatch, "run", *arguments)
    assert result.code == 2
    assert message in result.err


@pytest.mark.java
def test_an_experiment_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.toml").write_text(
        'collection = "demo"\nfirst-stages = ["bm25", "judged"]\ntopics = "first:2"\n'
        'measures = ["AP"]\ninterpolate = 0\nrerankers = ["bm25-title"]\nrun-dir = "here"\n'
    )
    report = run("e.toml")
    assert [cell.first_stage for cell in report.cells] == ["bm25", "judged"]
    assert (tmp_path / "here" / "demo" / "topics-first-2" / "judged" / "bm25.run").exists()
