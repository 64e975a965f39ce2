"""Claims are differences of two rows: read with care, checked after them, judged by one rule."""

import json

import pytest
from commands import call as platform

from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.registry.registration import Plugin
from irplatform.reproduction import execute
from irplatform.reproduction.differences import (
    Claim,
    known_claims,
    names_of_rows,
    shipped_claims,
    verdict_of,
)
from irplatform.reproduction.rows import known_rows, select, shipped_rows
from irplatform.run_folder.folder import FolderScores, SystemScores, write_scores

OURS = Plugin("ours", "irplatform", "1.0")
OURS_TOO = Plugin("ours-too", "irplatform", "1.0")
THEIRS = Plugin("theirs", "their-package", "0.3")
CLAIM = """
[[difference]]
id = "ranker-over-bm25"
better = "ranker-small"
worse = "bm25-small"
measure = "AP"
claim = "The ranker ranks better than BM25"
source = "SIGIR 1999, table 1"
published = 0.02
expected = [0.2, 0.1, 0.3]
"""
SCORES = {
    "bm25": {"1": 0.1, "2": 0.2, "3": 0.3},
    "delta": {"1": 0.3, "2": 0.4, "3": 0.6},
    "delta-alone": {"1": 0.6, "2": 0.4, "3": 0.6},
}
"""AP, as `scores.json` has it: of a row with seeds their mean. By it 0.2333 [0.0899, 0.3768]."""


@pytest.fixture
def claims(results):
    """The file of rows, with a claim about two of them."""
    results.write_text(results.read_text(encoding="utf-8") + CLAIM, encoding="utf-8")
    return results


@pytest.fixture
def scored(monkeypatch, report, fresh_home):
    """Commands leave the scores of topics in their folder."""

    def call(command, cache, run_dir):
        systems = {name: SystemScores({}, {"AP": topics}) for name, topics in SCORES.items()}
        run_dir.mkdir(parents=True)
        write_scores(FolderScores("demo", ["AP"], systems), run_dir)
        return report

    monkeypatch.setattr(execute, "call", call)


def _replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def _read(file) -> list[Claim]:
    return known_claims([file], known_rows([file]))


# Direction: above 0, around it, below. Size: the published difference is inside, above, below.
@pytest.mark.parametrize(
    ("expected", "published", "verdict"),
    [
        (None, None, "not run"),
        (None, 0.5, "not run"),
        ((0.2, 0.1, 0.3), None, "reproduced"),
        ((0.2, 0.1, 0.3), 0.2, "reproduced"),
        ((0.2, 0.1, 0.3), 0.1, "reproduced"),
        ((0.2, 0.1, 0.3), 0.3, "reproduced"),
        ((0.2, 0.1, 0.3), 0.4, "direction only: smaller"),
        ((0.2, 0.1, 0.3), 0.05, "direction only: larger"),
        ((0.1, -0.1, 0.3), None, "undecided"),
        ((0.1, -0.1, 0.3), 0.2, "undecided"),
        ((0.1, 0.0, 0.2), 0.1, "undecided"),
        ((-0.1, -0.2, 0.0), 0.0, "undecided"),
        ((0.1, -0.1, 0.3), 0.4, "not reproduced: smaller"),
        ((0.1, -0.1, 0.3), -0.2, "not reproduced: larger"),
        ((-0.2, -0.3, -0.1), None, "opposite"),
        ((-0.2, -0.3, -0.1), 0.2, "opposite"),
        ((-0.2, -0.3, -0.1), -0.2, "opposite"),
    ],
)
def test_the_verdict_follows_from_the_interval_and_the_published_difference(
    expected, published, verdict
):
    assert verdict_of(expected, published) == verdict
    of_variant = verdict if expected is None else f"{verdict}, of a variant"
    assert verdict_of(expected, published, "64 filters") == of_variant


@pytest.mark.parametrize(
    ("expected", "verdict"),
    [
        ((0.01, -0.01, 0.03), "reproduced"),
        ((-0.01, -0.018, -0.002), "reproduced"),
        ((-0.01, -0.03, 0.01), "undecided"),
        ((-0.05, -0.08, -0.021), "opposite"),
    ],
)
def test_with_a_margin_a_system_need_not_be_better(expected, verdict):
    assert verdict_of(expected, published=0.5, margin=0.02) == verdict


