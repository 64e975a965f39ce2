"""Settings, each declared once: options, keywords, keys of files, checks and help come from here.

    @dataclass(frozen=True)
    class CutSettings:
        depth: int = setting(100, "Documents to keep.", group=OUTPUT, takers="cut", least=1)

The command line makes the option `depth` of the command `cut` from it, programs get the keyword,
`check_values` refuses 0 and "ten".
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

from irplatform.errors import InputError, quoted, unknown
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Sequence

Class = TypeVar("Class")
Function = TypeVar("Function", bound=Callable[..., Any])
WHAT = "What to run"
FIRST_STAGE = "First stage"
RERANKING = "Reranking"
LEARNING = "Learning"
OUTPUT = "Output"
MACHINE = "Machine"
"""Headings of options in a command's help, in their order."""
_LIST = re.compile(r"Sequence\[(\w+)\]")
_IN_WORDS = {
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "Path": "a path",
    "str": "text",
}


@dataclass(frozen=True)
class Setting:
    """A setting.

    Attributes:
        name: of the attribute and keyword; `irplatform.spelling` has that of the option.
        kind: "bool", "float", "int", "Path", "str" or "Mapping".
        several: a list of such values.
        default: None where it depends on others, see `help`.
        help: what it is, in a sentence or two.
        group: the heading in help, such as `LEARNING`; "" where only programs set it.
        takers: the commands and functions that take it.
        names: what a text names, such as "measure", for completion.
        words: texts that may stand in place of a number: "auto".
        choices: all texts that it may be.
        least, most: bounds of a number, which may be reached.
        metavar: how the value is written in help.
        default_text: how the default is written, if that is not its value.
        keyword: the type of the keyword, if callers may write more than the attribute holds.
        recorded: it decides the runs or their scores, and is a part of a recorded call.
    """

    name: str
    kind: str
    several: bool
    default: Any
    help: str
    group: str
    takers: frozenset[str]
    names: str
    words: tuple[str, ...]
    choices: tuple[str, ...]
    least: int | None
    most: int | None
    metavar: str | None
    default_text: str | None
    keyword: str | None
    recorded: bool

    @property
    def in_words(self) -> str:
        """What a value has to be."""
        if self.kind == "Mapping":
            return "a table of options"
        if self.several and self.kind == "str":
            return "a name or a list of names"
        return " or ".join([_IN_WORDS.get(self.kind, self.kind), *self.words])


def setting(
    default: Any,
    about: str,
    *,
    group: str = "",
    takers: str = "",
    names: str = "",
    words: Sequence[str] = (),
    choices: Sequence[str] = (),
    least: int | None = None,
    most: int | None = None,
    metavar: str | None = None,
    default_text: str | None = None,
    keyword: str | None = None,
    recorded: bool = True,
) -> Any:
    """Declare a setting, as an attribute of a dataclass; see `Setting`, whose `help` is `about`."""
    metadata = {
        "help": about,
        "group": group,
        "takers": frozenset(takers.split()),
        "names": names,
        "words": tuple(words),
        "choices": tuple(choices),
        "least": least,
        "most": most,
        "metavar": metavar,
        "default_text": default_text,
        "keyword": keyword,
        "recorded": recorded,
    }
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def declared(settings: type[Any]) -> Mapping[str, Setting]:
    """Return the settings of a dataclass by name, in order."""
    if "_declared" in vars(settings):
        return cast("Mapping[str, Setting]", vars(settings)["_declared"])
    table: dict[str, Setting] = {}
    for attribute in fields(settings):
        notation = str(getattr(attribute.type, "__name__", attribute.type)).removesuffix(" | None")
        several = _LIST.fullmatch(notation)
        kind = several[1] if several else "Mapping" if notation.startswith("Mapping") else notation
        default = attribute.default if attribute.default is not MISSING else {}
        table[attribute.name] = Setting(
            name=attribute.name,
            kind={"Count": "int", "Any": "str"}.get(kind, kind),
            several=several is not None,
            default=default,
            **attribute.metadata,
        )
    settings._declared = table
    return table


def documented(settings: type[Class]) -> type[Class]:
    """Decorate a dataclass: its docstring lists the settings."""
    lines = [f"    {entry.name}: {entry.help}" for entry in declared(settings).values()]
    first, *rest = (settings.__doc__ or "").partition("\n\n    Raises:")
    settings.__doc__ = "\n".join([f"{first}\n\n    Attributes:", *map("    {}".format, lines)])
    settings.__doc__ += "".join(rest)
    return settings


def settings_given(settings: type[Class], taker: str, keywords: Mapping[str, Any]) -> Class:
    """Return the settings that a caller of a function gives by name.

    Raises:
        InputError: the function has no such setting, or the value is none that it takes.
    """
    names = [entry.name for entry in taken_by(settings, taker)]
    for name in keywords:
        if name not in names:
            raise unknown("setting", name, names, of=f"irplatform.{taker}")
    return settings(**keywords)


def taken_by(settings: type, taker: str) -> list[Setting]:
    """Return the settings that a command or function takes, as they are declared."""
    return [entry for entry in declared(settings).values() if taker in entry.takers]


def with_keywords(options: type[Any], settings: type[Any]) -> Callable[[Function], Function]:
    """Give a function with `**options` the signature that `help` and notebooks show.

    Type checkers read the keywords of `options`, a TypedDict, from `Unpack`. `settings` has their
    defaults.
    """

    def with_signature(function: Function) -> Function:
        function.__signature__ = _signature(function, options, settings)  # type: ignore[attr-defined]
        return function

    return with_signature


def _signature(
    function: Callable[..., Any], options: type[Any], settings: type[Any]
) -> inspect.Signature:
    usual = declared(settings)
    signature = inspect.signature(function)
    *parameters, _ = signature.parameters.values()
    names = {parameter.name for parameter in parameters}
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=usual[name].default,
            annotation=getattr(kind, "__forward_arg__", kind),
        )
        for name, kind in options.__annotations__.items()
        if name not in names
    ]
    return signature.replace(parameters=[*parameters, *more])


def check_values(settings: Any) -> None:
    """Check numbers and choices.

    Raises:
        InputError: a value is no number, below the least, or none of the choices.
    """
    for entry in declared(type(settings)).values():
        value = getattr(settings, entry.name)
        if value is None or value in entry.words:
            continue
        if entry.kind in ("int", "float") and not entry.several:
            check_number(entry.name, value, whole=entry.kind == "int")
            if entry.least is not None:
                check_least(entry.name, value, entry.least)
            if entry.most is not None and value > entry.most:
                raise InputError(
                    f"{option(entry.name)} is {value}; it must be at most {entry.most}."
                )
        elif entry.choices and value not in entry.choices:
            raise InputError(
                f"{option(entry.name)} is {quoted(value)}; it must be one of "
                f"{', '.join(entry.choices)}."
            )


def check_number(name: str, value: object, *, whole: bool = True) -> None:
    """Refuse what is not a number, such as a text."""
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"{name} is {quoted(value)}; it must be {kind}.")


def check_least(name: str, value: float, least: int) -> None:
    """Refuse a setting's number below the least."""
    if value < least:
        raise InputError(f"{option(name)} is {value}; it must be at least {least}.")


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Return nested settings by full names: `{"loop": {"epochs": 3}}` is `{"loop.epochs": 3}`."""
    settings: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            settings.update(flat(value, f"{prefix}{name}."))
        else:
            settings[prefix + name] = value
    return settings
