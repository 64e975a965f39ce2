"""A comparison as a page: what it holds, and that no text of it can be markup."""

import json
import re
from html import escape
from html.parser import HTMLParser

import pytest
from report_data import HOSTILE

from irplatform.comparison.compare import compare
from irplatform.comparison.curves import curves
from irplatform.data import Document, Topic
from irplatform.evaluation.judgments import Judgments
from irplatform.reports.html.made import RunOrigin
from irplatform.reports.html.page import as_script, render_page
from irplatform.reports.html.rankings import RankingSelection, Texts, browser_data
from irplatform.reports.plots import (
    Colours,
    drawn_as,
    interval_plot,
    interval_rows,
    line_styles,
    save_plots,
    topic_rows,
)
from irplatform.runs import Ranking, Run

QRELS = {f"t{n}": {"a": 2, "b": 0, "c": 1} for n in range(1, 7)}
TOPICS = [Topic(f"t{n}", HOSTILE if n == 1 else f"query {n}") for n in range(1, 7)]
DOCUMENTS = {"a": Document("a", HOSTILE, "Of a query."), "b": Document("b", "B", "")}


def ranking(*doc_ids):
    return Ranking.of(doc_ids, range(len(doc_ids), 0, -1))


RUNS = {
    "one": Run("one", {t: ranking("b", "a", "x") for t in QRELS}),
    "<i>two": Run("two", {t: ranking("a", "b") for t in [*QRELS][:5]}),
}


@pytest.fixture(scope="module")
def compared():
    return compare(Judgments(QRELS, None, ["P@1", "AP"]), RUNS, topics=TOPICS, collection="A & B")


def data_of(compared, depth=None, texts=None):
    selection = RankingSelection.of(compared, depth)
    return browser_data(compared, RUNS, QRELS, selection, texts or Texts(DOCUMENTS))


def opened(runs, **options):
    """The pairs of a page, and the one that it opens at."""
    comparison = compare(Judgments(QRELS, None, ["P@1"]), runs, **options)
    page = render_page(
        comparison, curves=[],
        browser=browser_data(comparison, runs, QRELS, RankingSelection.of(comparison), Texts()),
    )  # fmt: skip
    match = re.search(r'"pairs":(\[\[.*?\]\]),"first":(\d+)', page)
    return json.loads(match[1]), int(match[2])


def test_a_page_opens_at_the_pair_that_differs_most():
    runs = {
        "same": Run("same", {t: ranking("b", "a") for t in QRELS}),
        "twin": Run("twin", {t: ranking("b", "a") for t in QRELS}),
        "some": Run("some", {t: ranking(*("ab" if t == "t1" else "ba")) for t in QRELS}),
        "most": Run("most", {t: ranking("a", "b") for t in QRELS}),
    }
    pairs, first = opened(runs)
    assert pairs == [["same", "some"], ["same", "most"]]
    assert pairs[first] == ["same", "most"]
    assert opened({name: runs[name] for name in ("same", "twin")}) == ([["same", "twin"]], 0)


def page_of(compared, **parts):
    return render_page(
        compared,
        browser=data_of(compared),
        curves=curves(QRELS, RUNS),
        made=[
            RunOrigin(
                "one", f"run {HOSTILE}", [("file", "one.run")], {"index": 1.25, "retrieve": 2}
            )
        ],
        notes=[HOSTILE],
        bibliography="@misc{a, title = {A <b>}}",
        **parts,
    )


class Elements(HTMLParser):
    """The elements of a page, with attributes, and the text of each kind."""

    def __init__(self, page):
        super().__init__()
        self.started, self.said, self.within = [], {}, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.started.append((tag, dict(attrs)))
        self.within = tag

    def handle_data(self, data):
        self.said[self.within] = self.said.get(self.within, "") + data


