"""Sentences of a paragraph in JATS: where they end, what they cite, and that no mark is left."""

import difflib
import gzip
import re

import pytest

from irplatform.building.citation_references import ReferenceList, plain_text, read_articles
from irplatform.building.citation_sentences import marked_text, sentences_of

REFERENCES = "".join(f'<ref id="B{n}"><label>{n}</label></ref>' for n in range(1, 13))


def _x(number, text=None):
    return f'<xref ref-type="bibr" rid="B{number}">{number if text is None else text}</xref>'


def _sentences(paragraph, references=REFERENCES):
    """Text and numbers of the references, per sentence."""
    content = (
        f"<article><body><p>{paragraph}</p></body>"
        f"<back><ref-list>{references}</ref-list></back></article>"
    )
    (article,) = read_articles(content.encode(), "a.xml")
    reference_list = ReferenceList(article)
    sentences = sentences_of(marked_text(article.find("body/p"), reference_list))
    return [(s.text, [reference_list.references[p].number for p in s.cites]) for s in sentences]


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        (
            f"It was shown [{_x(1)}]. It was not [{_x(2)},{_x(3)}].",
            [("It was shown.", [1]), ("It was not.", [2, 3])],
        ),
        (f"Known {_x(1, '[1]')}, {_x(2, '[2]')}. Unknown.", [("Known.", [1, 2]), ("Unknown.", [])]),
        (f"Both ({_x(1)}) and ({_x(2)}) agree.", [("Both and agree.", [1, 2])]),
        (f"Some (reviewed in {_x(4)}), others not.", [("Some, others not.", [4])]),
        (f"Some (see also {_x(4)}, p. 28; Fig. 3) differ.", [("Some differ.", [4])]),
        (f"A cell (the host [{_x(1)}]) died.", [("A cell (the host) died.", [1])]),
        (f"It was found by Doe et al. [{_x(1)}].", [("It was found by Doe et al.", [1])]),
        (f"Noted in Refs. [{_x(1)}, {_x(2)}].", [("Noted in.", [1, 2])]),
        (f"So it is (as known; see {_x(1)}).", [("So it is (as known).", [1])]),
        (f"So it is (see for instance [{_x(1)}]).", [("So it is.", [1])]),
        (f"Sizes (as suggested, e.g., by [{_x(1)}]) vary.", [("Sizes vary.", [1])]),
        (f"Shown by Doe ([{_x(1)}], at 2 h).", [("Shown by Doe (at 2 h).", [1])]),
        (f"It vanishes (see [{_x(1)}], appendix B).", [("It vanishes (see appendix B).", [1])]),
        (f"It vanishes (see [{_x(1)}] and S1 Text).", [("It vanishes (see S1 Text).", [1])]),
    ],
)
def test_marks_go_with_their_brackets_and_asides(paragraph, expected):
    assert _sentences(paragraph) == expected


