import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from small_files import files_of

from irplatform.errors import InputError
from irplatform.plugin import Document
from irplatform.text import VectorOptions, WordVectors, train_vectors
from irplatform.text.extra_text import read_paragraphs
from irplatform.text.vector_training import _Sentences, automatic_epochs, automatic_min_count

SMALL = {"dimensions": 8, "epochs": 2, "min_count": 2, "sample": 0}


def documents():
    topics = [["statins", "lipids", "heart"], ["melanoma", "braf", "kinase"]]
    for number in range(200):
        words = topics[number % 2]
        yield Document(
            f"d{number}", " ".join(words), f"Of {words[number % 3]} {words[0]}. In mice."
        )


def trained(folder, extra_text=(), **options):
    train_vectors(documents(), extra_text, VectorOptions(**(SMALL | options)), folder)
    return WordVectors.open(folder)


@pytest.mark.parametrize("algorithm", ["skip-gram", "cbow"])
@pytest.mark.parametrize("hierarchical_softmax", [True, False])
def test_words_of_one_topic_come_to_lie_together(tmp_path, algorithm, hierarchical_softmax):
    vectors = trained(
        tmp_path,
        algorithm=algorithm,
        hierarchical_softmax=hierarchical_softmax,
        epochs=30,
        window=2,
    )
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    statins, lipids, braf = unit[vectors.rows(["statins", "lipids", "braf"])]
    assert statins @ lipids > statins @ braf


def test_training_is_repeatable_and_leaves_nothing_else_behind(tmp_path):
    trained(tmp_path / "one")
    trained(tmp_path / "two")
    trained(tmp_path / "other", seed=2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    assert "sentences.txt" not in files_of(tmp_path / "one")
    assert files_of(tmp_path / "one")["vectors.npy"] != files_of(tmp_path / "other")["vectors.npy"]


@pytest.mark.slow
def test_training_does_not_depend_on_the_process(tmp_path):
    program = (
        "import sys; from pathlib import Path\n"
        "from test_vector_training import trained; trained(Path(sys.argv[1]))"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    for hash_seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", program, tmp_path / hash_seed],
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        )
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")


def test_the_facts_say_how_vectors_were_made(tmp_path):
    facts = trained(tmp_path, min_count="auto", epochs="auto").facts
    assert facts["options"]["min_count"] == "auto"
    assert (facts["min_count"], facts["epochs"], facts["words_of_text"]) == (2, 30, 1600)


def test_further_text_adds_words_in_every_format(tmp_path):
    (tmp_path / "a.txt").write_text("# a comment alone\nAspirin here. Aspirin there.\n\n")
    (tmp_path / "b.jsonl").write_text('{"title": "Ibuprofen", "abstract": "Ibuprofen."}\n')
    with gzip.open(tmp_path / "c.tsv.gz", "wt") as file:
        file.write('id\tsentence\tcited_title\nskipped\tWith "morphine.\tMorphine\n')
    files = [tmp_path / name for name in ("a.txt", "b.jsonl", "c.tsv.gz")]
    words = set(trained(tmp_path / "vectors", files).words)
    assert {"aspirin", "ibuprofen", "morphine"} <= words
    assert not {"comment", "skipped"} & words


def test_words_far_into_a_sentence_are_learned_too(tmp_path):
    """gensim reads 10,000 words of a sentence, and a text without capitals is one."""
    one, other = "early dawn " * 6000, "late dusk " * 6000
    (tmp_path / "long.txt").write_text(f"{one}{other}\n")
    learned = []
    for epochs in (1, 3):
        vectors = trained(tmp_path / str(epochs), [tmp_path / "long.txt"], epochs=epochs)
        learned.append(vectors.matrix[vectors.rows(["early", "late", "dusk"])])
    assert (np.abs(learned[0] - learned[1]).max(axis=1) > 1e-4).all()


def test_a_cell_of_a_table_may_hold_a_carriage_return(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"title\tid\r\nOne\rtwo\t1\r\n")
    assert list(read_paragraphs(tmp_path / "a.tsv")) == ["One\rtwo"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", b"# comment\nOne\n"), ("a.jsonl", b'{"title": "One"}'), ("a.tsv", b"title\nOne")],
)
def test_a_byte_order_mark_is_no_text(tmp_path, name, content):
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + content)
    assert [text.strip() for text in read_paragraphs(tmp_path / name)] == ["One"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"x", "text must be a .txt, .jsonl or .tsv file"),
        ("a.jsonl", b'{"title": "x"}\n{', r"a.jsonl:2: this line is not JSON"),
        ("a.jsonl", b"[]", r"a.jsonl:1: this line needs an object"),
        ("a.jsonl", b'{"body": "x"}', r"a.jsonl:1: this line needs an object"),
        ("a.tsv", b"id\tname\n1\tx\n", r"a.tsv:1: this table needs a header"),
        ("a.txt", b"\xe9", "byte 1 of this line is not UTF-8"),
        ("a.txt.gz", b"no gzip", "not a whole gzip file"),
        ("a.txt.gz", gzip.compress(b"x" * 99, mtime=0)[:-9], "not a whole gzip file"),
        ("missing.txt", None, "there is no such file"),
    ],
)
def test_text_that_cannot_be_read_is_an_explained_mistake(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        trained(tmp_path / "vectors", [tmp_path / name])
    assert not (tmp_path / "vectors" / "vectors.json").exists()


def test_too_little_text_is_an_explained_mistake(tmp_path):
    with pytest.raises(InputError, match="none occurs 5 times"):
        train_vectors([Document("d", "two words")], [], VectorOptions(min_count=5), tmp_path)


def test_the_rules_of_size_reach_the_papers_settings():
    assert [automatic_min_count(n) for n in (0, 900_000, 14_000_000, 4 * 10**9, 10**11)] == [
        2, 2, 6, 101, 101,
    ]  # fmt: skip
    assert [automatic_epochs(n) for n in (0, 900_000, 8_000_000, 14_000_000, 4 * 10**9)] == [
        30, 30, 8, 5, 1,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"algorithm": "glove"},
        {"min_count": "many"},
        {"min_count": 0},
        {"epochs": 0},
        {"seed": 2**32},
        {"sample": 1},
        {"workers": 0},
        {"dim": 3},
    ],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ValidationError):
        VectorOptions(**wrong)


def test_sentences_that_are_gone_are_none(tmp_path):
    """An interruption removes them while a thread of gensim's may just begin with an epoch."""
    assert list(_Sentences(tmp_path / "sentences.txt", lambda _: None)) == []
