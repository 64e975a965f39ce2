"""Mean and deviation of features, where there are enough documents to tell them."""

import pytest
import torch

from irplatform.training.linear import learn_standardization


def test_features_become_comparable():
    features = torch.tensor([[1.0, 10.0], [3.0, 30.0], [5.0, 80.0]])
    mean, scale = torch.zeros(2), torch.ones(2)
    learn_standardization(features, mean, scale)
    standard = (features - mean) / scale
    assert standard.mean(dim=0).tolist() == pytest.approx([0, 0], abs=1e-6)
    assert standard.std(dim=0).tolist() == pytest.approx([1, 1])


@pytest.mark.parametrize("value", [0.0, 7.0, 2017.3, 1e6])
def test_a_feature_that_never_varied_says_nothing_of_a_document_that_differs(value):
    mean, scale = torch.zeros(1), torch.ones(1)
    learn_standardization(torch.full((1000, 1), value), mean, scale)
    documents = torch.tensor([value, value + 1, 0.0])
    assert ((documents - mean) / scale).tolist() == [0, 0, 0]


@pytest.mark.parametrize("documents", [0, 1])
def test_too_few_documents_change_nothing(documents):
    mean, scale = torch.zeros(2), torch.ones(2)
    learn_standardization(torch.full((documents, 2), 7.0), mean, scale)
    assert mean.tolist() == [0, 0]
    assert scale.tolist() == [1, 1]


def test_only_the_part_that_is_given_is_written_to():
    mean, scale = torch.zeros(3), torch.ones(3)
    learn_standardization(torch.tensor([[1.0], [3.0]]), mean[:1], scale[:1])
    assert mean.tolist() == [2, 0, 0]
    assert scale[1:].tolist() == [1, 1]
