"""The cache: artifacts are built once, and complete or absent."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from cached import DEPENDS_ON, never, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import irplatform
from irplatform.errors import InputError, PlatformError
from irplatform.files import cache as artifacts
from irplatform.files.cache import (
    OWN_KINDS,
    artifact,
    damaged_file,
    is_built,
    kept_json,
    nothing_made,
)
from irplatform.files.digests import digests
from irplatform.system.arithmetic import arithmetic

pytestmark = pytest.mark.usefixtures("fresh_home")


def test_an_artifact_is_built_once():
    first = artifact("kind", "label", DEPENDS_ON, write("content"))
    second = artifact("kind", "label", DEPENDS_ON, never)
    assert (first.built, second.built) == (True, False)
    assert first.path == second.path
    assert first.seconds == second.seconds
    assert (second.path / "content").read_text() == "content"


def test_what_a_killed_write_left_is_no_part_of_an_artifact():
    def killed(folder):
        (folder / ".facts.json.x7u2k9ab").write_text("{")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        artifact("kind", "label", DEPENDS_ON, killed, resumable=True)
    built = artifact("kind", "label", DEPENDS_ON, write("content"), resumable=True)
    assert sorted(path.name for path in built.path.iterdir()) == ["content", "manifest.json"]


def test_where_nothing_is_made_a_missing_artifact_is_an_error():
    with nothing_made(), pytest.raises(PlatformError, match="is not in the cache"):
        artifact("index", "demo", DEPENDS_ON, write("x"))
    index = artifact("index", "demo", DEPENDS_ON, write("x"))
    with nothing_made():
        assert artifact("index", "demo", DEPENDS_ON, never).path == index.path


def test_other_dependencies_make_another_artifact():
    paths = {
        artifact(kind, "label", depends_on, write("")).path
        for kind, depends_on in [
            ("kind", DEPENDS_ON),
            ("other", DEPENDS_ON),
            ("kind", {**DEPENDS_ON, "corpus": "abd"}),
            ("kind", {**DEPENDS_ON, "options": {"k": 2}}),
        ]
    }
    assert len(paths) == 4


def test_the_manifest_spells_the_dependencies_out():
    built = artifact("kind", "a label / with signs", DEPENDS_ON, write("12345"))
    manifest = json.loads((built.path / "manifest.json").read_text())
    assert manifest["depends_on"] == {**DEPENDS_ON, **arithmetic()}
    assert manifest["bytes"] == 5
    assert manifest["fingerprint"] == built.fingerprint
    assert built.path.name == f"a-label---with-signs-{built.fingerprint}"


def test_an_artifact_may_depend_on_a_file_whose_name_is_not_utf8():
    depends_on = {"file": os.fsdecode(b"Z\xfcrich.tsv")}
    entry = artifact("kind", "label", depends_on, write(""))
    assert json.loads((entry.path / "manifest.json").read_text())["depends_on"].items() >= (
        depends_on.items()
    )


def test_a_folder_without_a_manifest_is_not_an_artifact():
    built = artifact("kind", "label", DEPENDS_ON, write("old"))
    (built.path / "manifest.json").unlink()
    again = artifact("kind", "label", DEPENDS_ON, write("new"))
    assert again.built
    assert (again.path / "content").read_text() == "new"


@pytest.mark.parametrize(
    "manifest", ["{}", "", "no JSON", '{"bytes": "many"}', '{"bytes": null}', '{"bytes": 3}', "[]"]
)
def test_a_manifest_that_does_not_say_how_large_it_was_is_none(manifest):
    built = artifact("kind", "label", DEPENDS_ON, write("old"))
    (built.path / "manifest.json").write_text(manifest)
    assert artifact("kind", "label", DEPENDS_ON, write("new")).built


@pytest.mark.parametrize("lost", ["content", "sub/more", "manifest.json"])
@pytest.mark.parametrize("cut", [True, False], ids=["cut off", "gone"])
def test_an_artifact_that_lost_something_is_made_again(lost, cut, capsys):
    def write(folder):
        (folder / "content").write_text("content")
        (folder / "sub").mkdir()
        (folder / "sub" / "more").write_text("more")

    path = artifact("kind", "label", DEPENDS_ON, write).path
    if cut:
        os.truncate(path / lost, 3)
    else:
        (path / lost).unlink()
    assert not is_built("kind", "label", DEPENDS_ON)
    again = artifact("kind", "label", DEPENDS_ON, write)
    assert (again.built, again.path) == (True, path)
    assert (path / "sub" / "more").read_text() == "more"
    damage = "has a damaged file, " if "json" in lost else "lacks some of what was written there"
    message = f"kind/{path.name} {damage}"
    err = capsys.readouterr().err
    assert err.startswith(message) if cut or lost != "manifest.json" else err == ""


def _write_several(folder):
    (folder / "content").write_bytes(bytes(range(200)))
    (folder / "sub").mkdir()
    (folder / "sub" / "words.utf8").write_bytes(b"melanoma glioma" * 20)


def _flip(path, place):
    content = bytearray(path.read_bytes())
    content[place // 8 % len(content)] ^= 1 << place % 8
    path.write_bytes(content)


@given(name=st.sampled_from(["content", "sub/words.utf8"]), place=st.integers(0, 10**6))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_artifact_with_a_flipped_bit_is_made_again(name, place):
    path = artifact("kind", "label", DEPENDS_ON, _write_several).path
    before = (path / name).read_bytes()
    _flip(path / name, place)
    assert damaged_file(path) == path / name
    again = artifact("kind", "label", DEPENDS_ON, _write_several)
    assert again.built
    assert (path / name).read_bytes() == before
    assert not artifact("kind", "label", DEPENDS_ON, never).built


def test_a_damaged_file_is_named(capsys):
    path = artifact("kind", "label", DEPENDS_ON, _write_several).path
    _flip(path / "sub" / "words.utf8", 77)
    artifact("kind", "label", DEPENDS_ON, _write_several)
    expected = f"kind/{path.name} has a damaged file, sub/words.utf8, and is made again\n"
    assert capsys.readouterr().err == expected


def test_files_of_an_artifact_are_read_once_in_a_process(monkeypatch):
    path = artifact("kind", "label", DEPENDS_ON, _write_several).path
    monkeypatch.setattr("irplatform.files.digests._SETTLED", -1)
    read = []
    monkeypatch.setattr(
        artifacts, "digests", lambda paths, **more: read.extend(paths) or digests(paths, **more)
    )
    for _ in range(3):
        artifact("kind", "label", DEPENDS_ON, never)
    assert sorted(read) == [path / "content", path / "sub" / "words.utf8"]


def test_an_artifact_without_digests_is_used_as_it_is():
    path = artifact("kind", "label", DEPENDS_ON, _write_several).path
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["files"]  # of an earlier version
    (path / "manifest.json").write_text(json.dumps(manifest))
    _flip(path / "content", 5)
    assert not artifact("kind", "label", DEPENDS_ON, never).built


def test_files_that_are_filled_later_may_change():
    path = artifact("kind", "label", DEPENDS_ON, _write_several, filled_later=True).path
    _flip(path / "content", 5)
    assert not artifact("kind", "label", DEPENDS_ON, never, filled_later=True).built
    assert not artifact("kind", "label", DEPENDS_ON, never).built


def test_files_are_on_the_disk_before_a_manifest_says_so(monkeypatch):
    """Of others, a machine that stops may keep the size and lose the content."""
    on_disk = []

    def recorded(handle):
        path = Path(f"/proc/self/fd/{handle}").readlink()
        assert not (path.parent / "manifest.json").exists()
        on_disk.append(path.name)

    def build(folder):
        for name in ("one", "two"):
            (folder / name).write_text(name)

    monkeypatch.setattr(os, "fsync", recorded)
    artifact("kind", "label", DEPENDS_ON, build)
    assert sorted(on_disk) == ["one", "two"]


def test_what_readers_add_to_an_artifact_does_no_harm():
    path = artifact("kind", "label", DEPENDS_ON, write("content")).path
    (path / "write.lock").touch()
    (path / "more").write_text("more")
    assert not artifact("kind", "label", DEPENDS_ON, never).built


def test_what_was_built_under_another_label_is_found(fresh_home):
    """A label is mostly a collection's, whose folder may be renamed."""
    first = artifact("kind", "one", DEPENDS_ON, write("content"))
    assert is_built("kind", "two", DEPENDS_ON)
    second = artifact("kind", "two", DEPENDS_ON, never)
    assert (second.built, second.path) == (False, first.path)
    assert artifact("kind", "two", {**DEPENDS_ON, "corpus": "abd"}, write("other")).built
    assert artifact("other", "two", DEPENDS_ON, write("other")).built


