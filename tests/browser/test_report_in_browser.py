"""The report in Chromium: quiet, offline, usable by mouse and keyboard, wide and narrow."""

import pytest
from page_checks import OVERFLOWING, PALE_TEXT, SMALL_TEXT
from report_data import HOSTILE, SYSTEMS, TOPICS
from report_page import Page

from irplatform.comparison.compare import compare
from irplatform.comparison.curves import curves
from irplatform.data import Document, Topic
from irplatform.evaluation.judgments import Judgments
from irplatform.reports.html.page import render_page
from irplatform.reports.html.rankings import RankingSelection, Texts, browser_data
from irplatform.runs import Ranking, Run

WIDTHS = (400, 1400)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_quiet_and_readable(page, width, dark):
    page.open(width=width, dark=dark)
    assert page.run(OVERFLOWING) == []
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(SMALL_TEXT) == []
    assert page.run(PALE_TEXT) == []
    assert page.run("return matchMedia('(prefers-color-scheme: dark)').matches") is dark
    assert page.log() == ([], [])


def test_it_fits_a_sheet_of_paper_and_is_printed_light(page):
    page.open(width=720, dark=True).print()
    assert (
        page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )
    assert page.run(OVERFLOWING.replace(".scroll, ", "")) == []
    assert page.run(PALE_TEXT) == []
    assert page.run("return document.getElementById('filter').checkVisibility()") is False


def test_titles_and_queries_stay_text(page):
    page.open()
    assert page.run("return window.pwned ?? null") is None
    assert f"t0: cancer {HOSTILE}" not in page.text("#topic-head h3")
    item = next(
        i for i in page.driver.find_elements("css selector", "#topic-list li") if "t0" in i.text
    )
    item.click()
    assert page.text("#topic-head h3") == f"t0: cancer {HOSTILE}"
    page.find("#show").send_keys("20")
    assert HOSTILE in page.texts(".ranking .title")
    assert page.run("return window.pwned ?? null") is None
    assert page.log() == ([], [])


def column(page, number=2):
    return page.texts(f".of-measure:not([hidden]) tbody tr > :nth-child({number})")


def test_tables_are_sorted_by_mouse_and_keyboard(page):
    page.open()
    assert column(page, 1) == [*SYSTEMS]
    buttons = page.driver.find_elements("css selector", ".of-measure:not([hidden]) .sort")
    buttons[1].click()
    assert column(page) == sorted(column(page), reverse=True)
    head = page.find(".of-measure:not([hidden]) thead th:nth-child(2)")
    assert head.get_attribute("aria-sort") == "descending"
    buttons[1].send_keys("\ue007")  # Enter
    assert column(page) == sorted(column(page))
    assert head.get_attribute("aria-sort") == "ascending"
    buttons[0].send_keys(" ")
    assert column(page, 1) == sorted(SYSTEMS)


def test_topics_are_chosen_by_mouse_and_keyboard(page):
    page.open()
    items = page.driver.find_elements("css selector", "#topic-list li")
    assert len(items) == TOPICS
    ids = [item.find_element("css selector", ".id").text for item in items]
    items[2].click()
    assert page.text("#topic-head h3").startswith(f"{ids[2]}: ")
    for key, place in (("\ue015", 3), ("\ue013", 2), ("\ue010", TOPICS - 1), ("\ue011", 0)):
        page.find("#topic-list").send_keys(key)  # down, up, end, home
        assert page.text("#topic-head h3").startswith(f"{ids[place]}: ")
        option = page.find("#topic-list [aria-selected=true]")
        assert option.find_element("css selector", ".id").text == ids[place]
        assert page.find("#topic-list").get_attribute(
            "aria-activedescendant"
        ) == option.get_attribute("id")
    assert page.log() == ([], [])


def test_what_has_the_focus_is_visible(page):
    page.open()
    tags = set()
    for _ in range(30):
        page.driver.switch_to.active_element.send_keys("\ue004")  # Tab
        tags.add(page.run("return document.activeElement.tagName"))
        assert (
            page.run("return parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
            >= 2
        )
    assert {"A", "SELECT", "BUTTON"} <= tags


def test_a_bar_says_its_query_and_leads_to_its_topic(page):
    from selenium.webdriver import ActionChains

    page.open()
    bar = page.find("#plot-topics path[aria-roledescription=bar]")
    page.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", bar)
    ActionChains(page.driver).move_to_element(bar).perform()
    page.wait("return !document.getElementById('tip').hidden")
    topic, query = page.texts("#tip dd")[:2]
    ActionChains(page.driver).click(bar).perform()
    assert page.text("#topic-head h3") == f"{topic}: {query}"


def test_the_sides_show_what_moved(page):
    page.open()
    assert page.texts("#sides h4")[0].startswith("base ")
    first = page.texts("#list-right .meta")
    assert len(first) == 10
    assert any("▲ from" in text or "▼ from" in text or "= " in text for text in first)
    page.find("#left").send_keys("other")
    assert page.texts("#sides h4")[0].startswith("other ")
    assert page.run("return document.querySelectorAll('#links path').length") > 0
    page.find("#passages").click()
    assert page.run("return document.querySelector('.passage').checkVisibility()") is False


def test_another_measure_changes_tables_plots_and_rankings(page):
    page.open()
    before = page.texts("#topic-list .id")
    page.find("#measure").send_keys("RR")
    assert page.text(".of-measure:not([hidden]) caption") == "Systems by RR"
    page.wait("return document.querySelector('#plot-topics').textContent.includes('RR: ')")
    assert page.texts("#topic-list .id") != before
    said = page.find("#plot-topics").get_attribute("aria-label")
    assert said == "Difference of each topic, largest gain first. RR: other − base"
    assert page.log() == ([], [])


def test_words_filter_topics_and_a_link_leads_to_one(page):
    page.open(fragment="#topic=t3&left=third&right=base&measure=P%405")
    assert page.text("#topic-head h3").startswith("t3: ")
    assert [text.split()[0] for text in page.texts("#sides h4")] == ["third", "base"]
    assert page.text(".of-measure:not([hidden]) caption") == "Systems by P@5"
    page.find("#filter").send_keys("bone")
    assert page.texts("#topic-list .id") == ["t3"]
    assert page.text("#topic-count") == f"1 of {TOPICS} topics"


def test_names_with_signs_are_highlighted(driver, tmp_path):
    names = ["c-Met [HGF+]", "N-(4)/x", "α-SMA", "a\\b|c"]
    title = "; ".join(names)
    runs = {n: Run(n, {"1": Ranking.of(["d"], [1.0])}) for n in ("one", "two")}
    compared = compare(Judgments({"1": {"d": 1}}, None, ["RR"]), runs, topics=[Topic("1", "lung")])
    texts = Texts({"d": Document("d", title, "")}, {"1": names})
    qrels = {"1": {"d": 1}}
    browser = browser_data(compared, runs, qrels, RankingSelection.of(compared), texts)
    path = tmp_path / "names.html"
    path.write_text(render_page(compared, browser=browser, curves=curves(qrels, runs)))
    page = Page(driver, path).open()
    assert page.texts("#list-left mark.concept") == names
    assert page.text("#list-left .title") == title
    assert page.log() == ([], [])


def test_what_is_asked_for_is_highlighted(page):
    page.open(fragment="#topic=t1&left=base&right=other")
    assert {"cancer", "heart"} <= {text.lower() for text in page.texts("#sides mark")}
