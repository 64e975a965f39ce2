"""Adding, replacing and removing: whole or not at all, and the same bytes every time."""

import hashlib
import os
import shutil

import filelock
import pytest
from kb_data import OWN
from small_files import piped

from irplatform.errors import InputError
from irplatform.knowledge import (
    add,
    catalogue,
    installation,
    installed,
    open_knowledge,
    remove,
)


def _files(home):
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


def test_what_was_added_is_listed_with_counts_and_sources(fresh_home, write):
    manifest = add("own", [write("own.tsv.gz", OWN)])
    assert installed() == {"own": manifest}
    assert manifest.counts["concepts"] == {"disease": 4, "drug": 1, "gene": 2}
    assert manifest.counts["relations"] == {"is-a": 3}
    assert manifest.total("names") == 12
    assert [(s["file"], s["format"]) for s in manifest.sources] == [("own.tsv.gz", "table")]


def test_the_users_own_are_last_in_the_order_of_precedence(monkeypatch):
    names = sorted([*catalogue.SOURCES, "a", "z"])
    monkeypatch.setattr(installation, "installed", lambda: dict.fromkeys(names))
    published = "mesh doid hgnc civic dgidb drugs pharmacotherapydb hetionet mesh-xrefs umls"
    assert installation.all_installed() == (*published.split(), "a", "z")


def test_a_file_whose_name_is_not_utf8_is_listed(fresh_home, write):
    name = os.fsdecode(b"Z\xfcrich.tsv")
    add("own", [write(name, OWN)])
    assert [source["file"] for source in installed()["own"].sources] == [name]


def test_writing_many_names_shows_how_far_it_is(fresh_home, write, monkeypatch, capsys):
    monkeypatch.setattr("irplatform.system.console._LINE_INTERVAL", 0)
    rows = "".join(f"Y:{number}\tname {number}\tother\n" for number in range(2000))
    add("many", [write("many.tsv", f"id\tname\tkind\n{rows}")])
    progress = capsys.readouterr().err
    assert "reading many: 42 of 42 kB" in progress
    assert "writing names: 1,000 of 2,000 concepts" in progress


def test_two_builds_of_one_file_are_equal_to_the_byte(tmp_path, monkeypatch, write):
    contents = []
    for home in ("a", "b"):
        monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / home))
        add("own", [write("own.tsv", OWN)])
        contents.append(_files(tmp_path / home))
    assert contents[0] == contents[1]
    assert len(contents[0]) == 2


def test_adding_the_same_file_again_does_nothing(fresh_home, write, capsys):
    manifest = add("own", [write("own.tsv", OWN)])
    stamp = manifest.path.stat().st_mtime_ns
    assert add("own", [write("copy.tsv", OWN)]) == manifest
    assert manifest.path.stat().st_mtime_ns == stamp
    assert "already there" in capsys.readouterr().err


def test_another_content_of_a_pipe_replaces_it(fresh_home):
    for name in ("alpha", "beta"):
        text = f"id\tname\tkind\nX:1\t{name}\tdrug\n"
        manifest = add("own", [piped(text)])
        assert manifest.sources[0]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
        assert [concept.name for concept in open_knowledge(["own"]).concepts()] == [name]


def test_another_file_replaces_it_and_says_so(fresh_home, write, capsys):
    first = add("own", [write("own.tsv", OWN)])
    opened = open_knowledge(["own"])
    assert opened.find("melanoma")
    second = add("own", [write("own.tsv", OWN.replace("melanoma", "carcinoma"))])
    assert "replaced" in capsys.readouterr().err
    assert first.fingerprint != second.fingerprint
    assert not first.path.exists()
    assert open_knowledge(["own"]).find("melanoma") == []
    assert opened.find("melanoma"), "who reads the old one goes on reading it"


def test_what_is_open_is_not_opened_again_until_it_is_replaced(fresh_home, write):
    add("own", [write("own.tsv", OWN)])
    opened = open_knowledge(["own"])
    assert open_knowledge(["own", "own"]) is opened
    add("own", [write("own.tsv", OWN.replace("melanoma", "carcinoma"))])
    assert open_knowledge(["own"]) is not opened


def test_several_files_are_one_knowledge_base(fresh_home, write):
    more = "id\tname\tkind\tsynonyms\nX:2\tmelanoma\tother\tnaevocarcinoma\nY:1\tnew\tdrug\t\n"
    add("own", [write("own.tsv", OWN), write("more.tsv", more)])
    knowledge = open_knowledge(["own"])
    assert [c.id for c in knowledge.find("naevocarcinoma")] == ["X:2"]
    assert knowledge.concept("X:2").kind == "disease"
    assert knowledge.concept("Y:1").kind == "drug"


def test_a_file_that_adds_nothing_is_named(fresh_home, write, capsys):
    table, header = write("own.tsv", OWN), write("header.tsv", "id\tname\tkind\tsynonyms\n")
    add("own", [table, header])
    output = capsys.readouterr().err
    assert f"WARNING: {header}: there is no concept or relation in it.\n" in output
    assert "not read" not in output
    again = write("again.tsv", "id\tname\tkind\tsynonyms\n")
    with pytest.raises(InputError, match=r"header\.tsv, .*again\.tsv: there is no concept"):
        add("own", [header, again])


@pytest.mark.parametrize("before", [False, True])
def test_a_bad_file_changes_nothing(fresh_home, write, before):
    if before:
        add("own", [write("own.tsv", OWN)])
    files = _files(fresh_home)
    with pytest.raises(InputError, match=r"bad.tsv:9: 2 columns where the header has 6"):
        add("own", [write("bad.tsv", OWN + "X:9\tcut\n")])
    assert _files(fresh_home) == files
    assert list(installed()) == (["own"] if before else [])
    assert before or not (fresh_home / "kb" / "own").exists()


