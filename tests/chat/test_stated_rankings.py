"""The ranking that an answer states: in chains, lists, tables and JSON, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.chat.stated_rankings import permutation

LENGTH = 40_000

WHOLE = {
    "chains": [
        "[3] > [2] > [1]",
        "3 > 2 = 1",
        "Passage 3 > Passage 2 > Passage 1",
        "[ID: 3] > [ID: 2] > [ID: 1]",
        "P3 > P2 > P1",
        "[3] >\n[2] >\n[1]",
        "[3] → [2] → [1]",
        "3 -> 2 -> 1",
        r"\boxed{[3] \succ [2] \succ [1]}",
        "[3] &gt; [2] &gt; [1]",
        "**[3]** > **[2]** > **[1]**",
        "［３］＞［２］＞［１］",
        "٣ > ٢ > ١",
        "[3] (Lopez 2011, n = 40) > [2] (partly) > [1] (off topic)",
        "3 (best) > 2 > 1 (worst)",
        "The 3 passages by relevance to 'stage 2 asthma': [3] > [2] > [1]",
    ],
    "chains with more text": [
        "[3] > [2] > [1]\n\nPassage 1 is about rats, 2 of 3 arms, and p > 0.05 in [1].",
        "[3] > [2] > [1]\n\nWhy:\n1. Passage 1 is old.\n2. Passage 2 has 3 arms.\n3. [3] fits.",
        "My first idea: [1] > [2] > [3]. But I prefer [3] > [2] > [1]",
        "1. [1] is about rats\n2. [2] fits partly\n\nRanking: [3] > [2] > [1]",
        "[3] > [2] > [1]\n\n(The original order was [1] > [2] > [3].)",
        "From the most relevant to the least relevant to the query: [3] > [2] > [1]",
        "<|begin_of_box|>[3] > [2] > [1]<|end_of_box|>",
    ],
    "enumerations": [
        "3, 2, 1",
        "[3, 2, 1]",
        "[3], [2], [1]",
        "3 2 1",
        "3; 2; 1",
        "The order is 3, 2, 1.",
        "Final ranking: [3], [2] and [1]",
        "The most relevant one is [3], followed by [2] and then [1].",
        "Order: passages 3, 2, and 1.",
        "Here:\n[3, 2, 1]\nDone.",
    ],
    "numbered lists": [
        "1. Passage 3\n2. Passage 2\n3. Passage 1",
        "1. 3\n2. 2\n3. 1",
        "1) 3\n2) 2\n3) 1",
        "(1) 3\n(2) 2\n(3) 1",
        "1. (3)\n2. (2)\n3. (1)",
        "1: [3]\n2: [2]\n3: [1]",
        "Rank 1: Passage 3\nRank 2: Passage 2\nRank 3: Passage 1",
        "Rank 3: 1\nRank 1: 3\nRank 2: 2",
        "First: 3\nSecond: 2\nThird: 1",
        "1st: 3, 2nd: 2, 3rd: 1",
        "#1: Document 3\n#2: Document 2\n#3: Document 1",
        "1. Passage 3 2. Passage 2 3. Passage 1",
        "1. **Passage 3**: 2 trials\n2. **Passage 2**: as [3]\n3. **Passage 1**: rats",
        "1. 3 - asthma\n2. 2 - lungs\n3. 1 - 30 rats",
        "Rank 1 - Passage 3; Rank 2 - Passage 2; Rank 3 - Passage 1",
        "1️⃣ [3]\n2️⃣ [2]\n3️⃣ [1]",
        "Passage 3 (rank 1)\nPassage 1 (rank 3)\nPassage 2 (rank 2)",
    ],
    "other lists": [
        "- [3]\n- [2]\n- [1]",
        "🥇 [3]\n🥈 [2]\n🥉 [1]",
        "Doc: 3, Relevance: 9\nDoc: 2, Relevance: 5\nDoc: 1, Relevance: 1",
        "[3]\n[2]\n[1]",
        "a) Passage 3\nb) Passage 2\nc) Passage 1",
        "[3]: fits\n[2]: partly\n[1]: not at all",
        "3. Asthma in adults\n2. Lungs\n1. Rats",
    ],
    "tables": [
        "| Rank | Passage |\n|---|---|\n| 1 | 3 |\n| 2 | 2 |\n| 3 | 1 |",
        "| Passage | Rank |\n|:-:|---|\n| 1 | 3 |\n| 2 | 2 |\n| 3 | 1 |",
        "| 1 | 3 |\n| 2 | 2 |\n| 3 | 1 |",
        "| # | Passage | Why |\n|---|---|---|\n| 1 | [3] | 2 arms |\n| 2 | [2] | |\n| 3 | [1] | |",
        "rank\tpassage\n1\t3\n2\t2\n3\t1",
        "1 3\n2 2\n3 1",
        "1,3\n2,2\n3,1",
    ],
    "JSON": [
        '{"ranking": [3, 2, 1]}',
        '["3", "[2]", "Passage 1"]',
        '[{"id": 1, "rank": 3}, {"id": 3, "rank": 1}, {"id": 2, "rank": 2}]',
        '{"id": 3, "rank": 1}\n{"id": 2, "rank": 2}\n{"id": 1, "rank": 3}',
        "{'ranking': [3, 2, 1]}",
        '```json\n{"ranked_passages": [3, 2, 1]}\n```',
        'Here:\n```json\n{"ranking": ["[3]", "[2]", "[1]"]}\n```\nAsk for more!',
        '{"thoughts": "Passage 1 has 2 arms", "ranking": [3, 2, 1]}',
        '{"ranking": "3 > 2 > 1"}',
        '{"rank_1": "Passage 3", "rank_2": "Passage 2", "rank_3": "Passage 1"}',
        '[{"doc": 3, "score": 0.9}, {"doc": 2, "score": 0.5}, {"doc": 1, "score": 0.1}]',
        "[\n  3,\n  2,\n  1\n]",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "answer", [answer for answers in WHOLE.values() for answer in answers], ids=repr
)
def test_a_whole_ranking_is_read_in_many_forms(answer):
    assert permutation(answer, 3) == ([2, 1, 0], "")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[3]", [2, 0, 1]),
        ("Answer: [3]", [2, 0, 1]),
        ("3 > 1", [2, 0, 1]),
        ("[2] > [2] > [9] > [1]", [1, 0, 2]),
        ("[0] > [3] > [1] > [2]", [2, 0, 1]),
        ("[" + "9" * 5000 + "] > [2]", [1, 0, 2]),
        ("1. [3]\n2. [1]", [2, 0, 1]),
        ("Here: [3]>[ 1 ] > [03]", [2, 0, 1]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_ranking_with_gaps_is_repaired(answer, expected):
    assert permutation(answer, 3) == (expected, "repaired")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot rank these 3 passages.",
        "Passages [1], [2] and [3] are about rats.",
        "I looked at passages 1, 2 and 3.",
        '{"1": 3, "2": 2, "3": 1}',
        "1: 3\n2: 2\n3: 1",
        "[1]: 3\n[2]: 2\n[3]: 1",
        "Passage 1: 0.2\nPassage 2: 0.5\nPassage 3: 0.9",
        '[{"id": 1, "score": 0.1}, {"id": 2, "score": 0.5}, {"id": 3, "score": 0.9}]',
        "| Passage | Relevance |\n|---|---|\n| 1 | low |\n| 2 | fair |\n| 3 | high |",
        "1. Rats\n2. Lungs\n3. Asthma",
        "[1] is about rats.\n[2] is about lungs.\n[3] fits.",
        "[1] < [2] < [3]",
        "Least relevant first: [1] > [2] > [3]",
        "From worst to best: 1, 2, 3",
        "In ascending order of relevance:\n1. [1]\n2. [2]\n3. [3]",
        "Doc: 1, Relevance: 1\nDoc: 3, Relevance: 9\nDoc: 2, Relevance: 5",
        "[2] > [0] > [1]",
        "[3] = [2] = [1]",
        '{"relevant": [3], "irrelevant": [2, 1]}',
        "Relevant: [3]\nIrrelevant: [2], [1]",
        "1. 3 adults were treated\n2. 2 arms\n3. 1 rat",
        "[1] > [2] is wrong, [3] > [1] is right",
        "1,2\n2,3\n3,1",
        "1\t2\n2\t3\n3\t1",
        "1 2\n2 3\n3 1",
        "| 1 | 2 |\n| 2 | 3 |\n| 3 | 1 |",
        '{"ranks": [2, 3, 1]}',
        '{"Ranks": ["2", "3", "1"]}',
        '{"positions": [2, 3, 1]}',
        '{"query": "rats", "rank": [2, 3, 1]}',
        "{3: a",
        "{}",
        '{"ranking": null}',
    ],
)
def test_what_may_be_read_in_two_ways_is_no_ranking(answer):
    assert permutation(answer, 3) == ([0, 1, 2], "unusable")


@pytest.mark.parametrize(
    "answer", ["1,3\n2,2\n3,1", "| 1 | 3 |\n| 2 | 2 |\n| 3 | 1 |", '{"ranks": [3, 2, 1]}']
)
def test_what_is_the_same_in_both_ways_is_a_ranking(answer):
    assert permutation(answer, 3) == ([2, 1, 0], "")


def test_numbers_that_cannot_be_ranks_are_passages():
    assert permutation("1,5\n2,3\n3,1", 5) == ([4, 2, 0, 1, 3], "repaired")
    assert permutation('{"ranks": [5, 3]}', 5) == ([4, 2, 0, 1, 3], "repaired")
    assert permutation('{"ranking": [2, 3, 1]}', 3) == ([1, 2, 0], "")


@given(st.permutations(range(12)), st.sampled_from(["[{}] > ", "{} > ", "{}, ", "\n{}", "[{}]\n"]))
def test_whole_rankings_are_taken_as_they_are(order, form):
    answer = "".join(form.format(place + 1) for place in order).strip("> ,")
    assert permutation(answer, 12) == ([*order], "")


@given(
    st.permutations(range(12)), st.sampled_from(["{}. {}", "Rank {}: {}", "{}) [{}]", "{}\t[{}]"])
)
def test_ranks_are_not_taken_for_passages(order, form):
    lines = [form.format(rank, place + 1) for rank, place in enumerate(order, start=1)]
    assert permutation("\n".join(lines), 12) == ([*order], "")


@given(st.text(alphabet='[](){}|<>=,:;.\n\t"0123456789 ²٣aPrank', max_size=60), st.integers(1, 30))
def test_any_answer_is_made_a_permutation(answer, count):
    assert sorted(permutation(answer, count)[0]) == [*range(count)]


@pytest.mark.parametrize(
    "part",
    [
        "[1] > ",
        "1, ",
        "[",
        "{",
        "-",
        "> ",
        "is ",
        ", and ",
        '["',
        "1. 2 ",
        "(",
        "| 1 ",
        "\n",
        "[1](",
    ],
)
def test_a_long_answer_takes_linear_time(part):
    permutation(part * (LENGTH // len(part)) + "x", 20)
