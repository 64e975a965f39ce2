"""The name of the test beside p-values."""

import irplatform as ir
from irplatform.reports.comparison_tables import method_in_words

QRELS = {topic: {"b": 1} for topic in "1234"}
WORSE = {topic: {"a": 2.0, "b": 1.0} for topic in "1234"}
BETTER = {topic: {"b": 2.0, "a": 1.0} for topic in "1234"}


def named(better, test="t-test"):
    runs = {"worse": WORSE, "better": better}
    return method_in_words(ir.compare(runs, qrels=QRELS, measures="RR", test=test))


def test_a_p_value_without_variance_is_that_of_sign_flips_and_says_so():
    alike = " (of all sign flips where every topic has the same difference)"
    assert named(BETTER) == f"paired t-test{alike}"
    assert named(BETTER, "bootstrap") == f"bootstrap test{alike}"
    assert named(BETTER, "randomization") == "randomization test"
    assert named({**BETTER, "4": WORSE["4"]}) == "paired t-test"
    assert named(WORSE) == "paired t-test"
