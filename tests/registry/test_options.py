"""Options of systems: declared soundly, and read with errors that name them."""

import pytest
from pydantic import Field
from strangers import GOOD

from irplatform.errors import InputError, PluginError
from irplatform.plugin import Options
from irplatform.registry.loading import load, registry


def test_an_option_with_an_alias_goes_by_its_name(install):
    code = GOOD.replace("import Reranker", "import Options, Reranker").replace(
        "    def score",
        "    class Options(Options):\n        size: int = Field(1, alias='Size')\n\n    def score",
    )
    length = load(install("alias", "from pydantic import Field\n" + code)).reranker("length")
    assert length.options({"size": 3}).size == 3


VALIDATED = GOOD.replace("import Reranker", "import Options, Reranker").replace(
    "    def score",
    """    class Options(Options):
        size: int = 1

        @field_validator("size")
        @classmethod
        def _checked(cls, size):
            if size > 5:
                raise {error}
            return size

    def score""",
)


@pytest.mark.parametrize(
    ("raised", "error", "message"),
    [
        (
            "RuntimeError('no table for this size')",
            PluginError,
            "failed reading its options: RuntimeError: no table",
        ),
        (
            "ValueError('No table has this size.')",
            InputError,
            r"cannot be 6: No table has this size\.$",
        ),
    ],
)
def test_what_a_validator_raises_is_told(install, raised, error, message):
    """A failure names the plugin, a refusal ends with one full stop."""
    code = "from pydantic import field_validator\n" + VALIDATED.replace("{error}", raised)
    length = load(install("checks", code)).reranker("length")
    with pytest.raises(error, match=message):
        length.options({"size": 6})


def test_an_option_default_must_validate(install):
    code = f"""{GOOD.replace("Length)", "Length, size='many')")}
from irplatform.plugin import Options

class Sized(Options):
    size: int = 1

Length.Options = Sized
"""
    (broken,) = load(install("broken", code)).broken
    assert "option 'size' of reranker 'length' cannot be 'many'" in broken.error


def _with_options(body: str) -> str:
    code = f"from pydantic import BaseModel, Field, model_validator\n{GOOD}"
    return code.replace("import Reranker", "import Options, Reranker").replace(
        "    def score", f"    class Options(Options):\n        {body}\n\n    def score"
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("hidden: float = Field(1.0, exclude=True)", "option 'hidden' of reranker 'length' is"),
        (
            "class Part(BaseModel):\n            hidden: int = Field(1, exclude=True)\n"
            "        part: Part = Part()",
            "option 'hidden' of reranker 'length' is declared with exclude",
        ),
        (
            "class Part(BaseModel):\n            hidden: int = Field(1, exclude=True)\n"
            "            more: 'list[Part] | None' = None\n"
            "        parts: dict[str, list[Part]] | None = None",
            "option 'hidden' of reranker 'length' is declared with exclude",
        ),
    ],
)
def test_options_that_could_not_be_recorded_are_refused(install, body, reason):
    (broken,) = load(install("odd", _with_options(body))).broken
    assert reason in broken.error


def test_options_that_do_not_go_together_are_told_without_naming_one(install):
    body = """low: int = 1
        high: int = 2

        @model_validator(mode="after")
        def _ordered(self):
            if self.low > self.high:
                raise ValueError("low is above high")
            return self"""
    length = load(install("ordered", _with_options(body))).reranker("length")
    message = r"^the options of reranker 'length' cannot be used: low is above high\.$"
    with pytest.raises(InputError, match=message):
        length.options({"low": 7})


PRESETS = f"""{GOOD}
from irplatform.plugin import Options

class Loop(Options):
    epochs: int = 1
    patience: int | None = 2

class Sized(Options):
    size: int = 1
    loop: Loop = Loop()

Length.Options = Sized
Length.presets = {{presets}}
"""


@pytest.mark.parametrize(
    ("presets", "reason"),
    [
        ("{'paper': {'sise': 4}}", "preset 'paper': 'sise' is not an option of reranker 'length'."),
        ("{'paper': {'loop.epoch': 4}}", "preset 'paper': 'loop.epoch' is not an option"),
        ("{'paper': {'size': 'x'}}", "preset 'paper': option 'size' of reranker 'length' cannot"),
        ("{'paper': {'loop': 3, 'loop.epochs': 4}}", "preset 'paper': 'loop' cannot be set both"),
        ("{'paper': {'size': 4, 'loop.epochs': 4, 'loop.patience': 'none'}}", ""),
        ("{'paper': {'loop': {'epochs': 4}}}", ""),
    ],
)
def test_presets_are_checked_when_they_are_registered(install, presets, reason):
    (plugin,) = load(install("preset", PRESETS.replace("{presets}", presets))).plugins
    assert reason in plugin.error
    assert bool(plugin.error) == bool(reason)


@pytest.mark.parametrize("options", ["dict", "4", "Sized()", "Other"])
def test_options_are_a_class_of_options(install, options):
    code = PRESETS.replace("{presets}", "{}") + (
        "from pydantic import BaseModel\nclass Other(BaseModel):\n    pass\n"
        f"Length.Options = {options}\n"
    )
    (broken,) = load(install("broken", code)).broken
    assert "the Options of reranker 'length' are " in broken.error
    assert "not a subclass of irplatform.plugin.Options" in broken.error


def test_every_option_of_every_system_is_described():
    plugins = registry()
    for registration in (*plugins.rerankers.values(), *plugins.retrievers.values()):
        for name, declared in registration.system.Options.model_fields.items():
            assert declared.description, f"{registration.name}: {name}"


class Parts(Options):
    epochs: int = Field(3, gt=0)


class Sized(Options):
    size: int = Field(1, gt=0)
    loop: Parts = Parts()


@pytest.fixture
def sized(install):
    registration = load(install("good", GOOD)).reranker("length")
    registration.system.Options = Sized
    return registration


def test_options_are_validated_with_the_value_in_the_message(sized):
    with pytest.raises(InputError, match=r"option 'size' of reranker 'length' cannot be 0: .*than"):
        sized.options({"size": 0})
    with pytest.raises(InputError, match=r"option 'loop.epochs' .* cannot be 'x'"):
        sized.options({"loop": {"epochs": "x"}})


def test_an_unknown_option_is_answered_with_the_nearest(sized):
    with pytest.raises(
        InputError, match=r"'siez' is not an option of reranker 'length'. Did you mean"
    ):
        sized.options({"siez": 1})
    with pytest.raises(InputError, match=r"'loop.epoch' is not .* mean 'loop.epochs'\?"):
        sized.options({"loop": {"epoch": 1}})
    assert sized.setting_names() == ["size", "loop.epochs"]


OPTIONS = """
from irplatform.plugin import Options, Reranker, hookimpl

class Sizes(Options):
    {option}

class Sized(Reranker):
    Options = Sizes

@hookimpl
def register_rerankers(register):
    register("sized", Sized)
"""


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("size: int = 'three'", "option 'size' of reranker 'sized' cannot be 'three'"),
        ("size: object = print", "options of reranker 'sized' cannot be recorded as JSON"),
    ],
)
def test_defaults_are_of_the_kind_that_is_declared_and_can_be_recorded(install, option, reason):
    plugins = load(install("sized", OPTIONS.replace("{option}", option)))
    assert reason in plugins.broken[0].error
