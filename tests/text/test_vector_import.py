import gzip
import os
import pickle
import struct

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.text import WordVectors, import_vectors

ENTRIES = {"Cancer": [1.0, 2.0, 3.0], "IL-6": [0.5, 0.25, -1.0], "mice": [4.0, 5.0, 6.0]}


def lines(entries=ENTRIES):
    return "".join(f"{w} {' '.join(map(str, v))}\n" for w, v in entries.items()).encode()


def header(entries=ENTRIES):
    return f"{len(entries)} 3\n".encode()


def word2vec_binary(entries=ENTRIES):
    rows = [word.encode() + b" " + struct.pack("<3f", *v) + b"\n" for word, v in entries.items()]
    return header(entries) + b"".join(rows)


def imported(path, content, folder):
    path.write_bytes(content)
    import_vectors(path, folder)
    return WordVectors.open(folder)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("w2v.txt", header() + lines(), "word2vec-text"),
        ("w2v.txt.gz", gzip.compress(header() + lines(), mtime=0), "word2vec-text"),
        ("packed.txt", gzip.compress(header() + lines(), mtime=0), "word2vec-text"),
        ("w2v.bin", word2vec_binary(), "word2vec-binary"),
        ("w2v.bin.gz", gzip.compress(word2vec_binary(), mtime=0), "word2vec-binary"),
        ("glove.txt", lines(), "glove"),
        ("fasttext.vec", header() + lines(), "word2vec-text"),
    ],
)
def test_published_formats_are_read(tmp_path, name, content, kind):
    vectors = imported(tmp_path / name, content, tmp_path / "vectors")
    assert list(vectors.words) == ["cancer", "il6", "mice"]
    assert (vectors.matrix[:3] == np.array(list(ENTRIES.values()), dtype=np.float32)).all()
    assert vectors.facts["kind"] == kind
    assert vectors.unk == 3


@pytest.mark.parametrize("claimed", [2, 4])
def test_a_header_that_is_one_off_is_read_with_a_notice(tmp_path, capsys, claimed):
    content = f"{claimed} 3\n".encode() + lines()
    vectors = imported(tmp_path / "news.vec", content, tmp_path / "vectors")
    assert list(vectors.words) == ["cancer", "il6", "mice"]
    expected = f"news.vec: its header claims {claimed} vectors, but it holds 3. It is read"
    assert expected in capsys.readouterr().err


ODD = (
    b". . . 9 9 9\n"
    b" 8 8 8\n"
    b"at name@site.org 7 7 7\n"
    b"Cancer 1 2 3 \r\n"
    b"5\t0.5\t0.25\t-1\n"
    b"na\xefve 4 5 6\n"
    b"cancer 6 6 6\n"
)


