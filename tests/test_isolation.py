"""Nothing of the user's reaches a test, and nothing of the tests before it."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from irplatform.files.writing import home

DRAWN = set()


@pytest.mark.parametrize("time", ["one", "another"])
def test_numbers_drawn_at_random_are_the_same_each_time(time):
    DRAWN.add((random.random(), np.random.random(), torch.rand(1).item()))
    assert len(DRAWN) == 1


def test_the_cache_is_empty_at_first_and_the_files_own(cache_of_module, tmp_path_factory):
    assert home() == cache_of_module
    assert list(cache_of_module.iterdir()) == []
    assert tmp_path_factory.getbasetemp() in cache_of_module.parents


def test_only_the_tests_own_variables_are_set():
    variables = {name for name in os.environ if name.startswith("IRPLATFORM_")}
    assert variables <= {"IRPLATFORM_HOME", "IRPLATFORM_JAVA_CLASSES", "IRPLATFORM_TEST_DATA"}
    assert Path(os.environ["IR_DATASETS_HOME"]).name.startswith("irplatform-tests-")
