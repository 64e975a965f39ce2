import sys

import pytest

from irplatform.concepts.distributed import ray_map
from irplatform.errors import InputError


def test_a_local_ray_gives_the_results_in_order():
    pytest.importorskip("ray", reason="Ray is not installed (`pip install 'irplatform[ray]'`)")
    assert list(ray_map(abs, range(-20, 20))) == [*map(abs, range(-20, 20))]


def test_without_ray_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'irplatform\[ray\]'"):
        list(ray_map(abs, [1]))
