"""Linear layers that numpy multiplies: torch's numbers, the same with any number of threads."""

import numpy as np
import pytest
import torch
from torch import nn

from irplatform.system.arithmetic import SETTINGS
from irplatform_encoders.on_cpu import in_float32, multiply_by_numpy


@pytest.fixture
def arithmetic(monkeypatch):
    def arithmetic(portable):
        for name, value in SETTINGS.items():
            monkeypatch.setenv(name, value if portable else "")

    return arithmetic


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("width", "out", "bias"), [(64, 384, True), (50, 500, True), (7, 3, False)]
)
def test_they_are_torchs_linear_layers(arithmetic, threads, width, out, bias):
    arithmetic(portable=True)
    layer = nn.Linear(width, out, bias=bias)
    values = torch.randn(2, 11, width)
    expected = layer(values).detach()
    multiply_by_numpy(nn.Sequential(layer), "cpu")
    products = layer(values)
    assert products.shape == (2, 11, out)
    assert torch.allclose(products, expected, atol=1e-5)
    for number in (1, 2, 3):
        threads(number)
        assert torch.equal(layer(values), products)


def test_texts_apart_are_multiplied_as_if_they_were_alone(arithmetic):
    arithmetic(portable=True)
    layer = nn.Linear(96, 200)
    values = torch.randn(9, 17, 96)
    multiply_by_numpy(layer, "cpu", apart=True)
    assert torch.equal(layer(values), torch.stack([layer(text) for text in values]))


@pytest.mark.parametrize(("width", "out", "bias"), [(40, 300, True), (7, 3, False)])
def test_gradients_are_torchs(arithmetic, threads, width, out, bias):
    arithmetic(portable=True)
    values = torch.randn(2, 11, width, requires_grad=True)
    network = nn.Sequential(nn.Linear(width, out, bias=bias), nn.Tanh(), nn.Linear(out, 2))

    def gradients():
        learned = [values, *network.parameters()]
        return torch.autograd.grad(network(values).square().sum(), learned)

    expected = gradients()
    multiply_by_numpy(network, "cpu")
    for number in (1, 3):
        threads(number)
        for gradient, reference in zip(gradients(), expected, strict=True):
            assert torch.allclose(gradient, reference, rtol=1e-4, atol=1e-5)


def test_they_take_nothing(arithmetic):
    """As torch's do: a text of no tokens, or a part of the network that none is given to."""
    arithmetic(portable=True)
    layer = nn.Linear(5, 4)
    multiply_by_numpy(layer, "cpu")
    for shape in ((0,), (2, 0)):
        output = layer(torch.zeros(*shape, 5))
        assert output.shape == (*shape, 4)
        output.sum().backward()
    assert not layer.weight.grad.any()


def test_a_part_of_another_type_is_left_to_torch(arithmetic):
    arithmetic(portable=True)
    layer = nn.Linear(5, 4).double()
    values = torch.randn(3, 5, dtype=torch.float64)
    expected = layer(values)
    multiply_by_numpy(layer, "cpu")
    assert torch.equal(layer(values), expected)


def test_they_are_products_of_numpys_library(arithmetic):
    arithmetic(portable=True)
    layer = nn.Linear(30, 100, bias=False)
    values = torch.randn(5, 30)
    multiply_by_numpy(layer, "cpu")
    product = np.empty((5, 100), np.float32)
    np.matmul(values.numpy(), layer.weight.detach().numpy().T, out=product)
    assert np.array_equal(layer(values).detach().numpy(), product)


@pytest.mark.parametrize(("device", "portable"), [("cuda", True), ("cpu", False)])
def test_elsewhere_and_in_native_arithmetic_nothing_is_changed(arithmetic, device, portable):
    arithmetic(portable=portable)
    layer = nn.Linear(3, 4)
    multiply_by_numpy(layer, device)
    assert "forward" not in vars(layer)
    assert not in_float32(device)
