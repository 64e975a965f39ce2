"""Building an index."""

import os
import signal
import subprocess
import sys

import pytest

from irplatform.errors import InputError, PlatformError
from irplatform.lucene import LuceneIndex, build, build_index, is_indexed
from irplatform.plugin import Document

pytestmark = pytest.mark.java


def numbered(count):
    return [Document(str(n), f"title{n % 7}", f"word{n % 13} word{n % 5}") for n in range(count)]


def test_an_index_is_built_once(listed_corpus):
    corpus = listed_corpus(numbered(10))
    first, second = build_index(corpus), build_index(corpus)
    assert (first.built, second.built) == (True, False)
    assert first.path == second.path


def test_the_index_of_documents_under_another_name_is_found(listed_corpus):
    """As after their folder was renamed."""

    corpus = listed_corpus(numbered(10))
    first = build_index(corpus)
    corpus.name = "renamed"
    assert is_indexed(corpus)
    again = build_index(corpus)
    assert (again.built, again.path) == (False, first.path)


@pytest.mark.parametrize("threads", [1, 3])
def test_every_document_of_many_batches_is_indexed(index_of, threads):
    index = index_of(numbered(2500), threads=threads)
    assert index.count == 2500
    ids = [str(n) for n in range(2500)]
    assert [document.id for document in index.documents(ids)] == ids


def test_an_empty_corpus_is_refused(listed_corpus, fresh_home):
    with pytest.raises(InputError, match="'listed' has no documents"):
        build_index(listed_corpus([]))
    assert not [path for path in fresh_home.glob("index/*") if not path.suffix]


def test_duplicate_ids_are_refused_by_name(listed_corpus):
    documents = [*numbered(1200), Document("77", "again")]
    with pytest.raises(
        InputError, match=r"has 1 document id more than once, such as '77' \(2 times"
    ):
        build_index(listed_corpus(documents))


def test_a_document_that_is_too_long_is_named(listed_corpus):
    corpus = listed_corpus([*numbered(3), Document("huge", "title", "melanoma " * 2_300_000)])
    with pytest.raises(
        PlatformError, match=r"from 'huge' to 'huge'\. 'huge' is too long: .* 20,000,000"
    ):
        build_index(corpus)


def test_a_corpus_shorter_than_it_should_be_is_refused_with_numbers(listed_corpus):
    with pytest.raises(InputError, match="should have 5,000 documents but has 12"):
        build_index(listed_corpus(numbered(12), count=5000))


def test_an_error_of_the_corpus_reaches_the_caller_and_leaves_no_index(listed_corpus):
    class Broken(listed_corpus):
        def __iter__(self):
            yield from numbered(3)
            raise InputError("not JSON", path="corpus.jsonl", line=4)

    with pytest.raises(InputError, match=r"corpus\.jsonl:4: not JSON"):
        build_index(Broken([], fingerprint="broken"))
    assert build_index(listed_corpus(numbered(3), fingerprint="broken")).built


def test_the_index_is_whole_after_indexing_was_killed(listed_corpus, fresh_home):
    program = (
        "import sys, time\n"
        "from irplatform.data import Corpus\n"
        "from irplatform.plugin import Document\n"
        "from irplatform.lucene import build_index\n"
        "class Slow(Corpus):\n"
        "    name, fields, fingerprint = 'listed', (), 'killed'\n"
        "    def __iter__(self):\n"
        "        for n in range(1500):\n"
        "            yield Document(str(n), 'title', 'abstract')\n"
        "        print('indexing', flush=True)\n"
        "        time.sleep(60)\n"
        "build_index(Slow(), threads=2)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=os.environ.copy(), text=True
    ) as process:
        assert process.stdout.readline() == "indexing\n"
        process.send_signal(signal.SIGKILL)
    folders = [path.name for path in (fresh_home / "index").iterdir() if path.is_dir()]
    assert [name.endswith(".partial") for name in folders] == [True]

    artifact = build_index(listed_corpus(numbered(1600), fingerprint="killed"))
    assert artifact.built
    index = LuceneIndex.open(artifact.path)
    assert index.count == 1600
    index.close()


@pytest.mark.skipif(sys.platform == "win32", reason="files have no largest size")
@pytest.mark.parametrize(
    ("documents", "message"),
    [(1500, "Lucene took only "), (3, "the index of 'large' has 0 documents, but 3 were read")],
    ids=["while it is filled", "when it is closed"],
)
def test_an_index_that_cannot_be_written_is_told_in_a_line(documents, message, fresh_home):
    program = (
        "import resource\n"
        "from irplatform.data import Corpus\n"
        "from irplatform.errors import PlatformError\n"
        "from irplatform.plugin import Document\n"
        "from irplatform.lucene import build_index, java\n"
        "class Large(Corpus):\n"
        "    name, fields, fingerprint = 'large', (), 'large'\n"
        "    def __iter__(self):\n"
        f"        for n in range({documents}):\n"
        "            yield Document(str(n), 'title', ' '.join(map(str, range(n, n + 200))))\n"
        "java.start()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
        "try:\n"
        "    build_index(Large(), threads=1)\n"
        "except PlatformError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.startswith(message)
    assert f": File too large. Is the disk of {fresh_home / 'index'}" in result.stdout
    assert len(result.stdout.splitlines()) == 1
    assert not [path for path in fresh_home.glob("index/*") if not path.suffix]


def test_what_is_gathered_in_memory_is_written_when_it_reaches_the_limit(
    listed_corpus, monkeypatch
):
    # Anserini's own limit is 2 GB: a corpus of a million abstracts would fill the heap.
    monkeypatch.setattr(build, "_BUFFER_MB", 1)
    words = [f"w{n * 7919 % 90_000}" for n in range(90_000)]
    documents = [Document(str(n), "", " ".join(words[n * 20 :][:20])) for n in range(4_000)]
    folder = build_index(listed_corpus(documents), threads=1).path
    assert len(list(folder.glob("_*.si"))) > 1


@pytest.mark.usefixtures("fresh_home")
@pytest.mark.slow
def test_long_documents_are_indexed_and_read_in_a_small_heap():
    program = (
        "from irplatform.data import Corpus\n"
        "from irplatform.plugin import Document\n"
        "from irplatform.lucene import LuceneIndex, build, build_index\n"
        "class Long(Corpus):\n"
        "    name, fields, fingerprint = 'long', (), 'long'\n"
        "    def __iter__(self):\n"
        "        for n in range(60):\n"
        "            yield Document(str(n), 'title', f'{n} melanoma ' * 10_000)\n"
        "build._BATCH_CHARACTERS = 1_000_000\n"
        "index = LuceneIndex.open(build_index(Long(), threads=1).path)\n"
        "print(len(index.documents([str(n) for n in range(60)])))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "IRPLATFORM_JAVA_HEAP": "96m"},
        check=False,
    )
    assert (result.stdout, result.returncode) == ("60\n", 0), result.stderr[-2000:]
