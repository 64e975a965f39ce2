"""Refusal to replace a run file by one that was made in another way.

A run's metadata hold the settings that decide its content. Two of these are not options: `code`,
the code that ranks, and `content`, what it reads beside documents and topics.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.files.digests import fingerprint
from irplatform.run_folder.metadata_files import metadata_file, metadata_path, read_metadata
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SESSION = "this Python session"
"""The distribution of systems that a program defines, such as a notebook's."""
CODE = "code"
CONTENT = "content"
_CODE_MARKS = ("distribution", "version", "source")
"""Keys of a description that identify its code."""
_NO_CONTENT = ("retriever", "reranker", "options", *_CODE_MARKS)
"""Other keys of a description; these are settings themselves."""
_HASHED = ("documents", "topics", "judgments")
"""Settings that are a hash of the data."""
_UNDECIDED = {"device": "auto"}
"""Settings that are resolved after the others are compared."""
_DIGITS = 8
_LONGEST = 60
"""Characters of a setting's value in a message."""


def code_and_content(described: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the settings `code` and `content`, from the systems' descriptions of themselves."""
    code: dict[str, dict[str, str]] = {}
    content: dict[str, dict[str, str]] = {}
    for name, description in described.items():
        code |= dict(_code_of(name, description))
        read = {**description, **description.get("of", {}), **description.get("depends_on", {})}
        content[name] = {
            part: fingerprint({"": _without_code(value)})
            for part, value in read.items()
            if part not in (*_NO_CONTENT, "of", "depends_on")
        }
    return {CODE: code, CONTENT: {name: parts for name, parts in content.items() if parts}}


def _code_of(name: str, description: object) -> Iterator[tuple[str, dict[str, str]]]:
    """The code of a system and of the feature groups that it reads, by name."""
    if not isinstance(description, dict):
        return
    if "distribution" in description:
        yield name, {mark: description[mark] for mark in _CODE_MARKS if mark in description}
    for inner, value in description.items():
        if inner != "options":
            yield from _code_of(inner, value)


def _without_code(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_code(v) for name, v in value.items() if name not in _CODE_MARKS}


def refuse_other_run(path: Path, settings: Mapping[str, Any], instead: str) -> None:
    """Refuse to replace a run that was made in another way, or without a record of how.

    Args:
        path: the run file to write.
        settings: the settings that decide its content, as JSON.
        instead: advice, such as "Name another file".
    """
    if not path.exists():
        return
    try:
        recorded = read_metadata(path).method.settings
        if recorded is None:
            raise InputError("its settings are not recorded.", path=path)
        changes = [*differences(_without_session(recorded), _without_session(settings))]
    except (InputError, KeyError, TypeError, AttributeError) as error:  # of another program
        described = metadata_path(path).name
        says = (
            f"{described} does not say" if metadata_file(path) else f"no {described} beside it says"
        )
        raise InputError(
            f"this file already exists, and {says} with which settings it was made. {instead}, or "
            f"replace it with {option('force', True)}.",
            path=path,
        ) from error
    if changes:
        raise InputError(
            f"this run was made with {', and with '.join(changes)}. {instead}, or replace it "
            f"with {option('force', True)}.",
            path=path,
        )


def _without_session(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without code of a session: a changed cell of a notebook replaces its runs."""
    code = settings.get(CODE, {})
    remainder = {name: of for name, of in code.items() if of.get("distribution") != SESSION}
    return {**settings, CODE: remainder} if remainder != code else dict(settings)


def differences(recorded: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words where recorded settings of a run differ from others."""
    options = [
        f"{name} {_setting_text(name, recorded)} -> {_setting_text(name, settings)}"
        for name in {**recorded, **settings}
        if name not in (CODE, CONTENT)
        and settings.get(name) not in (recorded.get(name), _UNDECIDED.get(name, ...))
    ]
    if options:
        yield f"other settings: {'; '.join(options)}"
    code = [
        _changed_code(then, now)
        for name, now in settings.get(CODE, {}).items()
        if (then := recorded.get(CODE, {}).get(name, now)) != now
    ]
    for change in dict.fromkeys(code):
        yield f"other code of {change}"
    for name, now in settings.get(CONTENT, {}).items() if CONTENT in recorded else ():
        then = recorded[CONTENT].get(name, {})
        changed = [part for part in {**then, **now} if then.get(part) != now.get(part)]
        if changed:
            yield f"other content of what {name} reads ({', '.join(changed)})"


def _changed_code(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Changed code in words: "'irplatform-mine' (source changed)"."""
    name = f"'{now['distribution']}'"
    if then["distribution"] != now["distribution"]:
        return f"{name} (it was '{then['distribution']}')"
    if then["version"] != now["version"]:
        return f"{name} (version {then['version']} -> {now['version']})"
    return f"{name} (source changed)"


def _setting_text(name: str, settings: Mapping[str, Any]) -> str:
    value = settings.get(name)
    if name in _HASHED and value is not None:
        return f"{value[:_DIGITS]}…"
    text = "not set" if value is None else json.dumps(value, ensure_ascii=False).strip('"')
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
