"""Frames of PyTerrier with missing queries, ids that are numbers, and missing texts."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from irplatform.data import Topic
from irplatform.errors import InputError
from irplatform_pyterrier.frames import filled, run_of, texts_of, topics_of

KNOWN = SimpleNamespace(topics=[Topic("7", "gout", {"age": "40"}), Topic("8", "asthma")])


def frame_of(queries, qids=None, **columns):
    rows = {"qid": qids or ["7"] * len(queries), "query": queries}
    return pd.DataFrame({**rows, "docno": [f"d{n}" for n in range(len(queries))], **columns})


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, "", "  ", np.nan])
def test_a_row_without_a_query_has_that_of_the_other_rows(missing):
    frame = filled(frame_of([missing, "gout diet", missing]), None)
    assert [*frame["query"]] == ["gout diet"] * 3
    (topic,) = topics_of(frame, None, [])
    assert (topic.id, topic.query) == ("7", "gout diet")


def test_a_topic_without_any_query_has_that_of_the_collection():
    frame = filled(frame_of([np.nan, "wheeze"], ["7", "8"]), KNOWN)
    assert [*frame["query"]] == ["gout", "wheeze"]
    assert dict(topics_of(frame, KNOWN, [])[0].fields) == {"age": "40"}
    for collection, qid in ((None, "7"), (KNOWN, "9")):
        with pytest.raises(InputError, match=f"topic '{qid}' has no query in the frame's column"):
            filled(frame_of([np.nan], [qid]), collection)


def test_two_queries_of_one_topic_are_refused():
    with pytest.raises(InputError, match="topic '7' has two queries, 'gout' and 'gout diet': give"):
        filled(frame_of(["gout", "gout diet"]), KNOWN)


@pytest.mark.parametrize("qid", [7, 7.0, np.int64(7), np.float64(7)])
def test_ids_that_are_numbers_are_their_texts(qid):
    frame = filled(pd.DataFrame({"qid": [qid], "query": [2020], "docno": [31.0]}), KNOWN)
    assert frame.to_dict("records") == [{"qid": "7", "query": "2020", "docno": "31"}]
    assert run_of(frame.assign(score=1.0), "x").rankings["7"].doc_ids == ("31",)


def test_an_id_that_is_missing_is_refused():
    with pytest.raises(InputError, match="the id of a qid is nan"):
        filled(frame_of(["gout"], [np.nan]), KNOWN)


def test_earlier_queries_and_fields_are_those_of_the_first_row_that_has_them():
    frame = frame_of(
        ["gout diet", "gout diet"], query_0=[np.nan, "gout"], drug=[None, "colchicine"], age=[5, 6]
    )
    (topic,) = topics_of(filled(frame, KNOWN), KNOWN, ["drug", "age"])
    assert dict(topic.fields) == {"age": "5", "drug": "colchicine"}
    (other,) = topics_of(filled(frame_of(["x"], gene=[["A", "B"]]), None), None, ["gene"])
    assert other.values("gene") == ("A", "B")


def test_texts_are_those_of_the_first_row_that_has_them():
    frame = frame_of(["q"] * 3, title=[np.nan, "t", None], text=["a", np.nan, None])
    frame["docno"] = ["d1", "d1", "d2"]
    frame.loc[2, "title"] = "only a title"
    texts = texts_of(filled(frame, None))
    assert {d: (document.title, document.abstract) for d, document in texts.items()} == {
        "d1": ("t", "a"),
        "d2": ("only a title", ""),
    }
    with pytest.raises(InputError, match="document 'd0' has no text in the frame's column 'text'"):
        texts_of(filled(frame_of(["q"], text=[None]), None))


def test_a_frame_of_polars_is_taken():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"qid": [7, 7], "query": [None, "gout"], "docno": ["a", "b"]})
    assert [*filled(frame, None)["query"]] == ["gout", "gout"]


def test_a_frame_without_queries_or_rows_is_left_to_pyterrier():
    assert [*filled(pd.DataFrame({"qid": [7]}), KNOWN).columns] == ["qid"]
    assert filled(frame_of([]), KNOWN).empty