def test_a_claim_by_further_measures_is_one_for_each(claims):
    _replace(claims, 'expected = { "AP" = 0.5 }\n\n', 'expected = { "AP" = 0.5, "P@10" = 0.2 }\n\n')
    _replace(
        claims,
        "published =",
        'also = [{ measure = "P@10", published = 0.1, margin = 0.1 }]\npublished =',
    )
    first, second = _read(claims)
    assert (first.id, first.published, first.verdict) == (
        "ranker-over-bm25",
        0.02,
        "direction only: larger",
    )
    assert (second.id, second.measure, second.published) == (
        "ranker-over-bm25-by-p-10",
        "P@10",
        0.1,
    )
    assert (second.rows, second.verdict) == (first.rows, "not run")
    assert (first.margin, second.margin) == (None, 0.1)


def test_cases_are_claims_about_rows_that_end_in_them(claims):
    _replace(claims, 'worse = "bm25-small"', 'worse = "bm25"\ntopics = "noise-*:test"')
    _replace(claims, 'better = "ranker-small"', 'better = "ranker"')
    _replace(claims, "expected = [0.2, 0.1, 0.3]", "cases = { small = [0.2, 0.1, 0.3] }")
    (claim,) = _read(claims)
    assert claim.id == "ranker-over-bm25-small"
    assert claim.rows == ("ranker-small", "bm25-small")
    assert (claim.topics, claim.verdict) == ("noise-small:test", "direction only: larger")


def test_a_claim_is_read_with_its_verdict(claims):
    (claim,) = _read(claims)
    assert str(claim) == "ranker-small over bm25-small, AP"
    assert claim.verdict == "direction only: larger"
    names = ["ranker-over-bm25", "SIGIR 1999, table 1"]
    assert names_of_rows([claim]) == {"ranker-small": names, "bm25-small": names}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("claim =", "clam =", "'clam' is not a key of difference 'ranker-over-bm25'. Did you mean"),
        ('claim = "The', '# "The', "difference 'ranker-over-bm25', key 'claim'"),
        ('"ranker-over-bm25"', '"A!"', "difference 'A!', key 'id'"),
        ("published = 0.02", "published = -0.02", "key 'published'"),
        ("[0.2, 0.1, 0.3]", "[0.2, 0.1]", "key 'expected"),
        ("[0.2, 0.1, 0.3]", "[0.1, 0.2, 0.3]", "key 'expected': .*the lower one first"),
        ("published =", 'topics = ["1", "1"]\npublished =', "key 'topics': .*two or more topics"),
        ("published =", 'topics = ["1"]\npublished =', "key 'topics': .*two or more topics"),
        (
            'worse = "bm25-small"',
            'worse = "bm25-smal"',
            "key 'worse': unknown result 'bm25-smal'. Did you mean 'bm25-small'",
        ),
        (
            'better = "ranker-small"',
            'better = "bm25-small"',
            "key 'worse': it is the same row as 'better'",
        ),
        (
            'measure = "AP"',
            'measure = "P@10"',
            r"key 'measure': 'P@10' is not a figure of what result 'bm25-small' expects\. .*AP",
        ),
        (
            'measure = "AP"',
            'measure = "P@10"\nalone = true',
            "'P@10' is not a figure of what result 'ranker-small' expects alone",
        ),
        (
            'worse = "bm25-small"',
            'worse = "elsewhere"',
            "key 'worse': the rows have other topics: those of demo and .*nowhere:dev",
        ),
        ("published =", "cases = { a = [1, 2, 3] }\npublished =", "the lower one first"),
        (
            "published =",
            'also = [{ measure = "AP", expected = [1, 2, 3] }]\npublished =',
            "the lower one first",
        ),
        ("published =", "cases = { small = [0, 0, 0] }\npublished =", "'cases' have their own"),
        (CLAIM, CLAIM + CLAIM, "difference 'ranker-over-bm25' is also in"),
        (CLAIM, "[difference]\nid = 'a'", "entries .*result.* and .*difference.*, and nothing"),
    ],
)
def test_a_wrong_claim_is_refused_with_its_file(claims, old, new, message):
    _replace(claims, old, new)
    with pytest.raises(InputError, match=message) as refusal:
        _read(claims)
    assert str(refusal.value).startswith(str(claims))


