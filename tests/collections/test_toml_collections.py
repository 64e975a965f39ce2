"""A collection.toml says where documents, topics and judgments are; its mistakes are explained."""

import re
import shutil

import pytest

from irplatform.collections.inspection import check
from irplatform.collections.names import open_path
from irplatform.errors import InputError
from irplatform.experiment.learning import check_same_documents, find_training
from irplatform.lucene import build_index
from irplatform.plugin import Document


def test_everything_that_is_declared_is_there(toml_collection):
    path = toml_collection()
    collection = open_path(path)
    assert (collection.id, collection.title) == ("pm", "A pool")
    assert collection.measures == ("P@10",)
    assert list(collection.corpus) == [
        Document("1", "One", fields={"mesh": ("Humans",)}),
        Document("2", abstract="Two"),
    ]
    assert [(t.id, t.query) for t in collection.load_topics()] == [
        ("1", "Liposarcoma CDK4 Amplification"),
        ("2", "Lung cancer EGFR <L858R>"),
    ]
    assert collection.load_topics()[1].fields["other"] == "None"
    assert collection.load_qrels() == {"1": {"1": 2}, "2": {"2": 0}}
    assert collection.sampled_qrels == path.parent / "sampled.txt"
    assert collection.training is None


def test_judgments_measures_and_title_may_be_left_out(toml_collection, declaration):
    lines = declaration.replace('title = "A pool"\nmeasures = ["P@10"]\n', "")
    collection = open_path(toml_collection(lines.partition("[qrels]")[0]))
    assert collection.load_qrels is None
    assert collection.sampled_qrels is None
    assert collection.title == "pm"
    assert "nDCG@20" in collection.measures


def test_sampled_judgments_alone_are_judgments_too(toml_collection, declaration):
    path = toml_collection(declaration.replace('file = "qrels.txt"\n', ""))
    (path.parent / "sampled.txt").write_text("1 0 1 1 2\n1 0 2 2 -1\n2 0 2 1 0\n")
    collection = open_path(path)
    assert collection.load_qrels() == {"1": {"1": 2}, "2": {"2": 0}}
    assert collection.metadata["judgments"] == str(path.parent / "sampled.txt")


def test_grades_may_be_defined_before_there_are_judgments(toml_collection, declaration):
    grades = '[qrels.grades]\n0 = "no"\n-1 = "junk"\n'
    collection = open_path(toml_collection(declaration.partition("[qrels]")[0] + grades))
    assert collection.grades == {0: "no", -1: "junk"}
    assert collection.load_qrels is None
    assert open_path(toml_collection()).grades == {}


@pytest.mark.parametrize("files", ["docs/*.jsonl*", "docs", "./docs/[ab].*"])
def test_patterns_and_folders_name_the_files_of_documents(toml_collection, declaration, files):
    listing = '"docs/a.jsonl", "docs/b.jsonl.gz"'
    one_by_one = open_path(toml_collection()).corpus.fingerprint
    corpus = open_path(toml_collection(declaration.replace(listing, f'"{files}"'))).corpus
    assert [document.id for document in corpus] == ["1", "2"]
    assert corpus.fingerprint == one_by_one


def test_a_pattern_that_names_no_documents_is_told(toml_collection, declaration):
    path = toml_collection(declaration.replace("docs/a.jsonl", "docs/x*.jsonl"))
    with pytest.raises(InputError, match=r"\[documents\] files: there are no files .*x\*\.jsonl\."):
        open_path(path)


def test_two_collections_can_train_for_each_other(toml_collection, declaration):
    path = toml_collection(declaration + '[train]\ncollection = "other.toml"\n')
    other = declaration.replace('"pm"', '"other"') + '[train]\ncollection = "collection.toml"\n'
    (path.parent / "other.toml").write_text(other)
    collection = open_path(path)
    training = collection.training()
    assert training.id == "other"
    assert training.training().id == "pm"
    assert training.corpus.fingerprint == collection.corpus.fingerprint
    assert training.corpus.name == collection.corpus.name


def test_a_folder_in_beir_layout_can_train(toml_collection, declaration, beir_folder):
    beir_folder("train")
    path = toml_collection(declaration + '[train]\ncollection = "../small:train"\n')
    assert open_path(path).training().id == "small-train"


def test_the_folder_that_the_file_lies_in_can_train(
    toml_collection, declaration, beir_folder, monkeypatch
):
    folder = beir_folder("train")
    text = declaration + '[train]\ncollection = ".:train"\n'
    path = toml_collection(text, name=folder.name).rename(folder / "new.toml")
    assert open_path(path).training().id == "small-train"
    monkeypatch.chdir(folder)
    assert open_path(path.relative_to(folder)).training().id == "small-train"


def test_a_folder_over_the_same_file_trains_whatever_fields_are_kept(
    toml_collection, declaration, beir_folder
):
    beir_folder("train")
    files, keys = 'files = ["docs/a.jsonl", "docs/b.jsonl.gz"]', 'id = "_id"\nabstract = "text"'
    text = declaration.replace(files, f'files = ["../small/corpus.jsonl"]\n{keys}')
    collection = open_path(toml_collection(text + '[train]\ncollection = "../small:train"\n'))
    training = find_training(collection, [])
    assert training.id == "small-train"
    check_same_documents(training, collection.corpus)
    assert "training partner" not in {finding.kind for finding in check(collection)}