def test_its_own_label_comes_first():
    twin = artifact("kind", "one", DEPENDS_ON, write("twin")).path
    namesake = twin.with_name(twin.name.replace("one", "two"))
    shutil.copytree(twin, namesake)
    assert artifact("kind", "two", DEPENDS_ON, never).path == namesake
    (namesake / "content").unlink()
    assert artifact("kind", "two", DEPENDS_ON, never).path == twin


def test_what_was_lost_under_another_label_is_told_and_made_again(capsys):
    lost = artifact("kind", "one", DEPENDS_ON, write("content")).path
    (lost / "content").unlink()
    assert not is_built("kind", "two", DEPENDS_ON)
    again = artifact("kind", "two", DEPENDS_ON, write("content"))
    assert again.built
    assert [path for path in lost.parent.iterdir() if path.is_dir()] == [again.path]
    assert f"kind/{lost.name} lacks some of what was written there" in capsys.readouterr().err


def _file_instead(path):
    shutil.rmtree(path, ignore_errors=True)
    path.write_text("no folder")


def _folder_instead(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "name"),
    [(_file_instead, "{}"), (_file_instead, "{}.partial"), (_folder_instead, "{}/manifest.json")],
)
@pytest.mark.parametrize("resumable", [True, False])
def test_what_somebody_put_into_the_place_of_an_artifact_gives_way(damage, name, resumable):
    path = artifact("kind", "label", DEPENDS_ON, write("old")).path
    if name.endswith("partial"):
        shutil.rmtree(path)
    damage(path.parent / name.format(path.name))
    again = artifact("kind", "label", DEPENDS_ON, write("new"), resumable=resumable)
    assert (again.built, again.path) == (True, path)
    assert (path / "content").read_text() == "new"
    assert not artifact("kind", "label", DEPENDS_ON, never).built


