"""The resources of a run: built at first use, and shared."""

import pickle
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from checkpoints import described
from small import registration

from irplatform.collection_resources import CollectionResources, _Opened
from irplatform.errors import InputError, PlatformError, PluginError
from irplatform.files import code_digests, digests
from irplatform.plugin import Options, Reranker, TrainableReranker
from irplatform.reranking.systems import ChosenReranker
from irplatform.text import VectorOptions, WordVectors
from irplatform.text.vector_source import VectorSource

pytestmark = pytest.mark.usefixtures("fresh_home")

TINY = {"dimensions": 4, "epochs": 1, "min_count": 1}


class Articles(list):
    """A corpus in memory."""

    name, fields, fingerprint, texts_fingerprint = "articles", (), "fingerprint", "fingerprint"

    def size_hint(self):
        return len(self)


@pytest.fixture
def resources():
    texts = ["melanoma therapy trial", "glioma mouse assay"] * 5
    corpus = Articles(
        SimpleNamespace(id=f"d{n}", title="", abstract=text, fields={})
        for n, text in enumerate(texts)
    )
    return CollectionResources(corpus, device="cpu", seed=1, threads=1)


def test_the_forward_index_is_built_once_and_shared(resources, monkeypatch):
    first = resources.forward_index()
    assert resources.forward_index() is first
    assert first.count == 10
    again = CollectionResources(resources.corpus, device="cpu", seed=1, threads=1)
    monkeypatch.setattr("irplatform.text.forward_build.read_batch", None)
    assert again.forward_index().count == 10
    assert again.artifacts == resources.artifacts


def test_vectors_of_other_options_are_others(resources):
    small = resources.vectors(VectorOptions(**TINY))
    large = resources.vectors(VectorOptions(**{**TINY, "dimensions": 6}))
    assert (small.dimensions, large.dimensions) == (4, 6)
    assert resources.vectors(VectorOptions(**TINY)) is small


def test_each_member_tells_which_vectors_it_used(resources):
    """A checkpoint takes them along."""
    vectors = []
    for number, dimensions in enumerate((4, 6)):
        member = resources.of_member(number)
        member.vectors(VectorOptions(**{**TINY, "dimensions": dimensions}))
        vectors.append(member.vectors_used)
    assert [
        [WordVectors.open(folder).dimensions for folder in mapping.values()] for mapping in vectors
    ] == [
        [4],
        [6],
    ]
    assert resources.of_member(2).vectors_used == {}
    assert set(vectors[0]) & set(vectors[1]) == set()


def test_vectors_that_are_brought_serve_those_who_were_trained_with_them(resources):
    member = resources.of_member(0)
    small = member.vectors(VectorOptions(**TINY))
    brought = CollectionResources(
        Articles([SimpleNamespace(id="d", title="", abstract="other words here", fields={})]),
        device="cpu",
        seed=1,
        threads=1,
    ).with_vectors(member.vectors_used)
    assert list(brought.vectors(VectorOptions(**TINY)).words) == list(small.words)
    others = VectorOptions(**{**TINY, "dimensions": 6})
    assert "other" in list(brought.vectors(others).words)


def test_what_is_made_of_other_vectors_is_kept_apart(resources, tmp_path):
    imported = tmp_path / "v.txt"
    imported.write_text("1 3\nmelanoma 1 2 3\n")
    member = resources.of_member(0)
    member.vectors(VectorOptions(**TINY))
    others = [
        replace(resources, source=VectorSource(imported=imported)),
        replace(resources, source=VectorSource(extra_text=(imported,))),
        resources.with_vectors(member.vectors_used),
    ]
    artifacts = {
        variant.artifact("table", {}, lambda _folder: None) for variant in (resources, *others)
    }
    assert len(artifacts) == 4
    apart = {
        variant.artifact("terms", {}, lambda _folder: None, of_vectors=False)
        for variant in (resources, *others)
    }
    assert len(apart) == 1


def test_imported_vectors_serve_whatever_is_asked(resources, tmp_path):
    (tmp_path / "v.txt").write_text("2 3\nmelanoma 1 2 3\nglioma 4 5 6\n")
    resources.source = VectorSource(imported=tmp_path / "v.txt")
    assert resources.vectors(VectorOptions(**TINY)).dimensions == 3
    assert resources.vectors() is resources.vectors(VectorOptions(**TINY))


