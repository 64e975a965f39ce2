"""The settings of a run as programs give them: `RunSettings`, a collection, keywords, a file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from irplatform.collections.toml import is_declaration
from irplatform.data import Collection
from irplatform.errors import InputError, quoted, unknown
from irplatform.experiment.experiment_file import read_experiment
from irplatform.experiment.settings import RunSettings
from irplatform.registry.live_code import new_call
from irplatform.settings import declared

if TYPE_CHECKING:
    from irplatform.experiment.arguments import Collections

Function = TypeVar("Function", bound=Callable[..., Any])


def settings_of(
    given: RunSettings | Collections | None,
    options: Mapping[str, Any] | None = None,
    *,
    rerankers: object = None,
) -> RunSettings:
    """Return settings, with options by their names changed, or those of a collection.

    `rerankers` may also be among the options.

    Raises:
        InputError: it is neither, or there is no such option.
    """
    new_call()
    options = dict(options or {})
    if rerankers is not None:
        options["rerankers"] = rerankers
    known = [each.name for each in fields(RunSettings)]
    for name in options:
        if name not in known:
            raise unknown("setting", name, known, of="a run")
    if isinstance(given, RunSettings):
        if "collection" in options:
            options = {"collections": (), **options}
        return replace(given, **options) if options else given
    collection = options.get("collection") if given is None else given
    if given is None and collection is None and "collections" in options:
        return RunSettings(**options)
    several = isinstance(collection, tuple | list) and collection
    if not (several or isinstance(collection, Path | str | Collection)):
        what = "it is missing" if collection is None else f"not {quoted(collection)}"
        raise InputError(
            "a run needs RunSettings or a collection, as in run('demo', rerankers='delta'); "
            f"{what}."
        )
    if isinstance(collection, Path | str):
        path = Path(collection).expanduser()
        if path.suffix == ".toml" and path.is_file() and not is_declaration(path):
            return RunSettings(**{**read_experiment(path), **options, "experiment": path})
    return RunSettings(**{**options, "collection": collection})


def with_keywords(
    options: type[Any], settings: type[Any] = RunSettings
) -> Callable[[Function], Function]:
    """Give a function with `**options` the signature that `help` and notebooks show.

    Type checkers read the keywords of `options`, a TypedDict, from `Unpack`. `settings` has their
    defaults.
    """

    def with_signature(function: Function) -> Function:
        @functools.wraps(function)
        def called(*arguments: Any, **given: Any) -> Any:
            return function(*arguments, **given)

        called.__signature__ = _signature(function, options, settings)  # type: ignore[attr-defined]
        return cast("Function", called)

    return with_signature


def _signature(
    function: Callable[..., Any], options: type[Any], settings: type[Any]
) -> inspect.Signature:
    usual = declared(settings)
    signature = inspect.signature(function)
    *named, _ = signature.parameters.values()
    taken = {parameter.name for parameter in named}
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=usual[name].default,
            annotation=getattr(kind, "__forward_arg__", kind),
        )
        for name, kind in options.__annotations__.items()
        if name not in taken
    ]
    return signature.replace(parameters=[*named, *more])
