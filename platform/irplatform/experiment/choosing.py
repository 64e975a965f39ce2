"""From names and settings to retrievers and rerankers with their options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, unknown
from irplatform.experiment.expansion import with_expansion
from irplatform.options import flat, settings_of
from irplatform.reranking.folds import MEMBERS
from irplatform.reranking.systems import ChosenReranker
from irplatform.retrieval.first_stage import ChosenRetriever

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from irplatform.registry.lookup import Registry
    from irplatform.registry.registration import Registration


def choose_systems(
    registry: Registry,
    retrievers: Sequence[str],
    rerankers: Sequence[str],
    settings: Mapping[str, object],
    preset: str | None = None,
    members: int = MEMBERS,
) -> tuple[list[ChosenRetriever], list[ChosenReranker]]:
    """Resolve names, and give every option to the systems that have it.

    Args:
        registry: the installed plugins.
        retrievers: names.
        rerankers: names.
        settings: option to value; "delta.filters" sets an option of `delta` alone, and
            "loop.epochs" a part of the option `loop`.
        preset: the name of settings that rerankers bring, which take the place of the defaults of
            every reranker that has some under this name; `settings` take precedence over them.
        members: how many models of a reranker that learns are trained and averaged.

    Raises:
        InputError: an unknown name, an option that none of the systems has, a wrong value, or a
            preset that no reranker has.
    """
    for kind, names in (("retriever", retrievers), ("reranker", rerankers)):
        if twice := next((n for n in names if list(names).count(n) > 1), None):
            raise InputError(f"{kind} '{twice}' is named twice.")
    registrations: list[Registration[Any]] = [
        *(registry.retriever(name) for name in retrievers),
        *(registry.reranker(name) for name in rerankers),
    ]
    if preset is not None:
        check_preset(preset, registrations[len(retrievers) :])
    # By place: a retriever and a reranker may have the same name.
    used_and_values = [
        settings_of(
            registration,
            _with_preset(registration, settings, preset),
            {
                option
                for r in registrations
                if r.name == registration.name
                for option in r.option_names()
            },
        )
        for registration in registrations
    ]
    for key in settings:
        if not any(key in used for used, _ in used_and_values):
            raise unknown_option(key, registrations, registry)
    with_options = [
        (
            registration,
            registration.options(values),
            {k: settings[k] for k in settings if k in used},
        )
        for registration, (used, values) in zip(registrations, used_and_values, strict=True)
    ]
    count = len(retrievers)
    retriever_choices = [
        ChosenRetriever(registration, options) for registration, options, _ in with_options[:count]
    ]
    reranker_choices = [
        ChosenReranker(registration, options, members, given)
        for registration, options, given in with_options[count:]
    ]
    return retriever_choices, with_expansion(reranker_choices, retriever_choices)


def check_preset(preset: str, chosen: Sequence[Registration[Any]]) -> None:
    """See that a preset has an effect.

    Raises:
        InputError: none of the rerankers has it.
    """
    if any(preset in registration.presets for registration in chosen):
        return
    presets = sorted({name for registration in chosen for name in registration.presets})
    systems = ", ".join(registration.name for registration in chosen) or "a run without rerankers"
    if not presets:
        raise InputError(f"--preset {preset} has no effect: {systems} has no presets.")
    raise unknown("preset", preset, presets, of=systems)


def _with_preset(
    registration: Registration[Any], settings: Mapping[str, object], preset: str | None
) -> dict[str, object]:
    """A preset's settings for one reranker, beneath those that were given."""
    if preset is None or preset not in registration.presets:
        return dict(settings)
    prefix = f"{registration.name}."
    set_names = {key.removeprefix(prefix) for key in settings}
    preset_settings = {
        prefix + key: value
        for key, value in flat(registration.presets[preset]).items()
        if not any(key == set_name or key.startswith(f"{set_name}.") for set_name in set_names)
    }
    return {**preset_settings, **settings}


def unknown_option(name: str, chosen: Sequence[Registration[Any]], plugins: Registry) -> InputError:
    """An error for an option that none of some systems has.

    It names the nearest, and where all are; or says that the system it is meant for is not chosen.
    """
    system, dot, _ = name.partition(".")
    if dot and not any(name.startswith(f"{registration.name}.") for registration in chosen):
        tables: dict[str, Container[str]] = {
            "retriever": plugins.retrievers,
            "reranker": plugins.rerankers,
        }
        if kinds := [kind for kind, table in tables.items() if system in table]:
            return InputError(
                f"'{name}' has no effect: the {' or '.join(kinds)} '{system}' is not in this run."
            )
    options = {option for registration in chosen for option in registration.setting_names()}
    systems = ", ".join(dict.fromkeys(registration.name for registration in chosen))
    commands = " or ".join(f"`platform {r.kind}s show {r.name}`" for r in chosen)
    return unknown("option", name, options, of=systems, hint=f"All are listed by {commands}.")
