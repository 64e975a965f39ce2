import subprocess
import sys

import pytest

import irplatform.text


def test_the_package_loads_nothing_heavy():
    program = "import sys, irplatform.text; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "scipy", "gensim", "torch", "pandas", "pydantic"} & set(loaded)


@pytest.mark.parametrize("name", irplatform.text.__all__)
def test_every_public_name_is_there(name):
    assert getattr(irplatform.text, name) is not None


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'tokenise'"):
        irplatform.text.tokenise  # noqa: B018
