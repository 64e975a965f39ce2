"""The report of ten systems with long names: whole names, distinct lines, narrow screens, paper."""

import pytest
from report_page import Page

from irplatform.comparison.compare import compare
from irplatform.comparison.curves import curves
from irplatform.data import Topic
from irplatform.evaluation.judgments import Judgments
from irplatform.reports.html.made import RunOrigin
from irplatform.reports.html.page import render_page
from irplatform.reports.html.rankings import RankingSelection, Texts, browser_data
from irplatform.runs import Ranking, Run

FIRST = "bm25+rm3+dual-encoder"
NAMES = [
    FIRST,
    *(f"{FIRST}/{reranker}" for reranker in ("cross-encoder", "delta", "drmm", "ltr", "pacrr")),
    "a_name_without_a_place_where_it_could_be_broken",
    *(f"third-stage/{reranker}" for reranker in ("cross-encoder", "drmm", "ltr")),
]
TOPICS = [f"topic-{number}" for number in range(24)]
QRELS = {topic: {f"d{n}": n % 3 for n in range(0, 40, 2)} for topic in TOPICS}
RUNS = {
    name: Run(
        name,
        {
            topic: Ranking.of(
                [f"d{(n * (2 + place % 9) + seed) % 41}" for n in range(30)], range(30, 0, -1)
            )
            for seed, topic in enumerate(TOPICS)
        },
    )
    for place, name in enumerate(NAMES)  # the last ranks as the first does
}
FIGURES = """
return [...document.querySelectorAll('table')].filter(t => t.checkVisibility()).map(t => {
  const [row] = t.tBodies[0].rows;
  const cells = [...row.cells].filter(c => /^[+−-]?\\d*\\.\\d/.test(c.textContent));
  return [t.caption.textContent, cells.map(c => c.getBoundingClientRect().right)];
})
"""
BEYOND_PLOTS = """
return [...document.querySelectorAll('.plot svg text')].filter(text => {
  const box = text.getBoundingClientRect(), {overflow} = getComputedStyle(text.closest('svg'));
  return overflow !== 'visible' || box.left < 0 || box.right > innerWidth;
}).map(text => text.textContent)
"""
RIGHTS = """
return [...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect().right)
"""
KEY = """
return [...document.querySelectorAll('.key path:first-child')].map(path => {
  const dashes = path.getAttribute('stroke-dasharray');
  return [getComputedStyle(path).stroke, dashes, path.nextElementSibling.getAttribute('d')];
})
"""
LINES = """
return [...document.querySelectorAll('#plot-curve-0 .mark-line path')].map(path => {
  const style = getComputedStyle(path);
  return [style.stroke, style.strokeDasharray];
})
"""


def written(folder, **options):
    topics = [Topic(topic, f"query of {topic}") for topic in TOPICS]
    judgments = Judgments(QRELS, None, ["nDCG@10", "AP"])
    compared = compare(judgments, RUNS, topics=topics, collection="small", **options)
    browser = browser_data(compared, RUNS, QRELS, RankingSelection.of(compared), Texts())
    path = folder / "ten.html"
    commands = [RunOrigin(name, "platform run") for name in NAMES]
    page = render_page(compared, browser=browser, curves=curves(QRELS, RUNS), made=commands)
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=[{"baseline": FIRST}, {"all_pairs": True}], ids=str)
def ten(request, driver, tmp_path_factory):
    return Page(driver, written(tmp_path_factory.mktemp("ten"), **request.param))


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_is_no_wider_than_the_screen(ten, width):
    ten.open(width=width)
    assert ten.run("return document.documentElement.scrollWidth") <= width
    assert [right for right in ten.run(RIGHTS, "select") if right > width] == []


def test_tables_show_figures_on_a_telephone(ten):
    tables = ten.open(width=400).run(FIGURES)
    assert len(tables) >= 3
    assert [caption for caption, rights in tables if not rights or min(rights) > 400] == []


def test_tables_are_whole_on_a_laptop(ten):
    ten.open(width=1280)
    rights = ten.run(RIGHTS, "th, td")
    assert len(rights) > 100
    assert max(rights) <= 1280


@pytest.mark.parametrize("width", [400, 1280])
def test_names_in_plots_are_whole(ten, width):
    ten.open(width=width)
    assert ten.texts(".key li") == NAMES
    assert ten.run(BEYOND_PLOTS) == []
    labels = [
        text.replace(" ", "") for text in ten.texts("#plot-intervals .mark-text.role-mark text")
    ]
    assert len(labels) == len({*labels})
    compared = NAMES[1:-1]  # the last is the first's ranking
    assert all(any(label.startswith(name) for label in labels) for name in compared)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_two_lines_look_alike(ten, dark):
    lines = ten.open(dark=dark).run(LINES)
    assert len({(stroke, dashes) for stroke, dashes in lines}) == len(NAMES)
    entries = ten.run(KEY)
    assert [stroke for stroke, _, _ in entries] == [stroke for stroke, _ in lines]
    assert len({(dashes, point) for _, dashes, point in entries}) == len(NAMES)  # without colours


@pytest.mark.parametrize("width", [400, 1280])
def test_a_link_lands_on_its_topic(ten, width):
    ten.open(
        width=width,
        fragment=f"#topic=topic-20&left={NAMES[1]}&right={NAMES[2]}".replace("+", "%2B"),
    )
    ten.wait("return scrollY > 0")
    assert ten.text("#topic-head h3") == "topic-20: query of topic-20"
    top = ten.run("return document.querySelector('#topic-head h3').getBoundingClientRect().top")
    bar = ten.run("return document.querySelector('.bar').getBoundingClientRect().bottom")
    assert max(bar, 0) <= top < 300


def test_it_opens_where_systems_differ(ten):
    ten.open()
    one, other = ten.texts("#sides h4")
    assert one.rsplit(maxsplit=1)[1] != other.rsplit(maxsplit=1)[1]
    assert ten.run(
        "return document.querySelectorAll('#plot-topics .mark-rect path').length"
    ) == len(TOPICS)


def test_paper_has_no_empty_halves_and_equal_rankings_once(ten):
    ten.open(
        width=717, fragment=f"#topic=topic-3&left={FIRST}&right={NAMES[-1]}".replace("+", "%2B")
    )
    assert "rank the same 10 documents first" in ten.text("#moved")
    ten.run("dispatchEvent(new Event('beforeprint'))")
    ten.print()
    assert (
        ten.run("return getComputedStyle(document.getElementById('results')).breakInside") == "auto"
    )
    assert ten.run("return document.getElementById('list-right').checkVisibility()") is False
    assert ten.run("return document.documentElement.scrollWidth") <= 717
    assert ten.run(BEYOND_PLOTS) == []
    ten.open(width=717).print()
    left, right = (
        ten.run(f"return document.getElementById('list-{s}').getBoundingClientRect().toJSON()")
        for s in ("left", "right")
    )
    assert left["top"] == right["top"]
    assert left["right"] < right["left"]
