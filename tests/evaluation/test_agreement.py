"""Rank correlation between sources of judgments, with its interval."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from irplatform.errors import InputError
from irplatform.evaluation.agreement import of_systems
from irplatform.evaluation.agreement.of_systems import Source, agreement
from irplatform.evaluation.agreement.rank_correlation import permutation_p
from irplatform.reports.agreement import as_json


def source(name, per_topic, collection=None):
    means = {system: float(np.mean(list(v.values()))) for system, v in per_topic.items()}
    return Source(name, collection or name, "AP", means, per_topic)


def constant(name, scores, topics=5):
    """Systems that score the same on every topic, so that topics leave no doubt."""
    return source(name, {s: {f"{name}{t}": v for t in range(topics)} for s, v in scores.items()})


def noisy(name, qualities, topics=20, noise=0.3, seed=0, collection=None):
    random = np.random.default_rng(seed)
    values = {
        system: {str(topic): quality + noise * random.standard_normal() for topic in range(topics)}
        for system, quality in qualities.items()
    }
    return source(name, values, collection)


ORDER = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}


def test_equal_orders_agree_fully_and_certainly():
    (correlation,) = agreement(
        [constant("x", ORDER), constant("y", {s: v**2 for s, v in ORDER.items()})]
    ).correlations
    assert (correlation.tau, correlation.low, correlation.high) == (1.0, 1.0, 1.0)


def test_reversed_orders_disagree_fully():
    (correlation,) = agreement(
        [constant("x", ORDER), constant("y", {s: -v for s, v in ORDER.items()})]
    ).correlations
    assert (correlation.tau, correlation.low, correlation.high) == (-1.0, -1.0, -1.0)


def test_sources_of_a_collection_share_draws_where_a_measure_leaves_a_topic_out():
    """infNDCG has no value where nothing of a pool was judged."""
    original = noisy("whole", ORDER, collection="c")
    part = source(
        "part",
        {s: dict(list(v.items())[1:]) for s, v in original.per_topic.items()},
        collection="c",
    )
    means = []
    for variant in (original, part):
        topics = of_systems._topics("c", [original, part])
        means.append(of_systems.drawn_means(variant, list(ORDER), topics, 500, 1))
    assert np.corrcoef(means[0][:, 0], means[1][:, 0])[0, 1] > 0.9


def test_how_many_draws_are_held_at_once_changes_nothing(monkeypatch):
    qualities = {f"s{n}": n / 20 for n in range(15)}
    sources = [noisy(name, qualities, noise=1, seed=seed) for seed, name in enumerate("xy")]
    at_once = agreement(sources, samples=1000)
    monkeypatch.setattr(of_systems, "_BLOCK", 20 * 300)
    assert agreement(sources, samples=1000) == at_once


def test_tau_is_scipys_and_p_that_of_all_orders():
    one, other = constant("x", ORDER), constant("y", {"a": 0.2, "b": 0.1, "c": 0.2, "d": 0.4})
    (correlation,) = agreement([one, other]).correlations
    scores = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.1, 0.2, 0.4])
    assert correlation.tau == pytest.approx(kendalltau(*scores).statistic)
    assert correlation.p_value == permutation_p(*scores)


def test_more_topics_make_a_narrower_interval():
    def width(topics):
        close = {name: quality / 2 for name, quality in ORDER.items()}
        sources = [noisy("x", close, topics, seed=1), noisy("y", close, topics, seed=2)]
        (correlation,) = agreement(sources, samples=2000).correlations
        return correlation.high - correlation.low

    assert width(1000) < width(15)


def test_the_same_seed_gives_the_same_interval_and_another_about_the_same():
    sources = [noisy("x", ORDER, seed=1), noisy("y", ORDER, seed=2)]
    assert agreement(sources, seed=5) == agreement(sources, seed=5)
    (one,), (other,) = (agreement(sources, seed=s).correlations for s in (5, 6))
    assert one.low == pytest.approx(other.low, abs=0.34)


def test_means_that_differ_by_how_their_sum_was_rounded_tie():
    """As those of P@10 do: 0.1 + 0.2 + 0.3 is another float than 0.3 + 0.2 + 0.1."""
    values = {"a": (0.1, 0.2, 0.3), "b": (0.3, 0.2, 0.1), "c": (0.1, 0.0, 0.0)}
    per_topic = {name: dict(zip("xyz", scores, strict=True)) for name, scores in values.items()}
    means = {name: (scores[0] + scores[1] + scores[2]) / 3 for name, scores in values.items()}
    assert means["a"] > means["b"]
    twins = Source("x", "x", "P@10", means, per_topic)
    other = constant("y", {"a": 0.1, "b": 0.2, "c": 0.0})
    agreed = agreement([twins, other], samples=100)
    (correlation,) = agreed.correlations
    assert correlation.tau == pytest.approx(kendalltau([2, 2, 1], [2, 3, 1]).statistic)
    assert correlation.p_value == permutation_p(np.array([2.0, 2, 1]), np.array([2.0, 3, 1]))
    assert as_json(agreed)["sources"][0]["ranks"] == {"a": 1, "b": 1, "c": 3}


def test_systems_that_are_equal_tie_in_every_draw():
    scores = noisy("x", {"a": 0.5, "b": 0.1}, seed=1).per_topic
    twins = source("x", {"a": scores["a"], "twin": scores["a"], "b": scores["b"]})
    other = constant("y", {"a": 0.3, "twin": 0.2, "b": 0.1})
    (correlation,) = agreement([twins, other]).correlations
    assert correlation.tau == pytest.approx(kendalltau([1, 1, 0], [3, 2, 1]).statistic)
    assert correlation.high == pytest.approx(correlation.tau)


def test_measures_of_one_collection_share_their_draws():
    # Scored on the same draw of topics, a measure agrees with itself whatever is drawn
    one = noisy("one", ORDER, noise=2.0, collection="c")
    other = noisy("other", ORDER, noise=2.0, collection="c")
    (correlation,) = agreement([one, other]).correlations
    assert (correlation.tau, correlation.low, correlation.high) == (1.0, 1.0, 1.0)


def test_topics_without_a_value_are_left_out_of_the_mean():
    full = constant("y", {"a": 0.3, "b": 0.2, "c": 0.1})
    holes = source("x", {"a": {"1": 0.9}, "b": {"1": 0.2, "2": 0.6}, "c": {"1": 0.1, "2": 0.1}})
    (correlation,) = agreement([holes, full]).correlations
    assert correlation.tau == 1.0


def test_a_source_without_differences_has_no_correlation():
    (correlation,) = agreement(
        [constant("x", ORDER), constant("y", dict.fromkeys(ORDER, 0.5))]
    ).correlations
    assert (correlation.tau, correlation.low, correlation.high, correlation.p_value) == (
        None,
        None,
        None,
        None,
    )


def test_only_common_systems_count_and_every_pair_is_compared():
    three = [
        constant("x", ORDER),
        constant("y", {**ORDER, "other": 9.0}),
        constant("z", {"c": 0.1, "b": 0.2, "a": 0.3}),
    ]
    agreed = agreement(three)
    assert list(agreed.systems) == ["a", "b", "c"]
    taus = {(c.first, c.second): c.tau for c in agreed.correlations}
    assert taus == {("x", "y"): 1.0, ("x", "z"): -1.0, ("y", "z"): -1.0}


def test_too_few_systems_or_sources_are_refused():
    with pytest.raises(InputError, match=r"at least 3 systems.*there are 2.*x: a, b; y: b, a, c"):
        agreement([constant("x", {"a": 1, "b": 2}), constant("y", {"b": 1, "a": 2, "c": 3})])
    with pytest.raises(InputError, match="at least two sources"):
        agreement([constant("x", ORDER)])
