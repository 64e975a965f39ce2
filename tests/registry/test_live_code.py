"""Digests of a notebook's code: anything that may change a result changes them."""

import threading
from textwrap import dedent

import pytest

from irplatform.files.code_digests import distribution_of
from irplatform.registry.live_code import code_digest, function_digest, live_digest, new_call
from irplatform.registry.loading import registry
from irplatform.registry.session import register

CODE = """
    import math
    import threading
    import numpy as np
    from irplatform import Reranker, Options

    WEIGHTS = {"a": 1.0}
    table = np.arange(3)
    unrelated = 1

    def helper(text):
        return len(text) * WEIGHTS["a"]

    class Ranker(Reranker):
        '''A ranker.'''
        FACTOR = 2

        class Options(Options):
            size: int = 1

        def score(self, topic, documents):
            # a comment
            return [helper(d.text) * self.FACTOR + table[0] + math.pi for d in documents]
"""


def _digest(code=CODE, name="Ranker"):
    cell = {"__name__": "__main__"}
    exec(dedent(code), cell)
    return live_digest(cell[name])


def test_the_same_code_has_the_same_digest():
    assert _digest() == _digest()
    assert _digest()[1] == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("math.pi", "math.e"),
        ("FACTOR = 2", "FACTOR = 3"),
        ('WEIGHTS = {"a": 1.0}', 'WEIGHTS = {"a": 1.5}'),
        ("np.arange(3)", "np.arange(4)"),
        ("return len(text) *", "return len(text) -"),
        ("table[0]", "table[1]"),
    ],
)
def test_what_changes_a_result_changes_the_digest(old, new):
    assert old in CODE
    assert _digest(CODE.replace(old, new)) != _digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("unrelated = 1", "unrelated = 2"),
        ("# a comment", "# another"),
        ("'''A ranker.'''", "'''A better ranker.'''"),
    ],
)
def test_nothing_else_does(old, new):
    assert _digest(CODE.replace(old, new)) == _digest()


def test_what_an_object_holds_counts():
    assert live_digest({"a": [1, (2, None)]}) == live_digest({"a": [1, (2, None)]})
    assert live_digest({"a": [1]}) != live_digest({"a": [2]})
    assert live_digest({1, 2}) == live_digest({2, 1})
    looped = []
    looped.append(looped)
    assert live_digest(looped) == live_digest(looped)


def test_files_count_by_their_content(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("one")
    before = live_digest(file)
    file.write_text("two")
    assert live_digest(file) != before


def test_what_cannot_be_read_is_named_and_never_the_same_in_another_call():
    attributes = {"model": threading.Lock()}
    digest, unread = live_digest(attributes, name="Ranker")
    assert unread == "Ranker.model (lock)"
    assert live_digest(attributes, name="Ranker")[0] == digest
    new_call()
    assert live_digest(attributes, name="Ranker")[0] != digest


def test_code_of_packages_counts_by_their_version():
    assert distribution_of("math") == "python"
    assert distribution_of("irplatform.data") == "irplatform"
    assert distribution_of("numpy.linalg").startswith("numpy ")
    assert distribution_of("__main__") is None


def test_functions_of_artifacts_count_by_their_code():
    def function(factor):
        cell = {"__name__": "notebook_of_nobody"}
        exec(f"lock = None\ndef build(folder):\n    return {factor} * 2", cell)
        return cell["build"]

    assert code_digest(function(1)) == code_digest(function(1)) != code_digest(function(2))
    assert function_digest(function(1)) != function_digest(function(2))


def test_a_system_of_the_session_is_read_once_in_a_call():
    cell = {"__name__": "__main__"}
    exec(dedent(CODE), cell)
    with register("ranker", cell["Ranker"]):
        registration = registry().reranker("ranker")
        before = registration.code_facts
        cell["WEIGHTS"] = {"a": 3.0}
        assert registration.code_facts == before
        new_call()
        assert registration.code_facts != before
