"""Topics' words in compiled code are those of Lucene's analysis."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from irplatform.lucene.queries import analyzed
from irplatform.lucene.words import Bags, TermTable, write_hashes
from irplatform.lucene.words_kernel import STOP_WORDS
from irplatform.system.packages import absent
from irplatform.text.string_table import StringTableWriter
from irplatform.workers.distribution import batched

pytestmark = [
    pytest.mark.java,
    pytest.mark.skipif(bool(absent("numba")), reason="numba"),
]
SUFFIXES = """
    sses ies s eed ed ing y at bl iz ational tional enci anci izer bli alli entli eli ousli ization
    ation ator alism iveness fulness ousness aliti iviti biliti logi icate ative alize iciti ical
    ful ness al ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive
    ize e l ll
""".split()  # noqa: SIM905 - a list would take a page


@pytest.fixture(scope="module")
def analyzer(index_of):
    from irplatform.plugin import Document

    return index_of([Document("a", "", "cat")]).analyzer


def table_of(folder, terms):
    folder.mkdir()
    with StringTableWriter(folder, "terms") as writer:
        writer.extend(terms)
    writer.finish()
    write_hashes(folder, [term.encode() for term in terms])
    return TermTable(folder)


def same_bags(one, other):
    for name, array, expected in zip(Bags._fields, one, other, strict=True):
        assert array.tolist() == expected.tolist(), name


@pytest.fixture(scope="module")
def same_words(analyzer, tmp_path_factory):
    """Asserts that texts have Lucene's terms, in an index that has a fifth of them."""

    def check(texts):
        words = [set(of_text) for of_text in analyzed(analyzer, texts)]
        vocabulary = set(sorted(set().union(*words))[::5])
        table = table_of(tmp_path_factory.mktemp("terms") / "terms", sorted(vocabulary))
        bags = table.bags(texts, analyzer, compiled=True)
        same_bags(bags, table.bags(texts, analyzer, compiled=False))
        assert len(bags.rows) == sum(len(of_text & vocabulary) for of_text in words)

    return check


def test_words_are_counted(analyzer, tmp_path):
    table = table_of(tmp_path / "terms", ["cat", "dog", "β"])
    for compiled in (False, True):
        bags = table.bags(["the cats, a Cat's DOG", "", "β-cow"], analyzer, compiled=compiled)
        assert bags.ends.tolist() == [0, 2, 2, 3]
        assert bags.rows.tolist() == [0, 1, 2]
        assert bags.boosts.dtype == np.float32
        assert bags.boosts.tolist() == [2, 1, 1]
        assert bags.totals.tolist() == [3, 0, 2]


def test_an_index_without_terms_has_no_word(analyzer, tmp_path):
    bags = table_of(tmp_path / "terms", []).bags(["cat β"], analyzer, compiled=True)
    assert bags.ends.tolist() == [0, 0]
    assert bags.totals.tolist() == [2]


def test_of_no_texts_there_are_no_words(analyzer, tmp_path):
    bags = table_of(tmp_path / "terms", ["cat"]).bags([], analyzer, compiled=True)
    assert bags.ends.tolist() == [0]


@pytest.mark.parametrize(
    "text",
    [
        "don't 'quoted' cats' the dogs's 's s' a's IT'S o'",
        "p53.2 3.14 1,000;2 1, 000 a:b 1:2 a.b. e.g. U.S.A a,b a;b 1.a a.1 1'000 a'1",
        "_ __ _a a_ _1_ a_.b _.5 __.a a__b 1_,2",
        "IL-2 BRCA1/2 (TNF-α) 5-HT2A x\ty\rz\x00n \x7f b\x0bc",
        "β-catenin cafe\u0301 ﬁbrosis CO₂ naïve β-catenin 10\u00a0mg \u0301x",
        f"{'x' * 254} {'y' * 255} {'z' * 256} {'ab.' * 100}",
        "y yy yyy yyyy syzygy sky skies eed ing ed s ss sss ies ied feed agreed hoping fall",
        STOP_WORDS,
        STOP_WORDS.upper(),
        "thes ands its ofs Notting nothing ins",
        "",
        " ",
    ],
)
def test_words_are_lucenes(same_words, text):
    same_words([text, "cat", text])


def test_stems_are_lucenes(same_words):
    draw = random.Random(1)
    beginnings = ["", *"absty", "be", "tro", "oy", "yes", "fall", "plast", "conn", "b_", "a1", "sy"]
    words = {b + one + two for b in beginnings for one in ["", *SUFFIXES] for two in SUFFIXES}
    letters = "aaeeiouybcdlmnrsstvwxz"
    words |= {"".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(20_000)}
    same_words([" ".join(part) for part in batched(sorted(words), 1_000)])


LETTERS = st.sampled_from("aAbeisSdyn019_.,;:'- \n(β’é\u0301")
TEXT = st.text(LETTERS, max_size=40) | st.text(max_size=20)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXT, max_size=5))
@example(["a" * 300, "'s"])
def test_words_of_any_text_are_lucenes(same_words, texts):
    same_words(texts)


def test_no_two_terms_are_confused(analyzer, tmp_path):
    terms = sorted({f"{a}{n}" for a in "abcdefgh" for n in range(2_000)})
    table = table_of(tmp_path / "terms", terms)
    bags = table.bags([" ".join(terms)], analyzer, compiled=True)
    assert bags.rows.tolist() == [*range(len(terms))]
    assert Counter(bags.boosts.tolist()) == {1.0: len(terms)}
