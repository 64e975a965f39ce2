"""A name is a plugin's, a user's own, a path or an ir_datasets id, in this order."""

import os

import pytest

from irplatform.collections.beir import open_beir
from irplatform.collections.names import add_alias, aliases, aliases_file, remove_alias, resolve
from irplatform.errors import InputError


@pytest.fixture(autouse=True)
def _home(fresh_home):
    """No aliases but those of the test."""


def test_a_registered_name_comes_first(beir_folder, tmp_path, monkeypatch):
    folder = beir_folder("test")
    beir_folder("test", name="demo")
    monkeypatch.chdir(tmp_path)
    registered = {"demo": lambda: open_beir(folder)}
    assert resolve("demo", registered).id == "small-test"
    assert resolve("./demo", registered).id == "demo-test"


def test_folders_splits_and_toml_files_are_found_from_here(
    beir_folder, toml_collection, tmp_path, monkeypatch
):
    beir_folder("dev", "test")
    toml_collection()
    monkeypatch.chdir(tmp_path)
    names = [
        "small",
        "small:dev",
        "./small",
        "pool",
        "pool/collection.toml",
        str(tmp_path / "pool"),
    ]
    ids = [resolve(name, {}).id for name in names]
    assert ids == ["small-test", "small-dev", "small-test", "pm", "pm", "pm"]


def test_splits_of_the_folder_here_and_of_the_one_above_are_found(beir_folder, monkeypatch):
    folder = beir_folder("dev", "train")
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=r"Choose one: \.:dev, \.:train, or \.:unjudged"):
        resolve(".", {})
    assert [resolve(name, {}).id for name in (".:dev", "./:train")] == ["small-dev", "small-train"]
    assert add_alias("here", ".") == str(folder)
    assert resolve("here:dev", {}).id == "small-dev"
    with pytest.raises(InputError, match=r"^unknown split 'tran'\. Did you mean 'train'\?"):
        resolve(".:tran", {})
    monkeypatch.chdir(folder / "qrels")
    assert resolve("..:train", {}).id == "small-train"


def test_an_alias_outlives_the_process_and_the_working_folder(beir_folder, tmp_path, monkeypatch):
    beir_folder("dev", "test")
    monkeypatch.chdir(tmp_path)
    assert add_alias("mine", "small:dev") == str(tmp_path / "small:dev")
    add_alias("folder", "small")
    monkeypatch.chdir("/")
    assert resolve("mine", {}).id == "small-dev"
    assert resolve("folder", {}).id == "small-test"
    assert resolve("folder:dev", {}).id == "small-dev"
    assert list(aliases()) == ["folder", "mine"]
    remove_alias("mine")
    with pytest.raises(InputError, match="unknown collection 'mine'"):
        resolve("mine", {})


def test_a_folder_without_the_split_test_can_have_a_name(beir_folder):
    folder = beir_folder("dev", "train")
    assert add_alias("mine", str(folder)) == str(folder)
    assert resolve("mine:dev", {}).id == "small-dev"
    with pytest.raises(InputError, match="there is no split 'test'"):
        resolve("mine", {})


def test_a_folder_whose_name_is_not_utf8_is_called_by_what_can_be_read_of_it(beir_folder):
    folder = beir_folder("test", name=os.fsdecode(b"Z\xfcrich"))
    assert add_alias("city", str(folder)) == str(folder)
    assert aliases() == {"city": str(folder)}
    opened = resolve("city", {})
    name = "Z\N{REPLACEMENT CHARACTER}rich"
    assert (opened.id, opened.corpus.name) == (f"{name}-test", name)


def test_an_alias_can_stand_for_an_ir_datasets_id():
    assert add_alias("nf", "beir/nfcorpus/test") == "beir/nfcorpus/test"
    assert resolve("nf", {}).id == "beir-nfcorpus-test"


@pytest.mark.parametrize("name", ["", "A", "a b", "a/b", "a:b", "-a", "x.toml", "ä"])
def test_names_that_could_be_mistaken_are_refused(name, beir_folder):
    with pytest.raises(InputError, match="cannot be a name"):
        add_alias(name, str(beir_folder("test")))


def test_a_plugins_name_is_refused(beir_folder):
    with pytest.raises(InputError, match="'demo' is a plugin's"):
        add_alias("demo", str(beir_folder("test")), registered={"demo": None})