def test_a_missing_training_collection_is_reported_when_it_is_asked_for(
    toml_collection, declaration
):
    collection = open_path(toml_collection(declaration + '[train]\ncollection = "no.toml"\n'))
    with pytest.raises(InputError, match=r"collection.toml: \[train\] collection: .*no.toml"):
        collection.training()


def test_a_collection_cannot_train_for_itself(toml_collection, declaration):
    text = declaration + '[train]\ncollection = "../pool/collection.toml"\n'
    with pytest.raises(InputError, match="cannot train for itself"):
        open_path(toml_collection(text)).training()


def test_the_corpus_is_the_same_wherever_the_folder_lies(toml_collection, tmp_path):
    path = toml_collection()
    moved = shutil.copytree(path.parent, tmp_path / "elsewhere" / "pool")
    assert open_path(moved).corpus.fingerprint == open_path(path).corpus.fingerprint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "pm"', "", "the key 'id' is missing"),
        ('id = "pm"', 'id = "../pm"', "the id cannot be '../pm': it may hold letters"),
        ('id = "pm"', 'id = "small 2017"', "the id cannot be 'small 2017'"),
        ('title = "A pool"', 'titel = "x"', "unknown key 'titel'. Did you mean 'title'?"),
        ("fields = [", "feilds = [", "[documents] unknown key 'feilds'. Did you mean"),
        ("[documents]", "[corpus]", "unknown table 'corpus'. Known: "),
        ("[documents]", "[docs]", "unknown table 'docs'. Did you mean 'documents'?"),
        ("[documents]", "[document]", "unknown table 'document'. Did you mean 'documents'?"),
        ("[topics]\nfile", "[topics]\nfiel", "[topics] unknown key 'fiel'. Did you mean 'f"),
        ('format = "trec-pm"', 'format = "xml"', "[topics] 'format' cannot be 'xml'"),
        ('format = "trec-pm"', "", "[topics] the key 'format' is missing"),
        ('measures = ["P@10"]', 'measures = "P@10"', "'measures' cannot be 'P@10'"),
        ('files = ["docs/a.jsonl", "docs/b.jsonl.gz"]', "files = []", "'files' cannot be []"),
        ("docs/a.jsonl", "docs/x.jsonl", "[documents] files: there is no file"),
        ("topics.xml", "x.xml", "[topics] file: there is no file"),
        ("qrels.txt", "x.txt", "[qrels] file: there is no file"),
        ("sampled.txt", "x.txt", "[qrels] sampled: there is no file"),
        ('file = "qrels.txt"\nsampled = "sampled.txt"', "", "[qrels] the key 'file' is missing"),
        ("{disease} {gene}", "{disease", "[topics] query: the query template"),
        ("{disease} {gene}", "{disease.__class__}{", "[topics] query: the query template"),
        ("[qrels]", '[qrels]\ngrades = {high = "yes"}', "'grades' cannot be"),
        ("[qrels]", "[qrels", "toml:11: this is not TOML"),
    ],
)
def test_a_mistake_is_explained_in_a_line_that_names_the_file(
    toml_collection, declaration, old, new, message
):
    assert old in declaration
    path = toml_collection(declaration.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        open_path(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_template_that_asks_for_another_field_is_answered_with_the_fields(
    toml_collection, declaration
):
    collection = open_path(toml_collection(declaration.replace("{gene}", "{genes}")))
    with pytest.raises(InputError) as error:
        collection.load_topics()
    assert "Did you mean 'gene'? Fields: disease, gene, other." in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '["mesh"]',
            '["mesh", "mseh"]',
            r"not a key of the 2 documents in .*pool/docs/a\.jsonl, …\. .*mean 'mesh'",
        ),
        ("fields", 'title = "titel"\nfields', "'titel' is not a key of .* Did you mean 'title'"),
    ],
)
@pytest.mark.java
def test_a_key_that_no_document_has_is_found(
    toml_collection, declaration, fresh_home, old, new, message
):
    collection = open_path(toml_collection(declaration.replace(old, new, 1)))
    assert collection.corpus.problems() == ()
    problems = {finding.kind: finding for finding in check(collection)}
    assert problems["keys that no document has"].serious
    assert re.search(message, problems["keys that no document has"].message)
    with pytest.raises(InputError, match=message):
        build_index(open_path(toml_collection(declaration.replace(old, new, 1))).corpus)


def test_titles_that_nobody_spoke_of_may_be_missing(toml_collection, json_lines):
    path = toml_collection()
    json_lines(path.parent / "docs/a.jsonl", [{"id": "1", "abstract": "One", "mesh": []}])
    corpus = open_path(path).corpus
    assert [document.title for document in corpus] == ["", ""]
    assert corpus.problems() == ()
