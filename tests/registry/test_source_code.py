"""What is cached of a plugin depends on its code, and on the files that its options name."""

from importlib import metadata

import pytest
from small import chosen
from strangers import FILED, GOOD

from irplatform.files import code_digests
from irplatform.files.code_digests import distributions_of_packages, our_digest, source_digest
from irplatform.registry import loading
from irplatform.registry.loading import load, registry


def test_a_strangers_code_is_told_from_what_it_was_before(install, tmp_path):
    before = load(install("one", GOOD)).rerankers["length"].code_facts
    again = load(install("two", GOOD)).rerankers["length"].code_facts
    other = load(install("three", GOOD.replace("len(", "-len("))).rerankers["length"].code_facts
    assert before["version"] == other["version"] == "1.5"
    assert before["source"] == again["source"] != other["source"]
    assert "source" not in registry().rerankers["ltr"].code_facts


def test_all_modules_of_a_distribution_count(install, tmp_path, monkeypatch):
    """A helper beside the module of the class, and the class that it is derived from."""
    helper = tmp_path / "helper_of_one.py"
    helper.write_text("FACTOR = 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        "irplatform.files.code_digests.distributions_of_packages",
        lambda: {"helper_of_one": ["d"], "stranger": ["d"], "other": ["e"]},
    )
    (tmp_path / "stranger.py").write_text("")
    before = source_digest("stranger")
    assert source_digest("stranger.deeper") == before
    helper.write_text("FACTOR = -1.0\n")
    assert source_digest("stranger") == before, "what was loaded is what runs"
    code_digests.package_digests.cache_clear()
    assert source_digest("stranger") != before
    assert source_digest("stranger", "irplatform.plugin", "irplatform_ltr") == source_digest(
        "stranger"
    )


def test_the_version_counts_where_no_code_changed(tmp_path, monkeypatch):
    """A table in TOML is no code, and an author who edits one raises the version."""
    monkeypatch.setattr(
        "irplatform.files.code_digests.distributions_of_packages", lambda: {"stranger": ["d"]}
    )
    digests = []
    for version in ("1.0", "1.0", "2.0"):
        monkeypatch.setattr("irplatform.files.code_digests._version", lambda _, v=version: v)
        digests.append(source_digest("stranger"))
    assert digests[0] == digests[1] != digests[2]


def test_data_that_a_package_ships_counts_but_not_what_python_and_people_leave_there(
    tmp_path, monkeypatch
):
    package = tmp_path / "package_with_data"
    (package / "data" / ".git").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def digest():
        code_digests.package_digests.cache_clear()
        return source_digest("package_with_data")

    words = package / "data" / "words.txt"
    words.write_text("one")
    before = digest()
    for idle in ("README.md", "results.toml", "__pycache__/a.pyc", "data/.git/index", ".words.swp"):
        (package / idle).write_text("anything")
    assert digest() == before
    words.write_text("three")
    assert digest() != before