def test_nothing_is_loaded_and_no_text_is_markup(compared):
    page = page_of(compared)
    assert page.startswith("<!DOCTYPE html>")
    elements = Elements(page)
    scripts = [attributes for tag, attributes in elements.started if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}, {}]
    assert not [tag for tag, _ in elements.started if tag in ("b", "i", "img", "iframe", "object")]
    addresses = [v for _, a in elements.started for k, v in a.items() if k in ("src", "href")]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    policy = next(a["content"] for t, a in elements.started if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    assert elements.said["h1"].strip() == "A & B: one, <i>two"
    assert HOSTILE in elements.said["code"]


def test_data_in_a_script_are_read_back_and_end_nothing():
    value = {"text": f"{HOSTILE}\u2028<!-- é", "number": [1, 0.5, None]}
    script = as_script(value)
    assert not re.search("[<>&\u2028]", script)
    assert json.loads(script) == value


def test_the_browser_has_rankings_grades_titles_and_passages(compared):
    data = data_of(compared)
    numbers = {doc_id: number for number, doc_id in enumerate(data["ids"])}
    assert data["titles"][numbers["a"]] == " ".join(HOSTILE.split())
    assert data["titles"][numbers["x"]] == ""
    first, *_, last = data["topics"]
    assert first["documents"] == [numbers["b"], numbers["a"], numbers["x"]]
    assert first["runs"] == [[0, 1, 2], [1, 0]]
    assert first["grades"] == [0, 2, None]
    assert (first["relevant"], first["values"]) == (2, [[0.0, 1.0], [0.25, 0.5]])
    assert last["runs"][1] == []  # no results
    second = data["topics"][1]
    assert (second["passages"], second["words"]) == (["", "Of a query.", ""], ["query"])


def test_many_topics_are_shown_less_deep_and_the_most_different_first():
    qrels = {f"t{n}": {"a": 1} for n in range(450)}
    one = Run("one", {t: ranking("a", *map(str, range(99))) for t in qrels})
    other = Run("two", {t: ranking("b", "a") if int(t[1:]) % 2 else one.rankings[t] for t in qrels})
    runs = {"one": one, "two": other}
    compared = compare(Judgments(qrels, None, ["RR"]), runs, bounds=False)
    selection = RankingSelection.of(compared)
    assert selection.depth < 100
    assert selection.left_out == len(qrels) - len(selection.topics)
    assert sum(int(topic.id[1:]) % 2 for topic in selection.topics) == 225
    others = browser_data(compared, runs, qrels, selection, Texts())["others"]
    assert len(others) == selection.left_out


def test_tables_and_sentences_are_those_of_the_comparison(compared):
    page = page_of(compared, title="My title", footer="made today")
    text = re.sub(r"<[^>]*>", "", page)
    assert "My title" in text
    assert "made today" in text
    pair = compared.pairs[0]
    assert escape(pair.sentence) in page
    assert f"{pair.wins}/{pair.ties_of_topics}/{pair.losses}" in text
    assert "index 1.2, retrieve 2.0" in text


def test_rows_of_plots_are_sorted_and_name_the_query(compared):
    rows = topic_rows(compared, compared.pairs[0])
    assert [row["difference"] for row in rows] == [1.0] * 5 + [0.0]
    assert (rows[0]["query"], rows[-1]["result"]) == (HOSTILE, "same")
    assert (rows[0]["baseline"], rows[0]["system"]) == (0.0, 1.0)
    (interval,) = interval_rows(compared, "P@1")
    assert interval["low"] < interval["difference"] < interval["high"]


def test_plots_are_saved_for_papers(compared, tmp_path):
    paths = save_plots(compared, curves(QRELS, RUNS), tmp_path / "new", ["svg", "pdf", "png"])
    assert sorted({path.stem for path in paths}) == [
        "gain-over-ranks",
        "intervals",
        "precision-over-recall",
        "topics-one--i-two",
    ]
    begins = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}
    for path in paths:
        assert path.read_bytes().startswith(begins[path.suffix[1:]])


def test_a_plot_drawn_again_has_the_same_bytes():
    middles = {"difference": 0.1, "low": 0.05, "high": 0.2, "result": "same"}
    plot = interval_plot([{"pair": name, "label": name, **middles} for name in "abc"])
    drawn, *again = (drawn_as(plot, "pdf") for _ in range(4))
    names = re.findall(rb"^ +/(xo\d) \d+ 0 R$", drawn, re.MULTILINE)
    assert len(names) > 3
    assert names == sorted(names)
    assert {*again} == {drawn}


def test_styles_of_lines_differ_with_and_without_colours():
    styles = line_styles(64)
    assert [style.colour for style in styles[:8]] == [*Colours().systems]
    assert len({(style.colour, *style.dash) for style in styles}) == 64
    assert len({(style.shape, *style.dash) for style in styles[:40]}) == 40


@pytest.mark.parametrize("name", ["ltr", "bm25+rm3+dual-encoder/" * 5, "x" * 130])
def test_names_of_intervals_are_whole(compared, name):
    runs = {"one": RUNS["one"], name: RUNS["<i>two"]}
    rows = interval_rows(compare(Judgments(QRELS, None, ["AP"]), runs), "AP")
    (label,) = (row["label"] for row in rows)
    assert label.replace("\n", "") == name
    assert max(map(len, label.split("\n"))) <= 50
    assert "labelLimit" not in json.dumps(interval_plot(rows).to_dict()["layer"])