def test_an_alias_for_nothing_is_refused_and_not_stored(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        add_alias("gone", str(tmp_path / "gone"))
    assert aliases() == {}


def test_removing_an_unknown_alias_names_the_nearest(beir_folder):
    add_alias("mine", str(beir_folder("test")))
    with pytest.raises(InputError, match="Did you mean 'mine'"):
        remove_alias("mines")


def test_a_spoilt_file_of_aliases_is_named():
    aliases_file().parent.mkdir(parents=True)
    aliases_file().write_text("{")
    with pytest.raises(InputError, match=r"collections\.json: cannot be read"):
        resolve("anything", {})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("demmo", "unknown collection 'demmo'. Did you mean 'demo'?"),
        ("zzz", "unknown collection 'zzz'. Known: demo"),
        ("beir/nfcorpus/tst", "Did you mean 'beir/nfcorpus/test'?"),
        ("./nowhere", "nowhere: there is no such folder or file"),
        ("nowhere:dev", "nowhere: there is no such folder or file"),
        ("demo:dev", "the collection 'demo' has no splits. Leave out ':dev'."),
        ("trec-pm-2017:dev", "the collection 'trec-pm-2017' has no splits."),
        ("beir/nfcorpus/test:dev", "the collection 'beir/nfcorpus/test' has no splits."),
        ("nowhere.toml", "nowhere.toml: there is no such file"),
        ("medline", "'medline' itself has no documents or no topics. Choose a part of it: "),
        (".", "this folder is not a collection"),
        ("empty", "this folder is not a collection"),
    ],
)
def test_a_wrong_name_is_answered_in_a_line(name, message, tmp_path, monkeypatch):
    if name.startswith(("beir", "medline", "trec-pm")):
        pytest.importorskip("ir_datasets")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        resolve(name, {"demo": lambda: None})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_with_toml_files_of_other_names_suggests_one(toml_collection):
    path = toml_collection()
    path.rename(path.with_name("2017.toml"))
    (path.parent / "qrels").mkdir(exist_ok=True)  # beside which it is a folder in no layout
    with pytest.raises(InputError, match=r"Did you mean .*2017\.toml\?"):
        resolve(str(path.parent), {})


def test_toml_files_of_something_else_are_not_suggested(tmp_path):
    (tmp_path / "other.toml").write_text("a = 1\n")
    (tmp_path / "broken.toml").write_text("a = ")
    with pytest.raises(InputError) as error:
        resolve(str(tmp_path), {})
    assert "Did you mean" not in str(error.value)


@pytest.mark.parametrize("name", ["", " "])
def test_no_name_is_not_the_folder_here(name, beir_folder, monkeypatch):
    monkeypatch.chdir(beir_folder("test"))
    with pytest.raises(InputError, match="no collection is named"):
        resolve(name, {})


def test_a_split_of_a_collection_toml_is_refused(toml_collection):
    with pytest.raises(InputError, match="has no splits"):
        resolve(f"{toml_collection().parent}:dev", {})


def test_a_folder_that_is_no_collection_does_not_hide_a_dataset(tmp_path, monkeypatch):
    pytest.importorskip("ir_datasets")
    (tmp_path / "vaswani").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve("vaswani", {}).title == "vaswani (ir_datasets)"
    assert add_alias("npl", "vaswani") == "vaswani"


def test_our_short_names_stand_for_datasets():
    collection = resolve("trec-pm-2017", {})
    assert collection.metadata["ir_datasets id"] == "medline/2017/trec-pm-2017"
    assert collection.training().metadata["ir_datasets id"] == "medline/2017/trec-pm-2018"
    assert collection.training().corpus.fingerprint == collection.corpus.fingerprint


def test_a_name_is_replaced_only_when_that_is_asked_for(beir_folder):
    first, other = beir_folder("test"), beir_folder("test", "dev")
    add_alias("mine", str(first))
    add_alias("mine", str(first))
    with pytest.raises(InputError, match=r"stands for .* already\. .*force=True"):
        add_alias("mine", f"{other}:dev")
    add_alias("mine", f"{other}:dev", replace=True)
    assert aliases()["mine"].endswith(":dev")


def test_a_built_in_name_is_not_hidden_unawares(beir_folder):
    with pytest.raises(InputError, match="'trec-pm-2017' stands for medline/2017/trec-pm-2017"):
        add_alias("trec-pm-2017", str(beir_folder("test")))