def test_the_rows_of_a_claim_are_chosen_by_its_id_and_source(claims):
    rows = known_rows([claims])
    names = names_of_rows(_read(claims))
    for pattern in ("ranker-over-bm25", "SIGIR 1999*"):
        selection = select(rows, [pattern], further_names=names)
        assert [row.id for row in selection] == ["bm25-small", "ranker-small"]
    # What names rows by themselves chooses no others.
    assert [row.id for row in select(rows, ["ranker-*"], further_names=names)] == ["ranker-small"]
    with pytest.raises(InputError, match="Did you mean 'ranker-over-bm25'"):
        select(rows, ["ranker-over-bm2"], further_names=names)


def test_a_claim_may_be_about_rows_of_other_files_of_its_distribution(results, tmp_path):
    file = tmp_path / "claims.toml"
    file.write_text(CLAIM, encoding="utf-8")
    rows, refused = shipped_rows({results: OURS, file: OURS_TOO})
    claims, refusals = shipped_claims({results: OURS, file: OURS_TOO}, rows, refused)
    assert ([claim.id for claim in claims], refusals) == (["ranker-over-bm25"], [])
    claims, refusals = shipped_claims({results: OURS, file: THEIRS}, rows, refused)
    assert claims == []
    assert str(*refusals).startswith(
        "differences of plugin 'theirs' (their-package 0.3) are not used: "
        f"{file}: difference 'ranker-over-bm25', key 'better': unknown result 'ranker-small'."
    )


def test_rows_stay_where_a_claim_is_wrong(claims, monkeypatch, capsys):
    _replace(claims, 'worse = "bm25-small"', 'worse = "nothing"')
    monkeypatch.setattr(registry(), "results", {claims: OURS})
    result = platform(capsys, monkeypatch, "reproduce", "--list", "--json")
    assert result.code == 0
    assert len(result.json["results"]) == 3
    assert result.json["differences"] == []
    assert result.err.count("differences of plugin 'ours' (irplatform 1.0) are not used") == 1
    result = platform(capsys, monkeypatch, "reproduce", "--only", "ranker-over-*")
    assert result.code == 2
    assert "key 'worse': unknown result 'nothing'" in result.err


def test_a_file_whose_rows_are_refused_is_told_of_once(claims, monkeypatch, capsys):
    _replace(claims, "minutes = 2", "minutes = 0")
    monkeypatch.setattr(registry(), "results", {claims: OURS})
    result = platform(capsys, monkeypatch, "reproduce")
    assert (result.code, result.err.count("are not used")) == (2, 1)


def test_differences_are_printed_after_their_rows(claims, scored, capsys, monkeypatch):
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--only", "SIGIR*")
    assert result.code == 0
    assert result.out.splitlines()[-3:] == [
        "ranker-over-bm25: ranker-small over bm25-small, AP",
        "  AP        +0.2000 [+0.1000, +0.3000]  +0.2333 [+0.0899, +0.3768]  ok",
        "2 passed, 0 failed, 0 skipped; differences: 1 passed, 0 failed, 0 not measured yet",
    ]
    result = platform(
        capsys, monkeypatch, "reproduce", "--file", claims, "--only", "*-small", "--json"
    )
    (difference,) = result.json["differences"]
    assert difference.pop("obtained") == pytest.approx([0.2333, 0.0899, 0.3768], abs=5e-5)
    assert difference == {
        "id": "ranker-over-bm25",
        "better": "ranker-small",
        "worse": "bm25-small",
        "measure": "AP",
        "claim": "The ranker ranks better than BM25",
        "source": "SIGIR 1999, table 1",
        "published": 0.02,
        "variant": "",
        "margin": None,
        "alone": False,
        "of_topics": "",
        "expected": [0.2, 0.1, 0.3],
        "claim_verdict": "direction only: larger",
        "topics": 3,
        "verdict": "passed",
        "reason": None,
    }


@pytest.mark.parametrize(
    ("old", "new", "code", "printed"),
    [
        (
            "[0.2, 0.1, 0.3]",
            "[0.2, 0.1, 0.23]",
            1,
            "+0.2000 [+0.1000, +0.2300]  +0.2333 [+0.0899, +0.3768]  "
            "FAILED: the difference is outside the interval",
        ),
        (
            "expected = [0.2, 0.1, 0.3]\n",
            "",
            0,
            "+0.2333 [+0.0899, +0.3768]  not measured yet",
        ),
        # The retriever has no other scores.
        (
            "[0.2, 0.1, 0.3]",
            "[0.3, 0.1, 0.5]\nalone = true",
            0,
            "AP alone  +0.3000 [+0.1000, +0.5000]  +0.3333 [-0.0461, +0.7128]  ok",
        ),
    ],
)
def test_a_difference_is_to_lie_in_its_interval(
    claims, scored, capsys, monkeypatch, old, new, code, printed
):
    _replace(claims, old, new)
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--only", "SIGIR*")
    assert result.code == code
    assert printed in result.out.splitlines()[-2]