@pytest.mark.parametrize("head", [b"", b"7 3\n", b"8 3\r\n", b"6 3 \n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_odd_entries_are_read_or_passed_over_and_counted(tmp_path, capsys, head, pack):
    vectors = imported(tmp_path / "odd.txt", pack(head + ODD), tmp_path / "vectors")
    assert list(vectors.words) == ["cancer", "<int>", "naive"]
    assert vectors.matrix[:3].tolist() == [[1, 2, 3], [0.5, 0.25, -1], [4, 5, 6]]
    assert vectors.facts["entries"] == 7
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "odd.txt: odd entries: 1 without a word; 1 not in UTF-8, read as Latin-1; 1 whose word "
        "came before, in any spelling."
    ) in said


@pytest.mark.parametrize("odd", [b"- 5", b"kinase 0.25", b"covid 19", b". 1e-3", b"a b 7"])
@pytest.mark.parametrize("head", [b"", b"4 3\n"])
def test_an_entry_with_a_number_too_many_gives_no_word_a_vector_and_is_told(
    tmp_path, capsys, head, odd
):
    rest = b"cancer 1 2 3\nlung 4 5 6\ngene 7 8 9\n"
    vectors = imported(tmp_path / "v.txt", head + rest + odd + b" 7 7 7\n", tmp_path / "vectors")
    assert list(vectors.words) == ["cancer", "lung", "gene"]
    assert "1 that end in a number, or have a number too many" in capsys.readouterr().err


@pytest.mark.parametrize("first", [b"new york 1 2 3\n", b" 1 2 3\n", b"route 66 1 2 3\n"])
def test_the_width_of_a_file_is_that_of_most_of_its_lines(tmp_path, first):
    vectors = imported(tmp_path / "glove.txt", first + lines(), tmp_path / "vectors")
    assert list(vectors.words) == ["cancer", "il6", "mice"]
    assert vectors.dimensions == 3


def test_marks_are_no_words(tmp_path):
    marks = b"</s> 9 9 9\n<unk> 8 8 8\ns 1 2 3\nunk 4 5 6\n"
    vectors = imported(tmp_path / "a.vec", b"4 3\n" + marks, tmp_path / "vectors")
    assert list(vectors.words) == ["s", "unk"]
    assert vectors.matrix[:2].tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("head", [b"", header()])
def test_a_byte_order_mark_is_passed_over(tmp_path, head):
    vectors = imported(tmp_path / "a.txt", b"\xef\xbb\xbf" + head + lines(), tmp_path / "vectors")
    assert list(vectors.words) == ["cancer", "il6", "mice"]


def test_a_number_that_is_not_finite_is_refused_with_word_and_line(tmp_path):
    with pytest.raises(InputError, match=r"a.txt:5: the vector of 'rat' has a number that is not"):
        imported(tmp_path / "a.txt", b"4 3\n" + lines() + b"rat 1 -nan 2\n", tmp_path / "vectors")


def test_words_of_a_binary_file_that_are_not_utf8_are_read_as_latin1(tmp_path):
    content = b"1 3\n" + b"na\xefve " + struct.pack("<3f", 1, 2, 3) + b"\n"
    assert list(imported(tmp_path / "a.bin", content, tmp_path / "vectors").words) == ["naive"]


def test_of_a_word_that_comes_again_the_first_vector_counts(tmp_path):
    twice = header({**ENTRIES, "again": ()}) + word2vec_binary().split(b"\n", 1)[1]
    twice += b"cancer " + struct.pack("<3f", 9, 9, 9) + b"\n"
    vectors = imported(tmp_path / "w2v.bin", twice, tmp_path / "vectors")
    assert list(vectors.words) == ["cancer", "il6", "mice"]
    assert (vectors.matrix[:3] == np.array(list(ENTRIES.values()), dtype=np.float32)).all()


def test_a_file_whose_name_is_not_utf8_is_read(tmp_path):
    name = os.fsdecode(b"Z\xfcrich.txt")
    assert imported(tmp_path / name, lines(), tmp_path / "vectors").facts["file"] == name


@pytest.mark.slow
def test_fasttext_binaries_are_read(tmp_path):
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    sentences = [["cancer", "in", "mice"], ["mice", "in", "cages"]] * 5
    model = FastText(sentences, vector_size=3, min_count=1, epochs=1, workers=1, bucket=100)
    save_facebook_model(model, str(tmp_path / "model.bin"))
    import_vectors(tmp_path / "model.bin", tmp_path / "vectors")
    vectors = WordVectors.open(tmp_path / "vectors")
    for word in ("cancer", "mice"):
        assert vectors.matrix[vectors.rows([word])[0]] == pytest.approx(model.wv[word])


def test_entries_become_the_tokenizers_words_and_the_first_one_wins(tmp_path):
    entries = {
        "the": [1, 0, 0],
        "The": [2, 0, 0],
        "IL6": [3, 0, 0],
        "il-6": [4, 0, 0],
        "new_york": [5, 0, 0],
        ",": [6, 0, 0],
        "7": [7, 0, 0],
        "8": [8, 0, 0],
        ". . .": [9, 0, 0],
    }
    vectors = imported(tmp_path / "glove.txt", lines(entries), tmp_path / "vectors")
    assert list(vectors.words) == ["the", "il6", "<int>"]
    assert vectors.matrix[:3, 0].tolist() == [1, 3, 7]
    assert vectors.facts["entries"] == 9


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.kv", pickle.dumps({"a": 1}), "is not a file of word vectors"),
        ("a.txt", b"", "is not a file of word vectors"),
        ("a.txt", b"Once upon a time\n", "is not a file of word vectors"),
        ("a.txt", b"0 0\n", "no entry of this word2vec-binary file is a word"),
        ("a.bin", word2vec_binary()[:-8], "is not a complete word2vec-binary file"),
        ("a.txt", header() + lines()[:-5], r"a.txt:4: this line needs a word and 3 numbers"),
        ("a.txt", b"5 3\n" + lines(), "claims 5 vectors, but it holds 3"),
        ("a.txt", b"1 3\n" + lines(), "claims 1 vectors, but it holds 3"),
        ("a.txt", b"4 3\n" + lines()[:-1], "claims 4 vectors, but it holds 3"),
        ("glove.zip", b"PK\x03\x04", "is a zip archive. Unpack it"),
        ("a.txt.gz", gzip.compress(lines() * 9, mtime=0)[:-9], "not a whole gzip file"),
        ("a.txt", lines() + b"short 1.0\n", r"a.txt:4: this line needs a word and 3 numbers"),
        (
            "a.txt",
            header() + lines(ENTRIES | {"mice": [1, 2, "nan"]}),
            "vector of 'mice' .* not finite",
        ),
        ("a.txt", lines({",": [1, 2, 3]}), "no entry of this glove file is a word"),
        ("a.txt.gz", b"no gzip", "not a whole gzip file"),
        ("a.bin", gzip.compress(word2vec_binary(), mtime=0), "word2vec-binary"),
        ("a.bin", struct.pack("<ii", 793712314, 12), "fasttext-binary"),
    ],
)
def test_a_wrong_file_is_an_explained_mistake(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message):
        imported(tmp_path / name, content, tmp_path / "vectors")
    assert not (tmp_path / "vectors").exists()


def test_a_missing_file_is_an_explained_mistake(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        import_vectors(tmp_path / "missing.bin", tmp_path / "vectors")