@pytest.mark.parametrize("index_first", [True, False])
def test_how_much_of_the_collection_imported_vectors_cover_is_told_once(
    resources, tmp_path, capsys, index_first
):
    def notices(content, name):
        (tmp_path / name).write_text(content)
        variant = replace(
            resources, source=VectorSource(imported=tmp_path / name), _vectors={}, _opened=_Opened()
        )
        readers = (variant.forward_index, variant.vectors)
        for ask in readers if index_first else reversed(readers):
            ask()
        variant.vectors()
        variant.of_member(1).vectors()
        elsewhere = variant.unopened()  # in the process of another member
        elsewhere.forward_index()
        elsewhere.vectors()
        return [line for line in capsys.readouterr().err.splitlines() if "have a vector" in line]

    assert notices("2 3\nmelanoma 1 2 3\nglioma 4 5 6\n", "some.txt") == [
        "some.txt: 33.3% of the 6 words of articles have a vector, and so 33.3% of its text"
    ]
    assert notices("2 3\nzzz 1 2 3\nqqq 4 5 6\n", "none.txt") == [
        "WARNING: none.txt: 0.0% of the 6 words of articles have a vector, and so 0.0% of its "
        "text: rankings with these vectors mean little"
    ]


def test_of_vectors_that_were_trained_on_the_collection_nothing_is_told(resources, capsys):
    resources.forward_index()
    resources.vectors(VectorOptions(**TINY))
    assert "have a vector" not in capsys.readouterr().err


def test_no_forward_index_is_built_to_tell_what_vectors_cover(resources, tmp_path, monkeypatch):
    (tmp_path / "v.txt").write_text("2 3\nmelanoma 1 2 3\nglioma 4 5 6\n")
    resources.source = VectorSource(imported=tmp_path / "v.txt")
    monkeypatch.setattr(
        "irplatform.text.build_forward_index", lambda *_, **__: pytest.fail("it was built")
    )
    resources.vectors()


def test_a_large_file_of_vectors_is_hashed_once_for_all_that_is_made_of_it(
    resources, tmp_path, monkeypatch
):
    path = tmp_path / "v.txt"
    path.write_text("2 3\nmelanoma 1 2 3\nglioma 4 5 6\n")
    monkeypatch.setattr("irplatform.files.digests._LARGE", 0)
    monkeypatch.setattr("irplatform.files.digests._SETTLED", -1)
    read = []
    hashed = digests.file_digest
    monkeypatch.setattr(digests, "file_digest", lambda file, *_: read.append(file) or hashed(file))
    description = VectorSource(imported=path, extra_text=(path,)).describe()
    assert description == {"imported": hashed(path), "extra_text": [[hashed(path), path.suffix]]}
    variant = replace(resources, source=VectorSource(imported=path))
    variant.vectors()
    for kind in ("one", "two"):
        variant.artifact(kind, {}, lambda _folder: None)
    assert read.count(path) == 1


@pytest.mark.parametrize("setting", ["imported", "extra_text"])
def test_a_missing_file_is_refused_at_once(tmp_path, setting):
    path = tmp_path / "nowhere"
    with pytest.raises(InputError, match="nowhere: there is no such file"):
        VectorSource(**{setting: path if setting == "imported" else (path,)})


def test_artifacts_of_plugins_depend_on_the_documents(resources):
    path = resources.artifact("things", {"size": 1}, lambda folder: (folder / "x").write_text("1"))
    assert (path / "x").read_text() == "1"
    assert resources.artifact("things", {"size": 1}, lambda _folder: 1 / 0) == path
    resources.corpus.fingerprint = "other"
    assert resources.artifact("things", {"size": 1}, lambda _folder: None) != path


@pytest.mark.parametrize(
    ("resumable", "resume", "built"),
    [
        (True, True, ["first", "second"]),
        (True, False, ["first", "first", "second"]),
        (False, True, ["first", "first", "second"]),
    ],
)
def test_an_interrupted_artifact_goes_on_where_its_builder_can(resources, resumable, resume, built):
    parts, stops = [], [KeyboardInterrupt]

    def build(folder):
        for part in ("first", "second"):
            if not (folder / part).exists():
                if part == "second" and stops:
                    raise stops.pop()
                parts.append(part)
                (folder / part).touch()

    resources = replace(resources, resume=resume)
    with pytest.raises(KeyboardInterrupt) as interrupted:
        resources.artifact("parts", {}, build, resumable=resumable)
    lost = any("starts over" in note for note in getattr(interrupted.value, "__notes__", ()))
    assert lost == (not (resumable and resume))
    resources.artifact("parts", {}, build, resumable=resumable)
    assert parts == built


