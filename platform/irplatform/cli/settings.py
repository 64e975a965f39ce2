"""From a command's options to the settings of a run: `--set`, `--config`, `--interpolate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.system.formats import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.api import RunSettings


def run_settings(
    options: Mapping[str, Any], *, rerankers: Sequence[str] = (), **more: Any
) -> RunSettings:
    """The settings of a run, from a command's options.

    Args:
        options: as click has them: `settings` and `config`, perhaps `interpolate`, and others that
            are called as in `RunSettings`.
        rerankers: names.
        more: settings that are no options.

    Raises:
        InputError: an option cannot be read, or has no effect.
    """
    from irplatform.api import RunSettings

    given = {**options, **more, "rerankers": rerankers}
    of_systems = (given.pop("settings"), given.pop("config"))
    given["settings"] = read_settings(*of_systems, given["retrievers"], rerankers)
    if "interpolate" in given:
        given["interpolate"] = interpolation_weight(given["interpolate"])
    return RunSettings(**given)


def read_settings(
    settings: tuple[str, ...],
    config: Path | None,
    retrievers: Sequence[str] = (),
    rerankers: Sequence[str] = (),
) -> dict[str, object]:
    """Options from a TOML file, then from the command line.

    Args:
        settings: NAME=VALUE; a value is read as TOML, and as it stands where the option is text.
        config: the file.
        retrievers: names of those that the options are for.
        rerankers: likewise.

    Raises:
        InputError: the file or a setting cannot be read, a name has two values on the command line,
            or there is no such system.
    """
    from irplatform.experiment.settings import label_and_name
    from irplatform.options import flat, read_value
    from irplatform.registry.loading import registry
    from irplatform.reranking.systems import ChosenReranker
    from irplatform.retrieval.first_stage import ChosenRetriever
    from irplatform.tuning.declared import takes_text

    options: dict[str, object] = {}
    if config is not None:
        options = flat(read_toml(config))
    texts: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise InputError(f"'{setting}' is not a setting; write it as NAME=VALUE.")
        if texts.setdefault(name, value) != value:
            raise InputError(
                f"--set {name} is given twice, with {texts[name]} and {value}; give it once."
            )
    if texts:
        plugins = registry()
        systems: list[ChosenRetriever | ChosenReranker] = [
            *(ChosenRetriever(r, r.options({})) for r in map(plugins.retriever, retrievers)),
            *(
                ChosenReranker(r := plugins.reranker(name), r.options({}), label=label)
                for label, name in map(label_and_name, rerankers)
            ),
        ]
        options |= {
            name: read_value(value, text=takes_text(systems, name)) for name, value in texts.items()
        }
    return options


def interpolation_weight(interpolate: str) -> float | None:
    """The first stage's weight that `--interpolate` gives; None for auto."""
    if interpolate == "auto":
        return None
    try:
        return float(interpolate)
    except ValueError as error:
        raise InputError(f"--interpolate takes a number or auto, not '{interpolate}'.") from error
