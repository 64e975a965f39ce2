"""First stages by their names."""

import pytest

from irplatform.errors import InputError
from irplatform.retrieval.first_stage import FirstStage, short_names


@pytest.fixture
def run_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("theirs.run", "a+b.run"):
        (tmp_path / name).write_text("1 Q0 a 1 1 x\n")
    (tmp_path / "bm25").write_text("no run\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "theirs.run.gz").write_text("")


@pytest.mark.usefixtures("run_files")
@pytest.mark.parametrize(
    ("text", "retrievers", "source"),
    [
        ("bm25", ("bm25",), "retrieved"),
        ("bm25+rm3+qld", ("bm25", "rm3", "qld"), "retrieved"),
        ("judged", ("bm25",), "judged"),
        ("judged+rm3", ("rm3",), "judged"),
        ("scoreddocs", ("bm25",), "scoreddocs"),
        ("theirs.run", ("bm25",), "theirs.run"),
        ("theirs.run+rm3+qld", ("rm3", "qld"), "theirs.run"),
        ("a+b.run", ("bm25",), "a+b.run"),
        ("a+b.run+rm3", ("rm3",), "a+b.run"),
        ("sub/theirs.run.gz", ("bm25",), "sub/theirs.run.gz"),
    ],
)
def test_a_name_is_read_and_written_alike(text, retrievers, source):
    stage = FirstStage.parse(text)
    assert (stage.retrievers, stage.source) == (retrievers, source)
    assert stage.name == text


@pytest.mark.usefixtures("run_files")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a first stage"),
        ("bm25+", "'bm25+' is not a first stage: take a retriever, several joined by"),
        ("judged+scoreddocs", "'judged+scoreddocs' names more than one source"),
        ("theirs.run+judged", "names more than one source"),
        ("nix.run", "nix.run: there is no such run file"),
        ("sub/", "sub/: there is no such run file"),
        ("bm25+nix.run", "nix.run: there is no such run file"),
    ],
)
def test_a_name_that_means_nothing_is_refused(text, message):
    with pytest.raises(InputError) as error:
        FirstStage.parse(text)
    assert message in str(error.value)


def test_folders_of_run_files_are_called_as_these_and_each_has_its_own():
    files = [FirstStage(source=f"{folder}/my run.run.gz") for folder in "ab"]
    files.append(FirstStage(("rm3",), "c/x.trec_results.gz"))
    names = short_names([FirstStage(("bm25", "rm3")), FirstStage(source="judged"), *files])
    assert names == ["bm25+rm3", "judged", "my-run", "my-run-2", "x+rm3"]