@pytest.mark.parametrize(
    ("marks", "numbers"),
    [
        (f"[{_x(3)}–{_x(7)}]", [3, 4, 5, 6, 7]),
        (f"[{_x(3)}-{_x(5)},{_x(9)}]", [3, 4, 5, 9]),
        (f"{_x(3, '[3]')}–{_x(7, '[7]')}", [3, 4, 5, 6, 7]),
        (f"[{_x(3)}]–[{_x(5)}]", [3, 4, 5]),
        (f"[{_x(3)} − {_x(5)}]", [3, 4, 5]),
        (f"[{_x(3)}{_x(4, '')}–{_x(5)}]", [3, 4, 5]),
        (f"[{_x(3, '3–6')}]", [3, 4, 5, 6]),
        (f"[{_x(3, '3,5')}]", [3, 5]),
        ('[<xref ref-type="bibr" rid="B3 B4 B9">3, 4, 9</xref>]', [3, 4, 9]),
        (f"[{_x(7)}–{_x(3)}]", [3, 7]),
        (f"[{_x(3)}, {_x(7)}]", [3, 7]),
        ('[<xref ref-type="bibr" rid="nowhere">5</xref>]', []),
        (f'[{_x(1)}, <xref ref-type="bibr" rid="nowhere">5</xref>–{_x(7)}]', [1, 7]),
        (f"({_x(3)} to {_x(6)})", [3, 4, 5, 6]),
        (f"({_x(3)}) through ({_x(5)})", [3, 4, 5]),
        (f"<sup>{_x(3)}</sup>~<sup>{_x(5)}</sup>", [3, 4, 5]),
        (f"[{_x(3, '3–')}{_x(5)}]", [3, 4, 5]),
        (f"[{_x(3, '[3]–[5]')}]", [3, 4, 5]),
        (f"{_x(3, '³⁻⁵')}", [3, 4, 5]),
        (f"[{_x(3, '3 to 5, 9')}]", [3, 4, 5, 9]),
        ('[<xref ref-type="bibr" rid="B3 B6">3–6</xref>]', [3, 4, 5, 6]),
        (f"[{_x(3)}–6, {_x(9)}]", [3, 4, 5, 6, 9]),
        (f"<sup>{_x(3)}–5</sup>", [3, 4, 5]),
        (f"[3–{_x(5)}]", [3, 4, 5]),
        (f"({_x(1)}, 3 - {_x(5)}; 7-{_x(8)})", [1, 3, 4, 5, 7, 8]),
        (f"[3–{_x(5, '5–6')}, {_x(9)}–11]", [3, 4, 5, 6, 9, 10, 11]),
        ('(<xref rid="B3">3</xref>-<xref rid="B5">5</xref>)', [3, 4, 5]),
    ],
)
def test_a_range_stands_for_all_references_in_between(marks, numbers):
    assert _sentences(f"This was shown {marks}.") == [("This was shown.", numbers)]


@pytest.mark.parametrize(
    "label", ["", "–", "9" * 5000, "1–" + "9" * 5000, "(" * 5000, "1" + ")" * 5000]
)
def test_labels_that_are_no_numbers_of_references_do_no_harm(label):
    assert _sentences(f"So it is [{_x(3, label)}–{label}].")[0][1] == [3]


def test_words_and_years_between_marks_are_no_range():
    text = f"It grew from {_x(3, 'Doe (2001)')} to {_x(6, 'Poe (2004)')} and by {_x(9)}-fold steps."
    assert _sentences(text) == [("It grew from Doe to Poe and by -fold steps.", [3, 6, 9])]
    assert _sentences(f"Rates ({_x(3, '2001–2004')}) fell.") == [("Rates fell.", [3])]
    assert _sentences(f"Rates (1999–{_x(3)}) fell.") == [("Rates fell.", [3])]


@pytest.mark.parametrize(
    ("label", "rids", "positions"),
    [
        ("3–5", "B3", (2, 3, 4)),
        ("[3] to [5]", "B3", (2, 3, 4)),
        ("3-5", "B5", (2, 3, 4)),
        ("3,5", "B3 B5", (2, 4)),
        ("1–2", "S1", (6, 7)),
        ("1998–1999", "B3", (2,)),
        ("Doe, 1998", "B3", (2,)),
    ],
)
def test_without_labels_numbers_go_by_the_order_of_the_list(label, rids, positions):
    names = [f"B{number}" for number in range(1, 7)], ["S1", "S2", "S3"]
    lists = "".join(
        f"<ref-list>{''.join(map('<ref id={!r}/>'.format, ids))}</ref-list>" for ids in names
    )
    content = (
        f'<article><body><p>So it is <xref rid="{rids}">{label}</xref>.</p></body>'
        f"<back>{lists}</back></article>"
    )
    (article,) = read_articles(content.encode(), "a.xml")
    assert marked_text(article.find("body/p"), ReferenceList(article)).groups == (positions,)


