"""Runs side by side that differ in more than their systems are told, as far as metadata say."""

import gzip
import json
import re
from dataclasses import replace

import pytest
from recorded_runs import Empty

import irplatform as ir
from irplatform.analysis.cite import cite
from irplatform.analysis.differing import differences_told
from irplatform.analysis.given_runs import given_runs
from irplatform.analysis.verify import verify, verify_folder
from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.experiment.calls import describe_data
from irplatform.plugin import Topic
from irplatform.run_folder.listed import REPORT
from irplatform.run_folder.metadata_files import lines_digest, metadata_path
from irplatform.system import console

QRELS = {t: {"x": 1, "y": 0} for t in "123"}
COLLECTION = Collection(
    id="med",
    title="MED",
    corpus=Empty(),
    load_topics=lambda: [Topic(t, f"query {t}") for t in "123"],
    load_qrels=lambda: QRELS,
)
OTHER_QRELS = replace(COLLECTION, load_qrels=lambda: {**QRELS, "1": {"x": 2}})
OTHER_TOPICS = replace(COLLECTION, load_topics=lambda: [Topic(t, "other") for t in "123"])


class Others(Empty):
    fingerprint = "1"


OTHER_DOCUMENTS = replace(COLLECTION, corpus=Others())


def made(folder, name, collection=COLLECTION, order="xy", **changes):
    """A run with metadata; `changes` are sections."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.run"
    run = ir.Run(name, {t: ir.Ranking.of([*order], [2.0, 1.0]) for t in "123"})
    ir.write_run(run, path)
    content = {
        "data": {"test collection": describe_data(collection, collection.load_qrels())},
        "method": {"retrieval": [{"retriever": "bm25"}], "settings": {"depth": 1000}},
        "run": {"file": path.name, "sha256": lines_digest(path)},
        **changes,
    }
    metadata_path(path).write_text(json.dumps(content))
    return path


def told(*paths, collection=None, **options):
    return differences_told({path.stem: path for path in paths}, collection, **options)


@pytest.fixture
def one(tmp_path):
    return made(tmp_path, "one")


def test_runs_of_one_collection_differ_in_nothing(tmp_path, one):
    assert told(one, made(tmp_path, "two"), collection=COLLECTION) == []


def test_runs_without_metadata_say_nothing(tmp_path, one):
    foreign = made(tmp_path, "two")
    for content in ('{"tag": "x"}', '{"data": {"test collection": "med"}, "method": []}'):
        metadata_path(foreign).write_text(content)
        assert told(one, foreign, collection=COLLECTION) == []
    metadata_path(foreign).unlink()
    assert told(one, foreign, collection=COLLECTION) == []


def test_other_documents_are_refused_unless_they_are_asked_for(tmp_path, one):
    two = made(tmp_path, "two", OTHER_DOCUMENTS)
    with pytest.raises(InputError, match=r"of different documents: 0 \(one\), 1 \(two\)\.") as e:
        ir.compare([one, two], qrels=QRELS, measures="RR")
    assert "add different_documents=True" in e.value.message
    compared = ir.compare([one, two], qrels=QRELS, measures="RR", different_documents=True)
    assert compared.notes[0].startswith("WARNING: the runs are of different documents")
    assert set(ir.evaluate([one, two], qrels=QRELS, measures="RR")) == {"one", "two"}


def test_an_existing_index_is_of_unknown_documents(tmp_path, one):
    call = {"call": {"function": "run", "settings": {"index": "theirs"}}}
    two = made(tmp_path, "two", OTHER_DOCUMENTS, implementation=call)
    (note,) = told(one, two, across=False)
    assert note == "WARNING: an existing index may have other documents: 0 (one), 1 (two)."
    assert len(told(two, one, across=False)) == 1


@pytest.mark.parametrize(("other", "part"), [(OTHER_TOPICS, "topics"), (OTHER_QRELS, "judgments")])
def test_other_topics_and_judgments_are_told(tmp_path, one, other, part):
    two = made(tmp_path, "two", other)
    (note,) = told(one, two)
    assert re.match(rf"WARNING: the runs were made with different {part}: \w+ \(one\), ", note)
    (note,) = told(one, two, collection=COLLECTION)
    assert note.startswith(f"WARNING: the {part} of 'med' have changed since these runs were made")
    assert ": two. " in note
    (note,) = told(one, collection=other)
    assert ": one. " in note


def test_judgments_of_another_collection_have_not_changed(one):
    assert told(one, collection=replace(OTHER_QRELS, id="other")) == []


def test_a_quick_look_is_compared_with_its_own_topics(tmp_path, one):
    part = replace(COLLECTION, load_topics=lambda: [Topic("1", "query 1")])
    part = replace(part, load_qrels=lambda: {"1": QRELS["1"]})
    data = {
        "test collection": describe_data(part, part.load_qrels()),
        "topics chosen": {"asked": ["1"], "ranked": 1, "of": 3},
    }
    look = made(tmp_path, "look", data=data)
    assert told(one, look, collection=COLLECTION) == []
    assert any("different topics" in note for note in told(one, look))


def test_depth_and_seed_are_told(tmp_path):
    def method(depth, seed):
        return {"retrieval": [], "settings": {"depth": depth}, "seed": seed}

    one = made(tmp_path, "one", method=method(1000, 42))
    two = made(tmp_path, "two", method=method(100, 7))
    three = made(tmp_path, "three", method={"settings": {"depth": None}})
    assert told(one, two, three) == [
        "the runs differ in depth: 1000 (one), 100 (two).",
        "the runs differ in seed: 42 (one), 7 (two).",
    ]


def test_a_changed_run_is_told_by_its_digest(tmp_path, one):
    two = made(tmp_path, "two")
    two.write_text(two.read_text().replace("y", "z"))
    (note,) = told(one, two)
    assert note.startswith(f"WARNING: {two} is not the run that was recorded")


def reported(folder, *paths):
    files = {path.name: lines_digest(path) for path in paths}
    rows = [{"path": path.name} for path in paths if "-alone" not in path.name]
    (folder / REPORT).write_text(json.dumps({"runs": rows, "files": files}))


def test_a_run_replaced_with_its_metadata_is_told_by_the_report(tmp_path):
    place = tmp_path / "x"
    one, two = made(place, "one"), made(place, "two")
    reported(place, one, two)
    assert told(one, two) == []
    made(place, "two", order="yx")
    (note,) = told(one, two)
    assert "two.run is not the run that was recorded" in note
    findings = verify_folder(place)
    assert [f.verdict for f in findings[one]][:1] == ["agrees"]
    assert findings[two][0].verdict == "changed"
    assert "another took its place" in findings[two][0].detail


@pytest.mark.parametrize("packed", [False, True])
def test_own_scores_that_are_gone_are_told(tmp_path, packed):
    one, alone = made(tmp_path, "one"), made(tmp_path, "one-alone")
    reported(tmp_path, one, alone)
    alone.unlink()
    if packed:
        content = gzip.compress(one.read_bytes())
        one.unlink()
        one = one.with_name("one.run.gz")
        one.write_bytes(content)
    (note,) = told(one)
    assert note.endswith("one-alone.run, the reranker's own scores, is not here any more.")


def test_the_depth_that_was_written_is_told(tmp_path, one):
    settings = {"settings": {"depth": 1000, "written-depth": 100}}
    two = made(tmp_path, "two", method=settings)
    assert told(one, two) == ["the runs differ in depth: 1000 (one), 100 (two)."]


def test_named_runs_do_not_need_the_report_of_their_folder(tmp_path, one):
    (tmp_path / REPORT).write_text('{"runs": 3}')
    assert told(one, made(tmp_path, "two")) == []
    (tmp_path / REPORT).write_text('{"runs": [{"path": "gone.run"}]}')
    assert told(one) == []


def test_verify_finds_runs_that_are_gone_and_what_they_are_called_now(tmp_path):
    place = tmp_path / "x"
    runs = [made(place, name, order=o) for name, o in (("one", "xy"), ("two", "yx"), ("six", "yz"))]
    one, two, six = runs
    reported(place, *runs)
    one.rename(place / "best.run")
    two.unlink()
    six.unlink()
    metadata_path(six).unlink()
    findings = verify_folder(place)
    details = {
        run.name: [f.detail for f in of if f.verdict == "changed"] for run, of in findings.items()
    }
    assert details["one.run"] == ["one.run is not here any more; best.run has its content"]
    assert details["two.run"] == ["two.run is not here any more; `platform rerun` makes it again"]
    assert details["six.run"][1] == "six.run.meta.json is not here any more"
    assert verify(two)[0].verdict == "changed"


def test_what_cannot_be_read_of_metadata_is_told(tmp_path, one, capsys, monkeypatch):
    monkeypatch.setattr(console, "_told", set())
    metadata_path(one).write_text('{"method": {"retrieval": [7], "weights": 3}, "run": [1]}')
    assert verify(one)[0].verdict == "unknown"
    message = f"WARNING: {one}.meta.json: parts of another form are not read: method.retrieval, "
    assert message in capsys.readouterr().err


def test_a_run_that_is_gone_is_cited_by_its_metadata(tmp_path, capsys):
    place = tmp_path / "x"
    one, two = made(place, "one"), made(place, "two")
    reported(place, one, two)
    one.unlink()
    assert [r.key for r in cite([place])] == ["robertson2009bm25"]
    assert capsys.readouterr().err == ""
    metadata_path(one).unlink()
    cite([place])
    assert "one.run, which it lists, is not here any more: what it" in capsys.readouterr().err


def test_a_collection_in_two_places_is_one(tmp_path):
    def at(place):
        return {"call": {"function": "run", "settings": {"collection": place}}}

    one = made(tmp_path, "one", implementation=at("/nowhere/med"))
    two = made(tmp_path, "two", implementation=at("demo"))
    runs = given_runs([one, two])
    assert runs.recorded_collection() == "/nowhere/med"
    made(tmp_path, "two", OTHER_QRELS, implementation=at("demo"))
    with pytest.raises(InputError, match="of several collections: name one of /nowhere/med, demo"):
        runs.recorded_collection()


def test_runs_that_a_fusion_learns_from_have_topics_of_their_own(tmp_path, capsys):
    paths = [made(tmp_path / "dev", name) for name in ("a", "b")]
    train = [made(tmp_path / "train", name, OTHER_TOPICS) for name in ("a", "b")]
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 x 1\n{t} 0 y 0\n" for t in "123"))
    learning = {"train_on": tmp_path / "qrels.txt", "train_runs": train}
    ir.fuse_runs(paths, tmp_path / "one.run", **learning)
    assert "different topics" not in capsys.readouterr().err
    train[1] = made(tmp_path / "train", "b")
    ir.fuse_runs(paths, tmp_path / "two.run", **learning)
    assert "different topics" in capsys.readouterr().err
