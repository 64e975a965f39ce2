"""What a reranker cannot say of itself names its plugin, and is told before any work."""

from collections import UserDict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from small import registration

from irplatform.errors import InputError, PluginError
from irplatform.plugin import (
    KnowledgeBases,
    Options,
    Reads,
    Reranker,
    TrainableReranker,
    Traits,
)
from irplatform.reranking.systems import ChosenReranker

WHO = r"reranker 'ranker' of plugin 'strange' \(strange-distribution 1.2\)"
READS = "failed returning what it reads: TypeError: "
TRAITS = "failed returning its traits: TypeError: "


def _choice(base=Reranker, **methods):
    reranker = registration(type("Odd", (base,), methods))
    return ChosenReranker(reranker, reranker.options({}))


def _raises(*arguments):
    raise KeyError("gone")


def _reads(**fields):
    return {"reads": lambda self: Reads(**fields)}


def _traits(**fields):
    return {"traits": lambda self: Traits(**fields)}


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            {"__init__": _raises},
            r"failed being made: KeyError: 'gone' \(.*that_fail\.py:\d+, in",
        ),
        ({"__init__": lambda self: None}, "failed being made: TypeError: .*takes 1 positional"),
        ({"reads": _raises}, "failed returning what it reads: KeyError"),
        ({"reads": lambda self: {}}, "returned dict from reads; irplatform.plugin.Reads are"),
        ({"reads": lambda self: None}, "returned NoneType from reads"),
        (_reads(more=Path("x")), f"{READS}more of Reads is .*: Input should be a valid dict"),
        (_reads(more={"x"}), f"{READS}more of Reads is {{'x'}}: Input"),
        (
            _reads(more={"file": Path("x")}),
            "returned a value from reads that is not JSON: TypeError: .*PosixPath",
        ),
        (_reads(files="here"), f"{READS}files of Reads is 'here': Input should be a valid tuple"),
        (_reads(systems=("delta",)), f"{READS}systems.0 of Reads is 'delta': .* NamedSystem"),
        (_reads(pairs=Path("x")), f"{READS}pairs of Reads is .* an instance of PairsFile"),
        ({"traits": _raises}, "failed returning its traits: KeyError"),
        ({"traits": lambda self: None}, "returned NoneType from traits"),
        (_traits(weighs_first_stage="no"), f"{TRAITS}weighs_first_stage of Traits is 'no': Input"),
        (_traits(expanded_queries=1), f"{TRAITS}expanded_queries of Traits is 1: .* boolean"),
        (
            _traits(pretraining=None),
            f"{TRAITS}pretraining of Traits is None: Input should be 'mesh'",
        ),
        (_traits(pretraining="MeSH"), f"{TRAITS}pretraining of Traits is 'MeSH': .* be 'mesh'"),
        (
            _traits(packages="torch"),
            f"{TRAITS}packages of Traits is 'torch': .* valid tuple .*fail",
        ),
    ],
)
def test_it_is_named_when_it_is_checked(methods, message):
    with pytest.raises(PluginError, match=f"{WHO}:? {message}"):
        _choice(**methods).check()


@pytest.mark.parametrize("value", ["here", ["here"], None])
def test_checkpoints_are_paths(value):
    with pytest.raises(
        PluginError, match=f"{WHO} {READS}checkpoints.* of Reads is .*: Input should be"
    ):
        _choice(**_reads(checkpoints=value)).checkpoints()


@pytest.mark.parametrize("part", ["files", "checkpoints"])
def test_what_it_reads_is_there_before_any_work(tmp_path, part):
    choice = _choice(**_reads(**{part: (tmp_path / "gone",)}))
    with pytest.raises(InputError, match="gone: this file or folder does not exist"):
        choice.check()


def test_the_content_of_what_it_reads_is_part_of_its_description(tmp_path):
    file = tmp_path / "words.txt"
    choice = _choice(**_reads(files=(file,), checkpoints=(tmp_path,)))
    descriptions = []
    for text in ("one", "three"):
        file.write_text(text)
        descriptions.append(choice.describe()["of"])
    assert descriptions[0].keys() == descriptions[1].keys() == {"files", "0"}
    assert descriptions[0]["files"] != descriptions[1]["files"]
    assert descriptions[0]["0"] != descriptions[1]["0"]


class BasesOptions(Options):
    """Options of a reranker that reads knowledge bases."""

    bases: KnowledgeBases = None


def test_knowledge_bases_of_a_run_are_filled_in_where_the_user_names_none(monkeypatch):
    monkeypatch.setattr("irplatform.knowledge.installed", lambda: {"mesh": None, "hgnc": None})
    monkeypatch.setattr(
        "irplatform.knowledge.open_knowledge",
        lambda names: SimpleNamespace(fingerprint="+".join(names)),
    )
    choice = _choice(Options=BasesOptions)
    assert choice.describe()["of"] == {"knowledge": "mesh+hgnc"}
    run_choice = choice.expanding(("doid",))
    assert run_choice.options == BasesOptions(bases=("doid",))
    assert run_choice.describe()["of"] == {"knowledge": "doid"}
    user_choice = replace(choice, options=BasesOptions(bases=("hgnc",)))
    assert user_choice.expanding(("doid",)).options == user_choice.options


def test_missing_memory_is_told_with_who_needs_it():
    def reads(self):
        raise MemoryError("Unable to allocate 200 GiB")

    with pytest.raises(PluginError, match=f"{WHO} failed .*MemoryError: Unable to allocate"):
        _choice(reads=reads).check()


def test_what_it_depends_on_is_part_of_its_description():
    choice = _choice(**_reads(more=UserDict({"file": "digest"})))
    choice.check()
    assert choice.describe()["of"] == {"file": "digest"}


def test_an_input_error_stays_the_users():
    def reads(self):
        raise InputError("there is no such file.")

    with pytest.raises(InputError, match="there is no such file"):
        _choice(reads=reads).check()


def test_what_it_learns_from_is_looked_at_where_it_will_be_trained():
    def check():
        raise InputError("there is no such file of pairs.")

    choice = _choice(TrainableReranker, **_reads(check=check))
    with pytest.raises(InputError, match="no such file of pairs"):
        choice.check_training()
    replace(choice, trained=True).check_training()


def test_one_that_fails_looking_at_what_it_learns_from_is_named():
    with pytest.raises(PluginError, match=f"{WHO} failed looking at what it learns from: KeyError"):
        _choice(TrainableReranker, **_reads(check=_raises)).check_training()