def test_where_a_mark_points_tells_what_it_is_if_it_has_no_type():
    content = (
        '<article><body><p>Cells<xref rid="B1"><sup>1</sup></xref> of mice<xref rid="N1">a</xref> '
        'grew (<xref rid="F1">Fig. 1</xref>).<fn id="N1"><p>Note.</p></fn></p></body>'
        '<back><ref-list><ref id="B1"/></ref-list></back></article>'
    )
    (article,) = read_articles(content.encode(), "a.xml")
    (sentence,) = sentences_of(marked_text(article.find("body/p"), ReferenceList(article)))
    assert (sentence.text, sentence.cites) == ("Cells of mice grew (Fig. 1).", (0,))


@pytest.mark.parametrize(
    ("rid", "label", "positions"),
    [
        ("B1", "1", (0,)),
        ("S1", "1", (12,)),
        ("S2", "1-2", (12, 13)),
        ("B12", "2,12", (1, 11)),
    ],
)
def test_a_number_is_that_of_the_list_that_the_mark_points_into(rid, label, positions):
    other = "".join(f'<ref id="S{n}"><label>{n}</label></ref>' for n in range(1, 4))
    content = (
        f'<article><body><p>So it is <xref ref-type="bibr" rid="{rid}">{label}</xref>.</p></body>'
        f"<back><ref-list>{REFERENCES}</ref-list><ref-list>{other}</ref-list></back></article>"
    )
    (article,) = read_articles(content.encode(), "a.xml")
    assert marked_text(article.find("body/p"), ReferenceList(article)).groups == (positions,)


def test_a_mark_that_is_the_subject_begins_its_sentence():
    assert _sentences(f"It is known. [{_x(1)}] also show it.") == [
        ("It is known.", []),
        ("also show it.", [1]),
    ]
    assert _sentences(f"It was seen by Doe et al. [{_x(1)}] in mice.") == [
        ("It was seen by Doe et al. in mice.", [1])
    ]
    assert _sentences(f"It is known. {_x(1)} Next.") == [("It is known.", [1]), ("Next.", [])]


def test_words_between_marks_stay_whatever_dash_or_letter_they_hold():
    (sentence,) = _sentences(
        f"Rates vary [{_x(1)}], and a-z lineages mislead not only dates [{_x(2)}]."
    )
    assert sentence == ("Rates vary, and a-z lineages mislead not only dates.", [1, 2])


def test_marks_after_the_full_stop_belong_to_the_sentence_before():
    paragraph = f"It was shown previously.<sup>{_x(3)},{_x(4)}</sup> Next comes another."
    assert _sentences(paragraph) == [
        ("It was shown previously.", [3, 4]),
        ("Next comes another.", []),
    ]


def test_a_space_that_is_missing_after_a_mark_and_full_stop_is_no_obstacle():
    paragraph = (
        f"It was denied[{_x(1)}].In this regard, we looked. Sold in the U.S. The rest is not."
    )
    assert [text for text, _ in _sentences(paragraph)] == [
        "It was denied.",
        "In this regard, we looked.",
        "Sold in the U.S.",
        "The rest is not.",
    ]


@pytest.mark.parametrize("stop", [".", "?", ".”", ".)"])
@pytest.mark.parametrize("start", ["Next", "“Next", "(Next", "Évry"])
def test_a_space_that_is_missing_after_raised_marks_is_no_obstacle(stop, start):
    for end in (f"{stop}<sup>{_x(3)}–{_x(5)}</sup>", f"[{_x(3)}–{_x(5)}]{stop[0]}"):
        paragraph = f"It was shown{end}{start} to the others."
        assert [cites for _, cites in _sentences(paragraph)] == [[3, 4, 5], []]


def test_superscripts_are_parted_as_those_of_documents_are():
    paragraph = (
        "<italic>BRAF</italic><sup>V600E</sup> and p27<sup>Kip1</sup> in 10<sup>5</sup> "
        f"CD4<sup>+</sup> cells on the 9<sup>th</sup> day, at 5 m<sup>2</sup><sup>{_x(3)}</sup>."
    )
    assert _sentences(paragraph) == [
        ("BRAF V600E and p27 Kip1 in 10^5 CD4+ cells on the 9th day, at 5 m2.", [3])
    ]


