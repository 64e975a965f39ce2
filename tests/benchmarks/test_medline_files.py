"""The generated MEDLINE files are in the official format, whole, and the same at every call."""

import gzip
import io

import pytest

from irplatform.documents.pubmed_files import read_articles


@pytest.fixture
def files():
    """The module, which is not part of a package."""
    import _medline_files

    return _medline_files


def test_generated_articles_are_read_with_all_their_parts(files, tmp_path):
    path = files.write_file(tmp_path / "a.xml.gz", 11, 40)
    content = gzip.decompress(path.read_bytes())
    articles = list(read_articles(io.BytesIO(content), path))
    assert [article.pmid for article in articles] == [str(n) for n in range(11, 51)]
    assert all(article.title and article.mesh and article.chemicals for article in articles)
    assert all(article.mesh == article.mesh_major and article.date for article in articles)
    assert 0 < sum(not article.abstract for article in articles) < 20
    assert any("METHODS: " in article.abstract for article in articles)
    assert 5_000 < len(content) / 40 < 9_000


def test_an_article_depends_on_its_number_only(files):
    one, other = files.Articles(), files.Articles()
    assert one.article(7) == other.article(7) != one.article(8)