def test_an_interrupted_build_leaves_nothing_and_debris_of_a_killed_one_goes(
    fresh_home, write, monkeypatch
):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(installation.Builder, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            add("own", [write("own.tsv", OWN)])
    assert _files(fresh_home) == {}
    debris = fresh_home / "kb" / "own" / ".partial-dead"
    debris.mkdir(parents=True)
    (debris / "kb.sqlite").write_text("half")
    add("own", [write("own.tsv", OWN)])
    assert not debris.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this file is empty"),
        ("id\tname\tkind\n", "there is no concept"),
        ("\n\n", "this file is empty"),
    ],
)
def test_an_empty_file_is_refused(fresh_home, write, text, said):
    with pytest.raises(InputError, match=rf"empty\.tsv: {said}"):
        add("own", [write("empty.tsv", text)])
    assert installed() == {}


@pytest.mark.parametrize("name", ["", "Mesh", "../mesh", "a b", ".mesh"])
def test_what_cannot_be_a_name(fresh_home, write, name):
    with pytest.raises(InputError, match="cannot be a name"):
        add(name, [write("own.tsv", OWN)])


def test_a_file_of_another_source_is_told_apart(fresh_home, write):
    genes = "HGNC ID\tApproved symbol\tApproved name\tStatus\n"
    with pytest.raises(InputError, match=r"genes.tsv:1: .*'mesh'.*use the name 'hgnc'"):
        add("mesh", [write("genes.tsv", genes)])
    with pytest.raises(InputError, match=r"noise.tsv:1: this is not in a format that is known"):
        add("own", [write("noise.tsv", "noise")])


def test_a_format_that_is_asked_for(fresh_home, write):
    with pytest.raises(InputError, match="Did you mean 'mesh-ascii'"):
        add("mesh", [write("own.tsv", OWN)], "mesh-asci")
    with pytest.raises(InputError, match=r"own.tsv:1: .*is neither \*NEWRECORD"):
        add("mesh", [write("own.tsv", OWN)], "mesh-ascii")


def test_files_that_are_not_there_or_not_gzip(fresh_home, write, tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        add("own", [tmp_path / "nothing.tsv"])
    plain = write("own.tsv", OWN)
    with pytest.raises(InputError, match="not a whole gzip file"):
        add("own", [plain.rename(tmp_path / "own.tsv.gz")])
    cut = write("cut.tsv.gz", OWN + "".join(f"Y:{n}\ty\tdrug\t\t\t\n" for n in range(10_000)))
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(InputError, match="not a whole gzip file"):
        add("own", [cut])
    assert installed() == {}


def test_what_is_not_installed_comes_with_the_command_that_adds_it(fresh_home):
    with pytest.raises(InputError, match="`platform kb add mesh FILE`"):
        open_knowledge(["mesh"])
    with pytest.raises(InputError, match="the knowledge base 'mesh' is not installed"):
        remove("mesh")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mehs", "'mehs' is not installed. Did you mean 'mesh'? Installed: own. `platform kb add"),
        ("onw", "'onw' is not installed. Did you mean 'own'? Installed: own."),
        ("mesh", "'mesh' is not installed. Installed: own. `platform kb add mesh FILE`"),
        ("zzz", "'zzz' is not installed. Installed: own. `platform kb add zzz FILE`"),
    ],
)
def test_a_misspelt_name_comes_with_the_near_one_first(fresh_home, write, name, message):
    add("own", [write("own.tsv", OWN)])
    with pytest.raises(InputError) as error:
        open_knowledge([name])
    assert message in str(error.value)


def test_removing(fresh_home, write):
    add("own", [write("own.tsv", OWN)])
    remove("own")
    assert installed() == {}
    assert _files(fresh_home) == {}


def test_adding_waits_for_one_that_removes_the_folder(fresh_home, write, monkeypatch):
    class AfterAnother(filelock.FileLock):
        """Handed on by a process that removed the knowledge base, or failed to add it."""

        def acquire(self, *args, **kwargs):
            lock = super().acquire(*args, **kwargs)
            shutil.rmtree(fresh_home / "kb" / "own", ignore_errors=True)
            return lock

    monkeypatch.setattr("filelock.FileLock", AfterAnother)
    manifest = add("own", [write("own.tsv", OWN)])
    assert installed() == {"own": manifest}


def test_a_manifest_that_was_changed_can_still_be_removed(fresh_home, write):
    base = add("own", [write("own.tsv", OWN)])
    manifest = base.path.with_name("manifest.json")
    manifest.write_text("{")
    with pytest.raises(InputError, match="platform kb remove own"):
        open_knowledge(["own"])
    remove("own")
    assert installed() == {}


def test_another_version_is_to_be_added_again(fresh_home, write, monkeypatch):
    path = write("own.tsv", OWN)
    manifest = add("own", [path])
    monkeypatch.setattr(installation, "VERSION", manifest.version + 1)
    with pytest.raises(InputError, match="added by another version"):
        open_knowledge(["own"])
    assert add("own", [path]).version == manifest.version + 1
    open_knowledge(["own"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_to(fresh_home, write):
    fresh_home.mkdir()
    fresh_home.chmod(0o500)
    with pytest.raises(InputError, match="IRPLATFORM_HOME"):
        add("own", [write("own.tsv", OWN)])