def test_marks_after_et_al_belong_to_the_sentence_that_goes_on():
    paragraph = f"Work by Smith et al. [{_x(3)}] Drosophila cells grew. Others did not."
    assert [cites for _, cites in _sentences(paragraph)] == [[3], []]


@pytest.mark.parametrize(
    "sentence",
    [
        "As in Fig. 1 and Figs. 2B, it grew.",
        "Growth of E. coli and S. aureus, e.g. K-12, i.e. the strain, was 0.5 per h.",
        "J. B. Smith et al. found it, cf. Eq. 16 and ca. 58 cm.",
        "It was led by the U.S. Secretary of State.",
        "It is in the text (p. 107, pl. 24) of the book.",
        "Hold on to it (Doe, pers. comm. 2013) for now.",
        "Axes differ (a. U-fiber; b. ILF) between the two.",
        "It beat placebo (3.5 mg vs. Placebo; n.s. Not shown) a day.",
    ],
)
def test_full_stops_within_a_sentence_do_not_end_it(sentence):
    assert [text for text, _ in _sentences(f"{sentence} Another one.")] == [
        sentence,
        "Another one.",
    ]


@pytest.mark.parametrize("word", ["mRNA", "p53", "c-Myc", "siRNAs", "iPSCs", "β-catenin", "α2"])
def test_names_with_a_small_first_letter_begin_sentences(word):
    text = f"This was found in an ELISA. {word} was low."
    assert len(_sentences(text)) == 2


@pytest.mark.parametrize("start", ["We note", "The rest", "This is"])
def test_a_letter_before_what_begins_sentences_is_no_initial(start):
    text = f"These are the ions in binding mode M. {start} different."
    assert len(_sentences(text)) == 2
    assert len(_sentences("Growth of E. coli and of M. Theobald was slow.")) == 1


def test_authors_named_outside_brackets_stay_and_those_inside_go():
    paragraph = (
        f"{_x(1, 'Hill and Smith (1992)')} found it ({_x(2, 'Doe 2001')}; {_x(3, 'Poe 2002')})."
    )
    assert _sentences(paragraph) == [("Hill and Smith found it.", [1, 2, 3])]


def test_figures_formulas_footnotes_and_lists_are_no_part_of_a_sentence():
    paragraph = (
        "Let <disp-formula>x = 1</disp-formula> it be<xref ref-type='fn' rid='f'>*</xref>, see "
        "<xref ref-type='fig' rid='g'>Fig. 1</xref>.<fig><caption><p>Not this.</p></caption></fig>"
        "<list><list-item><p>Nor this.</p></list-item></list>"
    )
    assert _sentences(paragraph) == [("Let it be, see Fig. 1.", [])]


@pytest.mark.real
def test_nothing_is_lost_of_real_articles_but_marks_and_asides(test_data):
    aside = re.compile(
        r"\d+\w?|e|g|i|S\d+|(?:[Ss]ee|also|reviewed|reviews?|in|[Rr]efs?|for|an?|and|or|as|from|the|"
        r"text|[Ff]igs?|[Ff]igure|[Tt]able|pp?|pls?|references?|therein|example|overview|recent)"
    )
    compared = 0
    for path in sorted((test_data / "jats").glob("*.gz"))[::4]:
        (article,) = read_articles(gzip.decompress(path.read_bytes()), path.name)
        references = ReferenceList(article)
        for paragraph in article.iterfind("body//p"):
            if {e.tag for e in paragraph.iter()} - {"p", "xref", "italic", "bold", "sup", "sub"}:
                continue
            sentences = sentences_of(marked_text(paragraph, references))
            after = re.findall(r"\w+", " ".join(sentence.text for sentence in sentences))
            for mark in paragraph.iter("xref"):
                if mark.get("ref-type") == "bibr":
                    mark.text, mark[:] = " ", []
            before = re.findall(r"\w+", plain_text(paragraph))
            changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
            for kind, begin, end, _, _ in changes:
                if kind in ("delete", "replace"):
                    lost = before[begin:end]
                    assert all(aside.fullmatch(word) for word in lost), (path.name, lost)
            compared += 1
    assert compared > 300
