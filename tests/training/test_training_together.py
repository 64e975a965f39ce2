"""Training in several processes: what one process learns from batches as much larger."""

import numpy as np
import pytest
from together import Batch, Job, jobs, train

from irplatform.errors import InputError
from irplatform.system.workers import all_at_once
from irplatform.training.distributed import (
    PROCESSES_VARIABLE,
    Alone,
    Place,
    Together,
    peers_of,
    training_processes,
)

STATE = ["best.safetensors", "state.safetensors"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """What two processes find, with batches of 5: eight batches, of which the last holds 2."""
    folder = tmp_path_factory.mktemp("pair")
    return all_at_once(train, jobs(Job(folder / "work", 5), folder / "meeting"))


def test_two_processes_learn_what_one_does_from_doubled_batches(pair, tmp_path):
    reported, best, weights, _ = pair[0]
    alone, best_alone, weights_alone, _ = train(Job(tmp_path, 10))
    np.testing.assert_allclose(reported, alone, atol=1e-6)
    assert best == pytest.approx(best_alone, abs=1e-6)
    for one, other in zip(weights, weights_alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    single = train(Job(tmp_path / "single", 5))[2]
    assert max(abs(a - b).max() for a, b in zip(weights, single, strict=True)) > 1e-3


def test_all_end_with_the_same_weights_and_the_first_one_writes(pair):
    first, second = pair
    assert first[:2] == second[:2]
    for one, other in zip(first[2], second[2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert (first[3], second[3]) == (STATE, [])


@pytest.mark.slow
def test_an_interrupted_training_resumes_to_the_same_bytes(pair, tmp_path):
    job = Job(tmp_path / "work", 5)
    with pytest.raises(ValueError, match="interrupted"):
        failing = Job(job.workspace, 5, fails_in=2)
        all_at_once(train, jobs(failing, tmp_path / "first"))
    resumed = all_at_once(train, jobs(job, tmp_path / "second"))
    assert [epoch for epoch, *_ in resumed[1][0]] == [3]
    for one, other in zip(resumed[1][2], pair[0][2], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("batches", "shares"),
    [
        ([[0] * 3, [1]], (1.5, 0.5)),
        ([([0] * 3, "x"), ([1], "yz")], (1.5, 0.5)),
        ([Batch(None, np.array([0.25, 0.25])), Batch(None, np.array([1.5]))], (0.5, 1.5)),
        ([7, 9], (1.0, 1.0)),
    ],
)
def test_a_batch_counts_by_its_weights_or_its_examples(tmp_path, batches, shares):
    for rank in (0, 1):
        place = Place(rank, 2, tmp_path, tmp_path, tmp_path)
        assert list(Together(place, "cpu").batches(batches)) == [(batches[rank], shares[rank])]


def test_batches_left_over_count_and_those_without_take_part(tmp_path):
    batches = [[0] * 4, [1] * 4, [2] * 2]
    shared = [
        list(Together(Place(rank, 2, tmp_path, tmp_path, tmp_path), "cpu").batches(batches))
        for rank in (0, 1)
    ]
    assert shared[0] == [(batches[0], 1.0), (batches[2], 2.0)]
    assert shared[1] == [(batches[1], 1.0), (batches[2], 0.0)]


def test_one_process_trains_as_if_there_were_no_others(tmp_path):
    peers = peers_of(tmp_path)
    assert type(peers) is Alone
    assert list(peers.batches("ab")) == [("a", 1.0), ("b", 1.0)]
    assert peers.folder(tmp_path) == tmp_path


@pytest.mark.parametrize(
    ("given", "device", "message"),
    [
        ("two", "cpu", "is 'two'; it must be a number from 1"),
        ("0", "cpu", "is '0'"),
        ("2", "mps", "2, and every process needs its own GPU, but 'mps' has 1"),
        ("99", "cuda", "every process needs its own GPU"),
    ],
)
def test_what_cannot_be_is_refused(monkeypatch, given, device, message):
    monkeypatch.setenv(PROCESSES_VARIABLE, given)
    with pytest.raises(InputError, match=message):
        training_processes(device)


def test_the_number_of_processes_is_one_unless_it_is_said(monkeypatch):
    monkeypatch.delenv(PROCESSES_VARIABLE, raising=False)
    assert training_processes("cpu") == 1
    monkeypatch.setattr("irplatform.training.distributed.available_cores", lambda: 4)
    monkeypatch.setenv(PROCESSES_VARIABLE, "3")
    assert training_processes("cpu") == 3


def test_there_are_no_more_processes_than_cores(monkeypatch, capsys):
    monkeypatch.setattr("irplatform.training.distributed.available_cores", lambda: 4)
    monkeypatch.setenv(PROCESSES_VARIABLE, "1000000")
    for _ in range(2):
        assert training_processes("cpu") == 4
    told = f"{PROCESSES_VARIABLE} is 1000000, more than the cores here: 4 are used\n"
    assert capsys.readouterr().err == told