def test_what_the_user_is_told_is_a_line(resources, capsys):
    resources.notice("no list:\n  take another")
    assert capsys.readouterr().err == "no list: take another\n"


def test_another_process_does_not_repeat_what_the_user_was_told(resources, capsys):
    resources.notice("features 'genes' are left out")
    clone = pickle.loads(pickle.dumps(resources.unopened()))
    clone.notice("features 'genes' are left out")
    clone.notice("something else")
    assert capsys.readouterr().err.splitlines() == [
        "features 'genes' are left out",
        "something else",
    ]


def test_a_checkpoint_is_loaded_with_the_vectors_that_it_brings(resources, tmp_path, monkeypatch):
    sources = []

    class Constant(TrainableReranker):
        def prepare(self, resources):
            sources.append(dict(resources.source.ready))

        def load(self, folder):
            (folder / "weights").read_text()

    stand_in = SimpleNamespace(reranker=lambda name: registration(Constant, name))
    monkeypatch.setattr("irplatform.collection_resources.registry", lambda: stand_in)
    folder = described(tmp_path / "checkpoint", "constant")
    (folder / "vectors" / "imported").mkdir(parents=True)
    (folder / "member-0").mkdir()
    with pytest.raises(PluginError, match=r"'constant' of .* failed loading a checkpoint: FileNot"):
        resources.checkpoint(folder)
    (folder / "member-0" / "weights").write_text("1")
    assert len(resources.checkpoint(folder)) == 1
    assert sources == [{"imported": folder / "vectors" / "imported"}] * 2
    assert not resources.source.ready
    (folder / "checkpoint.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="has format 99"):
        resources.checkpoint(folder)


def _prepared(resources, prepare):
    kind = type("Asking", (Reranker,), {"prepare": lambda self, collection: prepare(collection)})
    return ChosenReranker(registration(kind, "asking"), Options()).create(resources)


@pytest.mark.parametrize(
    ("prepare", "kind", "message"),
    [
        (lambda r: r.reranker("detla"), InputError, "unknown reranker 'detla'. Did you mean"),
        (
            lambda r: r.reranker("delta", {"nope": 1}),
            InputError,
            "'nope' is not an option of reranker 'delta'.",
        ),
        (
            lambda r: r.reranker("revdocid", {"nope": 1}),
            InputError,
            "'nope' is not an option of reranker 'revdocid'.",
        ),
        (
            lambda r: r.feature_group("lexical", {"nope": 1}),
            InputError,
            "'nope' is not an option of feature group 'lexical'.",
        ),
        (
            lambda r: r.forward_index().rows(["nope"]),
            PlatformError,
            "document 'nope' is not in the forward index.",
        ),
        (
            lambda r: r.artifact("My Kind", {}, _prepared),
            PlatformError,
            "'My Kind' cannot be the kind of an artifact",
        ),
    ],
)
def test_a_wrong_request_of_a_plugin_names_it(resources, monkeypatch, prepare, kind, message):
    monkeypatch.setattr("irplatform.collection_resources.is_third_party", lambda module: True)
    with pytest.raises(kind) as refused:
        _prepared(resources, prepare)
    assert refused.value.exit_code == kind.exit_code
    assert str(refused.value).startswith(
        f"reranker 'asking' of plugin 'strange' (strange-distribution 1.2): {message}"
    )


def test_artifacts_of_strangers_depend_on_their_code_and_have_places_of_their_own(
    resources, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "stranger_a.py"
    module.write_text("def build(folder):\n    (folder / 'x').write_text('1')\n")
    (tmp_path / "stranger_b.py").write_text(module.read_text())
    import stranger_a
    import stranger_b

    first = resources.artifact("counts", {}, stranger_a.build)
    assert resources.artifact("counts", {}, stranger_a.build) == first
    assert resources.artifact("counts", {}, stranger_b.build) != first
    module.write_text(module.read_text() + "# another version\n")
    # The code that runs is the one that was loaded; another process loads the other one.
    assert resources.artifact("counts", {}, partial(stranger_a.build)) == first
    code_digests.package_digests.cache_clear()
    assert resources.artifact("counts", {}, partial(stranger_a.build)) != first
    for kind in ("../counts", "checkpoint", "collections", "kb", "Counts", ""):
        with pytest.raises(PlatformError, match="cannot be the kind of an artifact of stranger_a"):
            resources.artifact(kind, {}, stranger_a.build)
