"""infNDCG and infAP: by hand, by a plain twin, and the figures that the track printed."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irplatform.evaluation.kinds import Inferred, Scored
from irplatform.evaluation.measures.inf_ap import inferred_ap
from irplatform.evaluation.measures.inf_ndcg import inferred_ndcg
from irplatform.evaluation.sampled import Pool, judged_documents, read_sampled_qrels
from irplatform.evaluation.scoring import evaluate
from irplatform.evaluation.topics import without_results
from irplatform.runs import Ranking, Run, read_run


def pool(documents):
    """A pool from document → (stratum, grade)."""
    strata, grades = zip(*documents.values(), strict=True)
    return Pool(
        {document: place for place, document in enumerate(documents)},
        np.unique(strata, return_inverse=True)[1],
        np.array(grades),
    )


def plain(documents, ranking, depth=100):
    """InfNDCG and infAP, document by document."""
    pooled, judged, relevant = Counter(), Counter(), Counter()
    for stratum, grade in documents.values():
        pooled[stratum] += 1
        judged[stratum] += grade >= 0
        relevant[stratum] += grade > 0
    counts, seen_judged, seen_relevant = Counter(), Counter(), Counter()
    gain, precision = defaultdict(float), defaultdict(float)
    for rank, document in enumerate(ranking[:depth], start=1):
        if document not in documents:
            continue
        stratum, grade = documents[document]
        if grade > 0:
            total = sum(counts.values())
            above = sum(
                counts[s] / total * (seen_relevant[s] + 0.00001) / (seen_judged[s] + 0.00003)
                for s in counts
            )
            precision[stratum] += 1 / rank + total / rank * above
            gain[stratum] += grade / math.log2(rank + 1)
        counts[stratum] += 1
        seen_judged[stratum] += grade >= 0
        seen_relevant[stratum] += grade > 0
    total = sum(counts.values())
    dcg = total * sum(counts[s] / total * gain[s] / seen_judged[s] for s in gain)
    ideal = plain_ideal(documents, pooled, judged, depth)
    estimated = {s: relevant[s] * pooled[s] / judged[s] for s in pooled if judged[s]}
    ap = sum(estimated[s] / sum(estimated.values()) * precision[s] / relevant[s] for s in precision)
    return (dcg / ideal if ideal else 0.0), ap


def plain_ideal(documents, pooled, judged, depth):
    counts = Counter((s, grade) for s, grade in documents.values() if grade > 0)
    start, ideal = 0, 0.0
    for grade in sorted({grade for _, grade in counts}, reverse=True):
        number = sum(counts[s, grade] * pooled[s] / judged[s] for s in sorted(pooled) if judged[s])
        number = math.floor(number + 0.5)
        for rank in range(start + 1, start + number + 1):
            ideal += grade / math.log2(rank + 1)
            if rank >= depth:
                break
        start += number
    return ideal


POOL = {"a": (1, 2), "b": (1, 0), "c": (2, 1), "d": (2, -1), "e": (2, -1), "f": (2, 0)}
"""Stratum 1: all of two judged. Stratum 2: two of four, so that each stands for two."""


def test_ndcg_by_hand():
    # Retrieved: a (rank 1, gain 2), x, d (not judged), c (rank 4). Stratum 1: 1 / 1 * 2.
    # Stratum 2: 2 retrieved, 1 judged, gain 1 / log2(5). Ideal: one of grade 2, two of grade 1.
    dcg = 2 + 2 * (1 / math.log2(5)) / 1
    ideal = 2 / 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert inferred_ndcg(pool(POOL), ["a", "x", "d", "c"]) == pytest.approx(dcg / ideal)


def test_ap_by_hand():
    # At a: precision 1. At c, rank 4: itself, and above it one document of stratum 1 (judged,
    # relevant) and one of stratum 2 (not judged: the smoothing says one third).
    above = (1 + 0.00001) / (1 + 0.00003) + 0.00001 / 0.00003
    at_c = (1 + above) / 4
    # One relevant document in stratum 1, an estimated two in stratum 2
    assert inferred_ap(pool(POOL), ["a", "x", "d", "c"]) == pytest.approx((1 + 2 * at_c) / 3)


def test_all_judged_is_plain_ndcg_and_almost_plain_ap():
    documents = {"a": (1, 2), "b": (1, 0), "c": (1, 1), "d": (1, 1)}
    ranking = ["b", "c", "x", "a"]
    dcg = 1 / math.log2(3) + 2 / math.log2(5)
    ideal = 2 + 1 / math.log2(3) + 1 / math.log2(4)
    # One stratum: its gains are spread over the retrieved documents of the pool
    assert inferred_ndcg(pool(documents), ranking) == pytest.approx(dcg / ideal)
    assert inferred_ap(pool(documents), ranking) == pytest.approx((1 / 2 + 2 / 4) / 3, abs=1e-4)


def test_the_hundredth_document_counts_and_the_next_does_not():
    documents = {"a": (1, 1)}
    above = [f"x{number}" for number in range(99)]
    assert inferred_ndcg(pool(documents), [*above, "a"]) == pytest.approx(1 / math.log2(101))
    assert inferred_ap(pool(documents), [*above, "a"]) == pytest.approx(1 / 100)
    assert inferred_ndcg(pool(documents), ["y", *above, "a"]) == 0.0
    assert inferred_ap(pool(documents), ["y", *above, "a"]) == 0.0


def test_estimated_numbers_are_rounded_half_up():
    # One of two judged documents is relevant, of five: an estimated 2.5
    five = {"a": (1, 1), "b": (1, 0), "c": (1, -1), "d": (1, -1), "e": (1, -1)}
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert inferred_ndcg(pool(five), ["a"]) == pytest.approx(1 / ideal)


def test_strata_are_added_up_in_the_order_of_their_text(tmp_path):
    """As the official program sorts them, 21.499999999999996 are estimated; by number, 21.5."""
    strata = {  # relevant, judged and pooled documents
        1: (0, 3, 3),
        2: (2, 2, 2),
        3: (3, 4, 7),
        4: (1, 2, 3),
        5: (1, 3, 5),
        6: (1, 1, 2),
        7: (2, 3, 3),
        8: (2, 3, 5),
        9: (0, 1, 2),
        10: (3, 4, 5),
    }
    lines = [
        f"t 0 d{stratum}-{n} {stratum} {1 if n < relevant else 0 if n < judged else -1}"
        for stratum, (relevant, judged, pooled) in strata.items()
        for n in range(pooled)
    ]
    path = tmp_path / "qrels"
    path.write_text("\n".join(lines))
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, 21 + 1))
    assert inferred_ndcg(read_sampled_qrels(path)["t"], ["d2-0"]) == pytest.approx(1 / ideal)


def test_the_first_document_of_a_lower_grade_counts_even_below_rank_100():
    documents = {f"h{n}": (1, 2) for n in range(120)} | {f"l{n}": (1, 1) for n in range(5)}
    ideal = sum(2 / math.log2(rank + 1) for rank in range(1, 101)) + 1 / math.log2(122)
    assert inferred_ndcg(pool(documents), ["h0"]) == pytest.approx(2 / ideal)


def test_a_stratum_without_judgments_says_nothing():
    documents = {"a": (1, 1), "b": (2, -1), "c": (2, -1)}
    assert inferred_ndcg(pool(documents), ["b", "a"]) == pytest.approx(1 / math.log2(3))
    third = 0.00001 / 0.00003
    assert inferred_ap(pool(documents), ["b", "a"]) == pytest.approx((1 + third) / 2)


@pytest.mark.parametrize("documents", [{"a": (1, 0)}, {"a": (1, -1)}, {"a": (1, 0), "b": (2, -1)}])
def test_nothing_relevant_gives_0(documents):
    assert inferred_ndcg(pool(documents), ["a", "b"]) == 0.0
    assert inferred_ap(pool(documents), ["a", "b"]) == 0.0


def test_nothing_of_the_pool_retrieved_gives_0():
    assert inferred_ndcg(pool(POOL), ["x", "y"]) == 0.0
    assert inferred_ap(pool(POOL), ["x", "y"]) == 0.0


NAMES = [f"d{number}" for number in range(130)]
ENTRIES = st.tuples(st.sampled_from([1, 2, 3, 10]), st.sampled_from([-1, -1, -1, 0, 0, 1, 2, 3]))


@settings(max_examples=200)
@given(
    documents=st.dictionaries(st.sampled_from(NAMES), ENTRIES, min_size=1, max_size=130),
    ranking=st.lists(st.sampled_from([*NAMES, "x", "y", "z"]), unique=True, max_size=130),
    depth=st.sampled_from([100, 1, 10, 1000]),
)
def test_arrays_give_what_the_plain_form_gives(documents, ranking, depth):
    ndcg, ap = plain(documents, ranking, depth)
    assert inferred_ndcg(pool(documents), ranking, depth) == pytest.approx(ndcg, abs=1e-12)
    assert inferred_ap(pool(documents), ranking, depth) == pytest.approx(ap, abs=1e-12)


def test_other_depths_are_measures_of_their_own():
    sampled = {"1": pool(POOL)}
    run = Run("x", {"1": Ranking.of(["x", "a"], [2.0, 1.0]), "2": Ranking.of(["a"], [1.0])})
    names = ["infNDCG@1", "infNDCG@1000", "infNDCG@100", "infAP@1", "P@1"]
    result = evaluate(judged_documents(sampled), run, names, sampled=sampled)
    assert list(result.aggregate) == ["infNDCG@1", "infNDCG@1000", "infNDCG", "infAP@1", "P@1"]
    assert result.aggregate["infNDCG@1"] == result.aggregate["infAP@1"] == 0.0
    assert result.aggregate["infNDCG@1000"] == result.aggregate["infNDCG"] > 0.0


def test_means_are_over_topics_that_the_run_retrieves_for():
    sampled = {t: pool({"a": (1, 1)}) for t in ("1", "2", "3")}
    run = Run(
        "x", {"1": Ranking.of(["a"], [1.0]), "3": Ranking.of([], []), "9": Ranking.of(["a"], [1.0])}
    )
    result = evaluate(judged_documents(sampled), run, ["infNDCG", "infAP", "P@1"], sampled=sampled)
    assert result.per_topic["infNDCG"] == {"1": 1.0}
    assert result.aggregate["infNDCG"] == result.aggregate["infAP"] == 1.0
    assert result.aggregate["P@1"] == pytest.approx(1 / 3)
    assert result.missing == ("2", "3")


def test_topics_without_results_are_told_by_what_that_means_to_their_measures():
    sampled = {t: pool({"a": (1, 1)}) for t in ("both", "sampled")}
    sampled["pooled"] = pool({"a": (1, -1)})
    qrels = {"both": {"a": 1}, "ordinary": {"a": 1}, "answered": {"a": 1}}
    run = Run("x", {"answered": Ranking.of(["a"], [1.0])})
    result = evaluate(qrels, run, ["infNDCG", "P@1"], sampled=sampled)
    assert result.missing == ("both", "ordinary", "sampled")
    left_out = "left out of the mean of infNDCG, as in TREC's own program"
    assert without_results(result) == (
        f"1 topic with no results (they count as 0, but are {left_out}): both; "
        "1 topic with no results (they count as 0): ordinary; "
        f"1 topic with no results (they are {left_out}; tests between runs count them as 0): "
        "sampled"
    )


@pytest.mark.parametrize(
    ("measures", "missing"),
    [
        (["P@1"], ("both", "ordinary")),
        (["infNDCG", "infAP"], ("both", "sampled")),
        (["infAP", "own"], ("both", "ordinary", "sampled")),
    ],
)
def test_topics_that_no_reported_measure_knows_are_not_missing(measures, missing):
    sampled = {t: pool({"a": (1, 1)}) for t in ("both", "sampled")}
    qrels = {"both": {"a": 1}, "ordinary": {"a": 1}}
    extra = {"own": lambda qrels, run: dict.fromkeys(qrels, 0.0)}
    result = evaluate(qrels, Run("x", {}), measures, sampled=sampled, extra=extra)
    assert result.missing == missing


def test_topics_of_whose_pool_nothing_was_judged_are_left_out():
    sampled = {"1": pool({"a": (1, 0)}), "2": pool({"a": (1, -1)})}
    run = Run("x", {topic: Ranking.of(["a"], [1.0]) for topic in sampled})
    assert Inferred(inferred_ap).values(Scored({}, run, sampled)) == {"1": 0.0}


def test_a_run_that_retrieves_for_no_topic_gets_0():
    sampled = {"1": pool({"a": (1, 1)})}
    run = Run("x", {"2": Ranking.of(["a"], [1.0])})
    result = evaluate(judged_documents(sampled), run, ["infNDCG"], sampled=sampled)
    assert result.aggregate["infNDCG"] == 0.0


@pytest.mark.parametrize(("release", "precision"), [(10, 1.0), (9, 0.0)])
def test_scores_that_32_bits_cannot_tell_apart_are_told_apart(tmp_path, release, precision):
    # trec_eval 9 reads 32 bits, the program for sampled judgments 64
    path = tmp_path / "close.run"
    path.write_text("1 Q0 a 1 0.9999999991 x\n1 Q0 b 2 0.9999999990 x\n")
    sampled = {"1": pool({"a": (1, 1), "b": (1, 0)})}
    result = evaluate(
        judged_documents(sampled),
        read_run(path),
        ["infNDCG", "P@1"],
        sampled=sampled,
        trec_eval=release,
    )
    assert result.aggregate == {"infNDCG": 1.0, "P@1": precision}


@pytest.mark.real
@pytest.mark.parametrize("name", ["mugpubbase", "mugpubboost"])
def test_official_runs_get_the_figures_that_trec_printed(test_data, name):
    folder = test_data / "trec-pm"
    sampled = read_sampled_qrels(folder / "qrels" / "qrels-sample-abstracts.2017.txt")
    path = folder / "runs" / f"{name}.trec_results.gz"
    measures = ["infNDCG", "infAP"]
    result = evaluate(judged_documents(sampled), read_run(path), measures, sampled=sampled)
    official = (folder / "official" / f"{name}.sampleval").read_text().splitlines()
    checked = 0
    for measure, topic, value in (line.split() for line in official):
        if measure in measures:
            per_topic, mean = result.per_topic[measure], result.aggregate[measure]
            assert f"{mean if topic == 'all' else per_topic[topic]:.4f}" == value, (measure, topic)
            checked += 1
    assert checked == 2 * 31