def test_a_damaged_file_of_json_is_named(tmp_path):
    (tmp_path / "facts.json").write_bytes(bytes(8))
    with pytest.raises(InputError, match=r"facts\.json: this cannot be read\. Delete its folder"):
        kept_json(tmp_path / "facts.json")


def test_a_long_label_is_cut_to_what_a_file_system_takes():
    built = artifact("kind", "𝒜" * 200, DEPENDS_ON, write("content"))
    assert built.path.name.startswith("𝒜" * 15 + "-")
    assert len(os.fsencode(built.path.name)) < 100


def test_a_cache_that_cannot_be_written_to_is_the_users_to_mend(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"file: this is a file, not a folder.*IRPLATFORM_HOME"):
        artifact("kind", "label", DEPENDS_ON, never)


def test_what_a_builder_may_not_read_is_not_blamed_on_the_cache():
    def build(_folder):
        raise PermissionError(13, "Permission denied", "/corpus.jsonl")

    with pytest.raises(PermissionError):
        artifact("kind", "label", DEPENDS_ON, build)


def test_kinds_of_the_platform_are_closed_to_plugins():
    sources = [path.read_text() for path in Path(irplatform.__file__).parent.rglob("*.py")]
    call = re.compile(r"\b(?:artifact|is_built|unfinished)\(\s*\"([a-z-]+)\"")
    assert {kind for text in sources for kind in call.findall(text)} <= OWN_KINDS
