"""The settings of a run from a command's options: `--set`, `--config`, an experiment's file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from irplatform.errors import InputError
from irplatform.files.formats import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform import RunSettings

_GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


def run_settings(
    options: Mapping[str, Any],
    *,
    experiment: Mapping[str, Any] | None = None,
    **more: Any,
) -> RunSettings:
    """Return the settings of a run from a command's options and `more` fields of `RunSettings`.

    Those of an `experiment` file, see `read_experiment`, stand beneath the options that are given.
    """
    from irplatform import RunSettings

    values = {**options, **more}
    set_options, config = values.pop("settings"), values.pop("config")
    of_file: Mapping[str, object] = {}
    if experiment is not None:
        of_file = experiment.get("settings", {})
        values |= _not_given(experiment)
    settings = RunSettings(**values)
    retrievers = dict.fromkeys(name for stage in settings.stages for name in stage.retrievers)
    if experiment is not None:
        of_file = _of_chosen(of_file, RunSettings("", **_systems(experiment)), settings)
    of_command = read_settings(set_options, config, [*retrievers], settings.rerankers)
    return replace(settings, settings={**of_file, **of_command})


def _not_given(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file that the command line does not give."""
    context = click.get_current_context()
    names = {name for name in context.params if context.get_parameter_source(name) in _GIVEN}
    return {k: v for k, v in experiment.items() if k not in names and k != "settings"}


def _systems(experiment: Mapping[str, Any]) -> dict[str, Any]:
    return {key: experiment[key] for key in ("rerankers", "first_stages") if key in experiment}


def _of_chosen(
    options: Mapping[str, object], before: RunSettings, settings: RunSettings
) -> dict[str, object]:
    """Options of a file without those of systems that the command line has replaced."""
    replaced = _names(before) - _names(settings)
    return {
        key: value
        for key, value in options.items()
        if not any(key.startswith(f"{name}.") for name in replaced)
    }


def _names(settings: RunSettings) -> set[str]:
    return {*settings.labels, *(name for stage in settings.stages for name in stage.retrievers)}


def read_settings(
    settings: tuple[str, ...],
    config: Path | None,
    retrievers: Sequence[str] = (),
    rerankers: Sequence[str] = (),
    judges: Sequence[str] = (),
) -> dict[str, object]:
    """Return the options of systems from a TOML file, changed by those of `--set`.

    A value is TOML, or plain text for an option that takes text in all named systems.
    """
    from irplatform.experiment.systems import registrations_of
    from irplatform.options import read_value
    from irplatform.registry.dependencies import ChosenSystem
    from irplatform.registry.loading import registry
    from irplatform.settings import flat
    from irplatform.tuning.option_types import takes_text

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
        registrations = registrations_of(registry(), retrievers, rerankers)
        registrations += [registry().judge(name) for name in judges]
        systems = [ChosenSystem(system, system.options({})) for system in registrations]
        options |= {
            name: read_value(value, text=takes_text(systems, name)) for name, value in texts.items()
        }
    return options