def test_an_interval_knows_how_much_trainings_differ(claims, scored, report, capsys, monkeypatch):
    write_scores_only = execute.call

    def call(command, cache, run_dir):
        write_scores_only(command, cache, run_dir)
        run = next(run for run in report["runs"] if run["name"] == "delta")
        trained = {**run, "spread": {"AP": {"std": 0.2}}, "seeds": [{}, {}, {}]}
        (run_dir / "report.json").write_text(json.dumps({"runs": [trained]}), encoding="utf-8")
        return report

    monkeypatch.setattr(execute, "call", call)
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--only", "SIGIR*")
    assert "+0.2333 [-0.2194, +0.6861]" in result.out


@pytest.mark.parametrize(
    ("topics", "printed"),
    [
        ('["1", "3"]', "AP, 2 topics"),
        ('"${HERE}/small:dev"', "AP, small:dev"),
    ],
)
def test_a_claim_may_be_about_some_topics(claims, scored, capsys, monkeypatch, topics, printed):
    folder = claims.parent / "small"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d", "text": "x"}\n')
    (folder / "queries.jsonl").write_text(
        "".join(f'{{"_id": "{number}", "text": "x"}}\n' for number in (1, 2, 3))
    )
    (folder / "qrels/dev.tsv").write_text("query-id\tcorpus-id\tscore\n1\td\t1\n3\td\t1\n")
    _replace(claims, "published =", f"topics = {topics}\npublished =")
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--only", "SIGIR*")
    assert result.code == 0
    assert result.out.splitlines()[-3:-1] == [
        f"ranker-over-bm25: ranker-small over bm25-small, {printed}",
        "  AP        +0.2000 [+0.1000, +0.3000]  +0.2500 [-0.3853, +0.8853]  ok",
    ]


@pytest.mark.parametrize(
    ("topics", "reason"),
    [
        ('["1", "4"]', "ranker-small has no scores of topic 4"),
        ('"${HERE}/nowhere:dev"', "nowhere"),
    ],
)
def test_a_claim_about_topics_that_are_not_there_fails(
    claims, scored, capsys, monkeypatch, topics, reason
):
    _replace(claims, "published =", f"topics = {topics}\npublished =")
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--only", "SIGIR*")
    assert result.code == 1
    assert "FAILED: " in result.out.splitlines()[-2]
    assert reason in result.out.splitlines()[-2]


def test_a_measure_without_scores_of_topics_fails(claims, scored, capsys, monkeypatch):
    _replace(claims, 'expected = { "AP" = 0.5 }', 'expected = { "AP" = 0.5, "RR" = 0.5 }')
    _replace(claims, '"AP" = { value = 0.6 }', '"AP" = { value = 0.6 }\n"RR" = 0.5')
    _replace(claims, 'measure = "AP"', 'measure = "RR"')
    arguments = ("reproduce", "--file", claims, "--only", "SIGIR*")
    result = platform(capsys, monkeypatch, *arguments)
    assert result.code == 1
    assert result.out.splitlines()[-2].endswith("FAILED: ranker-small reports no RR of its topics")


def test_a_claim_is_not_checked_without_one_of_its_rows(claims, scored, capsys, monkeypatch):
    for only in ("bm25-small", "elsewhere"):
        result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--only", only)
        assert "differences" not in result.out
    monkeypatch.setattr(execute, "call", lambda *_: {"error": "no disk"})
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--only", "SIGIR*")
    assert (result.code, result.out.splitlines()[-1]) == (1, "0 passed, 2 failed, 0 skipped")


def test_the_list_has_claims(claims, capsys, monkeypatch):
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--list")
    claim = "ranker-small over bm25-small, AP: direction only: larger"
    words = f"ranker-over-bm25 SIGIR 1999, table 1 {claim}"
    assert " ".join(result.out.splitlines()[-1].split()) == words
    result = platform(capsys, monkeypatch, "reproduce", "--file", claims, "--list", "--json")
    assert result.json["differences"][0]["claim_verdict"] == "direction only: larger"


def test_none_of_our_claims_is_refused():
    rows, refused = shipped_rows(registry().results)
    claims, refusals = shipped_claims(registry().results, rows, refused)
    assert refusals == []
    assert len(claims) > 0
