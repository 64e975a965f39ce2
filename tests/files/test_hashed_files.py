"""What is kept under a corpus's fingerprint was read from the files that it stands for."""

import gzip

import pytest

from irplatform.documents.jsonlines import FieldNames, JsonLinesCorpus
from irplatform.documents.pubmed_files import PubmedCorpus
from irplatform.errors import InputError
from irplatform.files.digests import HashedFiles

XML = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version='1'>{}</PMID><Article>"
    "<ArticleTitle>a title</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    "</PubmedArticleSet>"
)


def _jsonl(path, number):
    path.write_text(f'{{"id": "{number}", "title": "a"}}\n')
    return JsonLinesCorpus("c", [path], FieldNames())


def _pubmed(path, number):
    path.write_bytes(gzip.compress(XML.format(number).encode()))
    return PubmedCorpus("c", [path])


CORPORA = pytest.mark.parametrize(
    ("name", "write"), [("a.jsonl", _jsonl), ("pubmed24n0001.xml.gz", _pubmed)]
)


@CORPORA
def test_a_file_that_was_replaced_since_it_was_hashed_is_not_read(tmp_path, write, name):
    corpus = write(tmp_path / name, 1)
    _ = corpus.fingerprint
    write(tmp_path / name, 2)
    with pytest.raises(InputError, match=rf"{name}.*changed while it was used. Run the command"):
        list(corpus)


@CORPORA
def test_nor_one_that_is_replaced_while_it_is_read(tmp_path, write, name):
    corpus = write(tmp_path / name, 1)
    _ = corpus.fingerprint
    documents = iter(corpus)
    assert next(documents).id == "1"
    write(tmp_path / name, 22)
    with pytest.raises(InputError, match="changed while it was used"):
        list(documents)


@CORPORA
def test_the_same_content_may_be_written_again(tmp_path, write, name):
    corpus = write(tmp_path / name, 1)
    _ = corpus.fingerprint
    write(tmp_path / name, 1)
    assert [document.id for document in corpus] == ["1"]


@CORPORA
def test_without_a_fingerprint_files_are_read_as_they_are(tmp_path, write, name):
    corpus = write(tmp_path / name, 1)
    write(tmp_path / name, 2)
    assert [document.id for document in corpus] == ["2"]


def test_a_file_that_is_gone_is_named(tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    files = HashedFiles([path])
    assert len(files.digests()) == 1
    path.unlink()
    with pytest.raises(InputError, match="a: cannot be read: No such file"):
        files.check(path)