def test_an_edit_of_our_own_code_is_seen_by_the_next_command(tmp_path, monkeypatch):
    code = tmp_path / "ours" / "deeper.py"
    code.parent.mkdir()
    code.write_text("SCALE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(code_digests, "our_packages", lambda: frozenset({"ours"}))
    before = our_digest()
    code.write_text("SCALE = 2\n")
    assert our_digest() == before, "what was loaded is what runs"
    code_digests.package_digests.cache_clear()
    assert our_digest() != before


def test_files_that_options_name_count_for_a_stranger(install, tmp_path):
    length = "class Length(Reranker):"
    code = FILED + GOOD.replace(length, f"{length}\n    Options = Filed")
    length = load(install("filed", code)).rerankers["length"]
    words = tmp_path / "words.txt"
    words.write_text("one")
    before = length.describe(length.options({"words": words}))
    words.write_text("three")
    after = length.describe(length.options({"words": words}))
    assert before["options"] == after["options"]
    assert before["files"] != after["files"]


def test_files_within_options_count_however_deep(install, tmp_path):
    code = (
        FILED
        + """
class Part(Options):
    file: Path | None = None

class Plain(BaseModel):
    file: Path | None = None

class Many(Options):
    plain: Plain = Plain()
    files: tuple[Path, ...] = ()
    table: dict[str, Path] = {}
    parts: list[Part] = []
    folder: Path | None = None
"""
    )
    length = "class Length(Reranker):"
    code += GOOD.replace(length, f"{length}\n    Options = Many")
    registration = load(install("many", code)).rerankers["length"]
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    places = [tmp_path / name for name in ("a", "b", "c", "e", "folder/deep/d")]
    for place in places:
        place.write_text("one")
    files, table, part, plain, _ = places
    settings = {
        "files": [files], "table": {"x": table}, "parts": [{"file": part}],
        "folder": tmp_path / "folder", "plain": {"file": plain},
    }  # fmt: skip
    options = registration.options(settings)
    digests = [registration.code(options)["files"]]
    assert list(digests[0]) == [
        "plain.file", "files.0", "table.x", "parts.0.file", "folder.deep/d"
    ]  # fmt: skip
    for place in places:
        place.write_text("three")
        digests.append(registration.code(options)["files"])
        assert sum(digests[-1][name] != digests[-2][name] for name in digests[0]) == 1


@pytest.mark.parametrize("name", ["deepsense", "dual-encoder"])
def test_files_that_options_name_count_for_ours_too(tmp_path, name):
    reranker = registry().rerankers[name]
    assert "files" not in reranker.describe(reranker.options({}))
    assert not reranker.code(reranker.options({}))
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("one")
    options = reranker.options({"pairs": {"file": pairs}})
    before = reranker.describe(options), reranker.code(options)
    pairs.write_text("three")
    after = reranker.describe(options), reranker.code(options)
    assert before[0]["options"] == after[0]["options"]
    assert before[0]["files"].keys() == after[0]["files"].keys() == {"pairs.file"}
    assert before[0]["files"] != after[0]["files"]
    assert before[1] != after[1], "what reads its scores, such as ltr's stack"


READ_BY_OTHERS = """
from irplatform.plugin import FeatureGroup, Reranker, hookimpl

class Year(FeatureGroup):
    '''The year.'''
    def names(self):
        return ("year",)
    def compute(self, topic, documents):
        return [[document.fields["year"]] for document in documents]

class Last(Reranker):
    '''The newest first.'''
    def score(self, topic, documents):
        return [document.fields["year"] for document in documents]

@hookimpl
def register_features(register):
    register("year", Year)

@hookimpl
def register_rerankers(register):
    register("last", Last)
"""


def test_what_reads_a_strangers_features_or_scores_depends_on_its_code(
    install, tmp_path, monkeypatch
):
    def descriptions():
        code_digests.package_digests.cache_clear()
        plugins = load(entry_points)
        monkeypatch.setattr(loading, "registry", lambda: plugins)
        return (
            delta.describe_reads()["features"]["year"],
            stack.describe_reads()["last"],
        )

    delta = chosen("delta", features=["year"])
    stack = chosen("stack", "feature_group", rerankers=["last"])
    entry_points = install("others", READ_BY_OTHERS)
    before = descriptions()
    assert descriptions() == before
    (module,) = tmp_path.glob("module_others_*.py")
    module.write_text(module.read_text() + "# another one\n")
    assert all(one != other for one, other in zip(before, descriptions(), strict=True))


def test_what_reads_our_features_needs_no_word_of_their_code():
    assert chosen("delta", features=["lexical"]).describe_reads().keys() == {"feature_format"}


def test_packages_have_the_distributions_that_python_tells():
    distributions = distributions_of_packages.__wrapped__()
    expected = metadata.packages_distributions()
    assert {name: sorted(distributions.get(name, ())) for name in expected} == {
        name: sorted(owners) for name, owners in expected.items()
    }
