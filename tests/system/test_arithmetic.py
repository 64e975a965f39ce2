"""Portable arithmetic: told to the libraries in time, inherited, part of fingerprints, the same."""

import ast
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from irplatform.errors import InputError
from irplatform.files.cache import artifact, is_built
from irplatform.run_folder.environment import describe_platform
from irplatform.system import arithmetic
from irplatform.system.arithmetic import (
    SETTINGS,
    VARIABLE,
    check_arithmetic,
    exact_roots,
    portable,
    square_root,
)

pytestmark = pytest.mark.skipif(
    not arithmetic.has_avx2(), reason="portable arithmetic is for x86-64 processors with AVX2"
)


def _python(code, **variables):
    """What a new process prints, with nothing said of arithmetic but these variables."""
    mine = {k: v for k, v in os.environ.items() if k not in {*SETTINGS, VARIABLE}}
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**mine, **variables},
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.split()


@pytest.fixture
def portable_environment(monkeypatch):
    """As in a process that has told its libraries, whatever imported numpy before this one did."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


TOLD = "from irplatform.system.arithmetic import portable; print(portable())"


def test_libraries_use_what_all_processors_have():
    words = _python(
        f"{TOLD}\nimport torch; print(torch.backends.cpu.get_cpu_capability())\n"
        "import numpy; from numpy.core._multiarray_umath import __cpu_features__ as features\n"
        "print([name for name in features if features[name] and name == 'AVX512_SKX'])\n"
        "import threadpoolctl\n"
        "print({(p.get('architecture'), p['num_threads']) for p in threadpoolctl.threadpool_info()"
        " if p['internal_api'] == 'openblas'})"
    )
    assert words == ["True", "AVX2", "[]", "{('Haswell',", "1)}"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({VARIABLE: "native"}, "False"),
        ({VARIABLE: "portable"}, "True"),
        ({VARIABLE: ""}, "True"),
        ({"MKL_CBWR": "AUTO"}, "False"),  # whoever sets a library's own variable means it
        ({"MKL_CBWR": "AUTO", VARIABLE: "portable"}, "True"),
        ({**SETTINGS, VARIABLE: "native"}, "False"),  # told to a process that started this one
    ],
)
def test_the_user_chooses(variables, expected):
    assert _python(TOLD, **variables) == [expected]


def test_what_comes_too_late_is_not_called_portable():
    assert _python(f"import numpy; {TOLD}") == ["False"]


def test_processes_that_are_started_inherit_it():
    child = "import numpy, subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    code = (
        f"import irplatform, subprocess, sys\nsys.argv = ['', {f'import numpy; {TOLD}'!r}]\n{child}"
    )
    assert _python(code) == ["True"]


def test_tests_import_us_before_numpy():
    tree = ast.parse((Path(__file__).parents[1] / "conftest.py").read_text(encoding="utf-8"))
    first = next(node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    assert [alias.name for alias in first.names] == ["irplatform"]


def test_a_value_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv(VARIABLE, "portabel")
    with pytest.raises(InputError, match=r"IRPLATFORM_ARITHMETIC is 'portabel'\. Set it to port"):
        check_arithmetic()


@pytest.mark.parametrize(
    ("has_avx2", "reason"),
    [
        (True, "numpy or torch was imported before"),
        (False, "not an x86-64 processor"),
    ],
)
def test_what_is_asked_for_and_cannot_be_is_an_error(monkeypatch, has_avx2, reason):
    monkeypatch.setattr(arithmetic, "has_avx2", lambda: has_avx2)
    monkeypatch.setenv(VARIABLE, "portable")
    monkeypatch.setenv("MKL_CBWR", "AUTO")
    with pytest.raises(InputError, match=reason):
        check_arithmetic()


@pytest.mark.parametrize("flags", [None, "", "flags\t: fpu sse2 avx\n", "flags\t: avx2\n"])
def test_a_processor_that_does_not_say_that_it_can_computes_as_it_does(
    monkeypatch, tmp_path, flags
):
    described = tmp_path / "cpuinfo"
    if flags is not None:
        described.write_text(flags, encoding="utf-8")
    monkeypatch.setattr(arithmetic, "_PROCESSOR", described)
    assert not arithmetic.has_avx2()


def test_the_command_refuses_a_wrong_value_before_anything_else():
    process = subprocess.run(
        [sys.executable, "-m", "irplatform", "cache", "list"],
        capture_output=True,
        text=True,
        env={**os.environ, VARIABLE: "fast"},
        check=False,
    )
    assert process.returncode == 2
    assert process.stderr == (
        "platform: IRPLATFORM_ARITHMETIC is 'fast'. Set it to portable or native.\n"
    )


@pytest.mark.usefixtures("portable_environment")
def test_numbers_of_either_arithmetic_are_kept_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path))
    for kind in ("checkpoint", "index"):
        artifact(kind, "small", {"seed": 1}, lambda folder: (folder / "held").touch())
    manifest = json.loads(next(tmp_path.glob("checkpoint/*/manifest.json")).read_text())
    assert manifest["depends_on"] == {"seed": 1, "arithmetic": "portable"}
    monkeypatch.setenv("MKL_CBWR", "AUTO")
    assert not is_built("checkpoint", "small", {"seed": 1})
    assert is_built("index", "small", {"seed": 1})  # nothing in it is rounded


@pytest.mark.usefixtures("portable_environment")
def test_metadata_say_it(monkeypatch):
    assert describe_platform()["software"]["arithmetic"] == "portable"
    monkeypatch.setenv("MKL_CBWR", "AUTO")
    assert "arithmetic" not in describe_platform()["software"]


def test_square_roots_are_rounded_correctly():
    values = torch.rand(20_001, generator=torch.Generator().manual_seed(1))
    expected = np.sqrt(values.numpy())
    assert np.array_equal(square_root(values).numpy(), expected)
    with exact_roots():
        assert np.array_equal(values.sqrt().numpy(), expected)
        assert np.array_equal(torch.sqrt(values).numpy(), expected)
        assert np.array_equal(values.clone().sqrt_().numpy(), expected)


def _trained(name, *, exact):
    torch.manual_seed(0)
    layer, batch = torch.nn.Linear(30, 20), torch.randn(16, 30)
    optimizer = getattr(torch.optim, name)(layer.parameters(), lr=0.01)
    for _ in range(20):
        optimizer.zero_grad()
        (layer(batch) ** 2).mean().backward()
        if exact:
            with exact_roots():
                optimizer.step()
        else:
            optimizer.step()
    return layer.weight.detach().numpy()


@pytest.mark.parametrize("name", ["Adagrad", "Adam", "AdamW", "Adadelta"])
def test_optimizers_step_as_torchs_own_but_for_the_last_digits(name):
    weights, torchs = _trained(name, exact=True), _trained(name, exact=False)
    assert np.abs(weights - torchs).max() < 1e-6


def test_sparse_gradients_are_taken():
    torch.manual_seed(0)
    words = torch.nn.Embedding(5, 3, sparse=True)
    optimizer = torch.optim.Adagrad(words.parameters(), lr=0.1)
    first = words.weight.detach().clone()
    words(torch.tensor([2])).sum().backward()
    with exact_roots():
        optimizer.step()
    assert torch.allclose((first - words.weight)[2], torch.full((3,), 0.1))


def test_nothing_that_trains_takes_torchs_own_square_root():
    """On the CPU its last digit depends on the maker of the processor."""
    root = Path(__file__).parents[2]
    calls = [
        f"{path.relative_to(root)}:{node.lineno}"
        for folder in ("platform", "plugins")
        for path in sorted((root / folder).rglob("*.py"))
        if path.name != "arithmetic.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("sqrt", "sqrt_", "rsqrt", "rsqrt_")
        and ast.unparse(node.func.value) not in ("np", "math")
    ]
    assert calls == []


class _Small(torch.nn.Module):
    """What our networks are made of."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(500, 48)
        self.reader = torch.nn.LSTM(48, 32, bidirectional=True, batch_first=True)
        self.maps = torch.nn.Conv1d(64, 16, 3)
        self.norm = torch.nn.LayerNorm(16)
        self.out = torch.nn.Linear(16, 1)

    def forward(self, ids):
        read = self.reader(self.words(ids))[0]
        features = torch.tanh(self.maps(read.transpose(1, 2))).amax(2)
        return self.out(torch.nn.functional.dropout(self.norm(features), 0.2))[:, 0]


@pytest.mark.slow
@pytest.mark.skipif(not portable(), reason="numpy was imported before irplatform")
def test_a_training_has_the_digits_of_other_processors():
    """Recorded on an AMD EPYC; the same on emulated Haswell, Skylake and EPYC-Rome."""
    torch.manual_seed(1)
    network = _Small()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(20):
        scores = network(torch.randint(0, 500, (32, 20))).view(8, 4)
        loss = torch.nn.functional.cross_entropy(scores, torch.zeros(8, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        with exact_roots():
            optimizer.step()
    digest = hashlib.sha256(network.out.weight.detach().numpy().tobytes()).hexdigest()
    assert digest[:16] == "dc9542f312fe52e5"
