"""Age and sex of the topic's person against what documents say of their patients."""

import numpy as np
import pytest

from irplatform.plugin import Document, Documents, Topic
from irplatform_ltr.groups.document import AGE_GROUPS, Demographics, Person

OLD_MAN = Topic("o", "glioma BRAF", {"demographic": "82-year-old male"})
GIRL = Topic("g", "glioma BRAF", {"demographic": "4-year-old female"})
DOCUMENTS = [
    Document("children", "BRAF in pediatric glioma", "Children were treated. A child of nine.", {}),
    Document("aged", "BRAF in glioma", "Men and women, old and young.", {"mesh": ("Aged", "Male")}),
    Document(
        "octogenarian", "A case of glioma", "An 81-year-old man.",
        {"mesh": ("Aged, 80 and over", "Male", "Humans")},
    ),
    Document("girls", "Glioma", "", {"mesh": ("Child, Preschool", "Female")}),
    Document("cells", "BRAF in cell lines", "Cells.", {"mesh": ("Humans",)}),
    Document("one", "Adult elderly adults", "", {"mesh": "Adult"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64-year-old male", Person(64, "male")),
        ("38-year-old pregnant woman with no family history", Person(38, "female")),
        ("a girl of 18 months", Person(1.5, "female")),
        ("13 yr old boy", Person(13, "male")),
        ("2 day old infant", Person(2 / 365, "")),
        ("man and woman", Person(None, "")),
        ("FEMALE", Person(None, "female")),
        ("stage 4", Person(None, "")),
        ("52F", Person(52, "female")),
        ("F, 34", Person(34, "female")),
        ("52 y/o M", Person(52, "male")),
        ("63 y.o. man", Person(63, "male")),
        ("52yo", Person(52, "")),
        ("male, age 45", Person(45, "male")),
        ("65+ years", Person(65, "")),
        ("newborn girl", Person(0, "female")),
        ("", Person(None, "")),
    ],
)
def test_a_person_is_read_from_words(text, expected):
    assert Person.read(text) == expected


def _found(topic, documents=DOCUMENTS):
    group = Demographics()
    values = group.compute(topic, Documents.of(documents))
    assert values.dtype == np.float32
    columns = dict(zip(group.names(), values.T.tolist(), strict=True))
    return lambda name: dict(zip([d.id for d in documents], columns[name], strict=True))


def _having(values):
    return {name for name, value in values.items() if value > 0}


def test_headings_of_the_age_speak_for_a_document_and_others_against_it():
    old, girl = _found(OLD_MAN), _found(GIRL)
    assert _having(old("age_heading")) == {"octogenarian"}
    assert _having(old("other_age_headings")) == {"aged", "girls", "one"}
    assert old("age_distance")["aged"] == pytest.approx((82 - 79) / 10)
    assert old("age_distance")["girls"] == pytest.approx((82 - 5) / 10)
    assert old("age_distance")["cells"] == 0
    assert _having(girl("age_heading")) == {"girls"}
    assert girl("age_distance")["one"] == pytest.approx((19 - 4) / 10)


def test_headings_of_the_other_sex_count_only_alone():
    old, girl = _found(OLD_MAN), _found(GIRL)
    assert _having(old("sex_heading")) == {"aged", "octogenarian"}
    assert _having(old("other_sex_alone")) == {"girls"}
    assert _having(girl("sex_heading")) == {"girls"}
    documents = [Document("both", "", "", {"mesh": ("Male", "Female")})]
    assert not _having(_found(GIRL, documents)("other_sex_alone"))


def test_words_for_stages_of_life():
    old, girl = _found(OLD_MAN), _found(GIRL)
    assert old("other_stage_words")["children"] == pytest.approx(np.log1p(3))
    assert old("title_other_stage")["children"] == pytest.approx(np.log1p(1))
    assert girl("stage_words")["children"] == pytest.approx(np.log1p(3))
    assert girl("title_other_stage")["one"] == pytest.approx(np.log1p(3))
    # An old man is an adult: what says so is not against him.
    assert old("title_stage")["one"] == pytest.approx(np.log1p(1))
    assert old("title_other_stage")["one"] == 0


def test_words_for_sexes_and_written_ages():
    old, girl = _found(OLD_MAN), _found(GIRL)
    assert old("sex_words")["aged"] == girl("sex_words")["aged"] == pytest.approx(np.log1p(1))
    assert _having(old("any_written_age")) == {"octogenarian"}
    assert old("written_age")["octogenarian"] == pytest.approx(1 / 1.1)
    assert girl("written_age")["octogenarian"] == pytest.approx(1 / (1 + 7.7))


def test_what_a_topic_does_not_tell_is_zero():
    assert not Demographics().compute(Topic("t", "glioma"), Documents.of(DOCUMENTS)).any()
    female = _found(Topic("f", "glioma", {"demographic": "female"}))
    for name in Demographics().names():
        assert _having(female(name)) == set() or "sex" in name
    assert Demographics().compute(OLD_MAN, Documents.of([])).shape == (0, 13)


def test_the_group_is_left_out_where_topics_tell_nothing():
    group = Demographics()
    reason = "the training topics have no field demographic with an age or a sex."
    assert group.lacks([Topic("t", "x", {"demographic": "unknown"})]) == reason
    assert group.lacks([Topic("t", "x"), OLD_MAN]) == ""
    other = Demographics(Demographics.Options(field="patient"))
    assert other.lacks([OLD_MAN])
    assert other.lacks([Topic("t", "x", {"patient": "male"})]) == ""


def test_every_age_has_a_heading_of_its_own():
    for age in range(1, 121):
        assert any(first <= age <= last for first, last in AGE_GROUPS.values()), age
