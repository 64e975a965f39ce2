"""The options that a checkpoint's reranker is used with."""

from typing import ClassVar

import pytest
from pydantic import Field
from small import registration

from irplatform.errors import InputError
from irplatform.experiment.systems import choose_systems
from irplatform.plugin import Options, TrainableReranker
from irplatform.registry.loading import registry
from irplatform.registry.lookup import Registry


class Parts(Options):
    epochs: int = Field(3, description="epochs")
    patience: int = Field(2, description="patience")


class ConstantOptions(Options):
    size: int = Field(1, description="size")
    form: str = Field("usual", description="form")
    loop: Parts = Field(Parts(), description="loop")
    more: Parts | None = Field(None, description="more")


class Constant(TrainableReranker):
    """Learns nothing."""

    Options = ConstantOptions
    presets: ClassVar = {"paper": {"size": 7}}


@pytest.fixture
def plugins():
    small_registry = Registry()
    small_registry.rerankers = {
        "constant": registration(Constant, "constant"),
        "variant": registration(Constant, "variant", size=4),
    }
    return small_registry


@pytest.fixture
def choice(plugins):
    """The reranker with some settings, as a run chooses it."""

    def options_of(name="constant", recorded=None, **settings):
        of_checkpoint = {} if recorded is None else {name: recorded}
        _, (reranker,) = choose_systems(plugins, [], [name], settings, recorded=of_checkpoint)
        return reranker.options

    return options_of


def test_options_are_those_of_training_unless_the_user_chose_others(choice):
    recorded = choice(size=9, form="usual").model_dump(mode="json")
    assert choice(recorded=recorded) == ConstantOptions(size=9)
    assert choice(recorded=recorded, form="plain") == ConstantOptions(size=9, form="plain")


def test_an_option_that_is_set_to_its_default_is_set(choice):
    recorded = ConstantOptions(size=9, form="plain").model_dump(mode="json")
    for settings in ({"form": "usual"}, {"constant.form": "usual"}):
        assert choice(recorded=recorded, **settings) == ConstantOptions(size=9)
    variant = choice("variant", recorded, size=4)
    assert variant == ConstantOptions(size=4, form="plain")


def test_of_an_option_with_parts_only_those_that_are_set_override(choice):
    recorded = ConstantOptions(loop=Parts(epochs=9, patience=8)).model_dump(mode="json")
    again = choice(recorded=recorded, **{"loop.epochs": 3, "more.epochs": 1})
    assert again.loop == Parts(epochs=3, patience=8)
    assert again.more == Parts(epochs=1)  # there was none
    assert choice(recorded=recorded, loop={"epochs": 4}).loop == Parts(epochs=4)


def test_a_preset_is_not_what_the_user_set(plugins):
    _, (reranker,) = choose_systems(plugins, [], ["constant"], {"form": "plain"}, "paper")
    assert (reranker.options.size, reranker.options.form) == (7, "plain")


def test_what_queries_are_expanded_with_is_no_choice_of_the_user():
    """Features go on reading what the model was trained with."""

    def choice(bases, recorded=None, **settings):
        of_checkpoint = {} if recorded is None else {"ltr": recorded}
        _, (reranker,) = choose_systems(registry(), [], ["ltr"], settings, recorded=of_checkpoint)
        return reranker.expanding(bases)

    trained = choice(("mesh", "hgnc"), settings={"fields": {"k1": 2}})
    recorded = trained.options.model_dump(mode="json")
    assert recorded["settings"]["genes"] == {"knowledge": ["mesh", "hgnc"]}
    assert choice(("mesh",), recorded).options == trained.options
    assert choice((), recorded).options == trained.options
    again = choice(("mesh",), recorded, features=["concepts", "fields"])
    assert again.options.settings == trained.options.settings
    assert again.expanding(("doid",)) == again


def test_options_of_another_version_are_refused(choice):
    with pytest.raises(InputError, match="'colour' is not an option of reranker 'constant'"):
        choice(recorded={"colour": "red"})
