"""The options that a checkpoint's reranker is used with."""

import pytest
from pydantic import Field
from small import registration

from irplatform.errors import InputError
from irplatform.plugin import Options, TrainableReranker
from irplatform.registry import registry
from irplatform.reranking.systems import RerankerChoice


class ConstantOptions(Options):
    size: int = Field(1, description="size")
    form: str = Field("usual", description="form")


class Constant(TrainableReranker):
    """Learns nothing."""

    Options = ConstantOptions


def _choice(**settings):
    held = registration(Constant, "constant")
    return RerankerChoice(held, held.options(settings))


def test_options_are_those_of_training_unless_the_user_chose_others():
    recorded = _choice(size=9, form="usual").options.model_dump(mode="json")
    assert _choice().as_trained(recorded).options == ConstantOptions(size=9)
    assert _choice(form="plain").as_trained(recorded).options == ConstantOptions(
        size=9, form="plain"
    )


def test_what_queries_are_expanded_with_is_no_choice_of_the_user():
    """Features go on reading what the model was trained with."""
    held = registry().reranker("ltr")

    def choice(bases, **settings):
        return RerankerChoice(held, held.options(settings)).expanding(bases)

    trained = choice(("mesh", "hgnc"), settings={"fields": {"k1": 2}})
    recorded = trained.options.model_dump(mode="json")
    assert recorded["settings"]["genes"] == {"knowledge": ["mesh", "hgnc"]}
    assert choice(("mesh",)).as_trained(recorded).options == trained.options
    assert choice(()).as_trained(recorded).options == trained.options
    again = choice(("mesh",), features=["concepts", "fields"]).as_trained(recorded)
    assert again.options.settings == trained.options.settings
    assert again.expanding(("doid",)) == again


def test_options_of_another_version_are_refused():
    with pytest.raises(InputError, match="'colour' is no option of reranker 'constant'"):
        _choice().as_trained({"colour": "red"})
