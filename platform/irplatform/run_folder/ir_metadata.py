"""ir_metadata: YAML about a run, beside it or in its head, as evaluation campaigns ask for it.

The form is that of ir_metadata (Breuer, Keller and Schaer, SIGIR 2022) in the reading of TIRA and
LongEval. It holds what campaigns check; a run's own `.meta.json` holds everything.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.files.reading import in_utf_8, open_bytes
from irplatform.files.writing import atomic_write
from irplatform.run_folder.metadata_model import known_parts
from irplatform.run_folder.mixture import FIRST_STAGE_WEIGHT
from irplatform.runs.names import FUSED, PACKED
from irplatform.runs.parts import METADATA
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.run_folder.metadata_model import Method, RunMetadata

FILE_NAME = "ir-metadata.yml"
END = "# ir_metadata.end"
_LONGEST_HEAD = 1 << 20
"""Bytes of a head, which ends before that."""
FILE_NAMES = (FILE_NAME, "ir-metadata.yaml", "ir_metadata.yml", "ir_metadata.yaml")
REQUIRED = {"actor.team": "team", "implementation.source.repository": "repository"}
"""Fields that campaigns require and the platform cannot know → names in `platform config`."""
_YES_OR_NO = ("lexical", "deep_neural_model", "sparse_neural_model", "single_stage_retrieval")
_ASKED: Mapping[str, type] = {
    **dict.fromkeys(("tag", "research goal.description", "data.training data.name"), str),
    "platform.software.libraries": list,
    "method.automatic": bool,
    **{f"method.indexing.{part}": str for part in ("tokenizer", "stemmer", "stopwords")},
    "method.retrieval.name": str,
    **{f"method.retrieval.{question}": bool for question in _YES_OR_NO},
}
"""The other fields that TIRA asks for, and their types."""
_UNFILLED = "ENTER_VALUE"
"""What LongEval's template has where a value is missing."""
_INDEXING = {
    "tokenizer": "Lucene StandardTokenizer, lower case (Anserini's DefaultEnglishAnalyzer)",
    "stemmer": "Porter",
    "stopwords": "Lucene's English stop words",
}
_OF_FUSION = ("method", "weights", "topics")
"""Keys of a fusion that are no parameters of its method."""
_STEP = ("name", "method", "norm", "k", "run", "reranks", "interpolates", "fuses")


def ir_metadata(
    metadata: RunMetadata, facts: Mapping[str, str], runs: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return a run's metadata in the form that campaigns check.

    Args:
        metadata: of a run, as it lies beside it.
        facts: of the user, by their names in `platform config`; missing ones leave fields out.
        runs: the files of a folder: name and digest of each.
    """
    steps = _steps(metadata.method)
    software, data = metadata.platform.software, metadata.data
    others = {k: v for k, v in software.content().items() if k not in ("libraries", "python")}
    described = _in_short(steps) or metadata.tag
    goal = f"Ad hoc retrieval on {data.test_collection.name or 'a collection'} with {described}."
    source = {
        **({"repository": facts["repository"]} if "repository" in facts else {}),
        **metadata.implementation.source,
    }
    call = metadata.implementation.call
    content: dict[str, Any] = {
        "schema version": metadata.schema_version,
        "tag": metadata.tag,
        "date": metadata.date,
        "actor": {k: facts[k] for k in ("name", "team") if k in facts} | {"role": "experimenter"},
        "research goal": {
            "description": facts.get("goal", goal),
            **metadata.research_goal.content(),
        },
        "platform": {
            **metadata.platform.content(),
            "software": {
                "libraries": [
                    f"python=={software.python}",
                    *(f"{name}=={of}" for name, of in software.libraries.python.items()),
                ],
                **others,
            },
        },
        "implementation": {
            "executable": metadata.implementation.executable,
            "source": source,
            **({"call": call.content()} if call else {}),
        },
        "data": {
            "test collection": {"name": "unknown", **data.test_collection.content()},
            "training data": data.training_data.content() or {"name": "none"},
            **({"inputs": data.inputs} if data.inputs else {}),
        },
        "method": {
            "name": facts.get("method", described),
            "description": facts.get("description", _in_words(steps, metadata.method)),
            "automatic": True,
            "score ties": metadata.method.score_ties,
            "indexing": _INDEXING,
            "retrieval": steps,
        },
    }
    if runs:
        content["runs"] = [dict(run) for run in runs]
    elif metadata.run:
        content["run"] = {"file": metadata.run.file, "sha256": metadata.run.sha256}
    return content


def as_recorded(content: Mapping[str, Any]) -> RunMetadata:
    """Return ir_metadata in the form of the metadata beside a run, as far as they have one."""
    recorded = {k: dict(part) if isinstance(part, dict) else part for k, part in content.items()}
    data, platform, method = (
        part if isinstance(part := recorded.get(name), dict) else {}
        for name in ("data", "platform", "method")
    )
    for part, value in data.items():
        if isinstance(value, str):  # a collection may be a name alone
            data[part] = {"name": value}
    if isinstance(software := platform.get("software"), dict):
        libraries = software.get("libraries")
        packages = libraries.get("python") if isinstance(libraries, dict) else libraries
        entries = map(str, packages) if isinstance(packages, list) else ()
        versions = {name: of for name, _, of in (e.partition("==") for e in entries) if of}
        python = {"python": versions.pop("python")} if "python" in versions else {}
        platform["software"] = {**software, **python, "libraries": {"python": versions}}
    if steps := method.get("retrieval"):
        retrieval = steps if isinstance(steps, list) else [steps]
        method["retrieval"] = [step for step in retrieval if isinstance(step, dict)]
    return known_parts(recorded)[0]


def _steps(method: Method) -> list[dict[str, Any]]:
    """The steps of retrieval: name, kind, what they rerank, and plain options."""
    neural = method.neural
    steps: list[dict[str, Any]] = []
    for step in method.retrieval:
        if step.fusion is not None:
            steps.append(_fusion(step.fusion, steps))
            continue
        said = step.content()
        kind = "reranker" if step.reranker else "retriever"
        names = (said.get(key) for key in ("label", kind, "name", "method", "run"))
        name = next(filter(None, names), kind)
        plain = {k: v for k, v in step.options.items() if isinstance(v, str | int | float)}
        steps.append(
            {
                "name": str(name),
                **({kind: said[kind]} if kind in said else {}),
                **{key: said[key] for key in _STEP[1:] if key in said},
                "lexical": name not in neural,
                "deep_neural_model": name in neural,
                "sparse_neural_model": False,
                "single_stage_retrieval": len(method.retrieval) == 1,
                **plain,
            }
        )
    if steps and (weight := method.interpolation):
        steps[-1]["interpolates"] = {
            "with": steps[-1].get("reranks"),
            FIRST_STAGE_WEIGHT: weight,
        }
    return steps


def _fusion(fusion: Mapping[str, Any], retrievers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The step that fuses retrievers."""
    weights = fusion.get("weights") or [1.0] * len(retrievers)
    neural = [retriever["deep_neural_model"] for retriever in retrievers]
    return {
        "name": FUSED,
        "method": fusion.get("method", "reciprocal rank fusion"),
        **{name: value for name, value in fusion.items() if name not in _OF_FUSION},
        "fuses": [
            {"run": retriever["name"], "weight": weight}
            for retriever, weight in zip(retrievers, weights, strict=False)
        ],
        "lexical": not all(neural),
        "deep_neural_model": any(neural),
        "sparse_neural_model": False,
        "single_stage_retrieval": False,
    }


def _in_short(steps: Sequence[Mapping[str, Any]]) -> str:
    """The names of the steps: "bm25 + rm3 → drmm"; fused retrievers are no chain."""
    retrievers = [step["name"] for step in steps if not step.keys() & {"fuses", "reranks"}]
    others = [
        step["name"] for step in steps if "reranks" in step or ("fuses" in step and not retrievers)
    ]
    return " → ".join([*([" + ".join(retrievers)] if retrievers else []), *others])


def _in_words(steps: Sequence[Mapping[str, Any]], method: Method) -> str:
    """A sentence on what each step does."""
    depth = (method.settings or {}).get("depth")
    first = [step["name"] for step in steps if not step.keys() & {"fuses", "reranks", "run"}]
    number = f" {depth:,}" if isinstance(depth, int) else ""
    words = [f"the run {step['run']} is given" for step in steps if "run" in step]
    if first:
        verb = f"find{'s' * (len(first) == 1)}"
        words.append(f"{' and '.join(first)} {verb}{number} documents per topic")
    words += [_fused_in_words(step) for step in steps if "fuses" in step]
    for step in steps:
        if "reranks" in step:
            weight = step.get("interpolates", {}).get(FIRST_STAGE_WEIGHT)
            mixed = f", mixed with {step['reranks']} (weight {weight:.2f})" if weight else ""
            if weight == 1:
                mixed = f", and is given no weight: the ranking is that of {step['reranks']}"
            words.append(f"{step['name']} reranks those of {step['reranks']}{mixed}")
    if limit := (method.settings or {}).get("written-depth"):
        words.append(f"the first {limit:,} per topic are written")
    return "; ".join(words) + "."


def _fused_in_words(step: Mapping[str, Any]) -> str:
    names = [
        PurePath(run["run"]).name.removesuffix(PACKED).removesuffix(".run") for run in step["fuses"]
    ]
    weights = ", ".join(f"{run.get('weight', 1):.3g}" for run in step["fuses"])
    method = f"{step['method']} of {step['norm']} scores" if "norm" in step else step["method"]
    return f"the runs {' and '.join(names)} are fused by {method} (weights {weights})"


def values_at(content: Any, field: str) -> list[Any]:
    """Return the values of a field, such as "method.retrieval.name": one for each entry of a list.

    None stands for a value that is missing, or not filled in.
    """
    key, _, rest = field.partition(".")
    if isinstance(content, list):
        return [value for entry in content for value in values_at(entry, field)] or [None]
    value = content.get(key) if isinstance(content, dict) else None
    if rest:
        return values_at(value, rest)
    return [None if value in ("", [], {}) or _UNFILLED in str(value) else value]


def lacking(content: Mapping[str, Any]) -> list[str]:
    """Return the names in `platform config` of what campaigns require and the content lacks."""
    return [name for field, name in REQUIRED.items() if None in values_at(content, field)]


def of_others(content: Mapping[str, Any], facts: Mapping[str, str]) -> dict[str, Any]:
    """Return metadata that another program wrote, with the user's facts where they are missing.

    A notice names what TIRA asks for and they lack, or have in another type.

    Raises:
        InputError: a section that a fact belongs to is no mapping.
    """
    content_with_facts = dict(content)
    for field, name in REQUIRED.items():
        if name not in facts or None not in values_at(content_with_facts, field):
            continue
        *sections, last = field.split(".")
        holder = content_with_facts
        for section in sections:
            inner = holder.get(section)
            if inner is not None and not isinstance(inner, dict):
                raise InputError(f"'{section}' of its ir_metadata is not a mapping of keys.")
            holder[section] = holder = dict(inner or {})
        holder[last] = facts[name]
    missing = [
        field
        for field, kind in _ASKED.items()
        if not all(isinstance(value, kind) for value in values_at(content_with_facts, field))
    ]
    if missing:
        notice_once(f"WARNING: TIRA asks for more in its ir_metadata: {', '.join(missing)}.")
    return content_with_facts


def write_ir_metadata(content: Mapping[str, Any], path: Path) -> None:
    """Write a YAML file; if it lacks what campaigns require, its first line says so."""
    import yaml

    text = yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=100)
    with atomic_write(path) as file:
        if missing := lacking(content):
            names = " and ".join(missing)
            file.write(f"# Campaigns also ask for {names}: `platform config set NAME VALUE`.\n")
        file.write(text)


def read_head(path: Path) -> dict[str, Any]:
    """Return the ir_metadata in the head of a run file; empty if it has none.

    Raises:
        InputError: the file cannot be read, or its head is not YAML.
    """
    with open_bytes(path) as file:
        content = in_utf_8(file.read(_LONGEST_HEAD))
    if (start := METADATA.match(content)) is None:
        return {}
    head: list[str] = []
    for line in content[start.end() :].decode("utf-8", errors="replace").splitlines():
        if line.lstrip("# \t").rstrip() == END.removeprefix("# "):
            return _parsed("\n".join(head), path)
        head.append(line.removeprefix("#").removeprefix(" "))
    raise InputError(f"the metadata at its head have no end: '{END}' is missing.", path=path)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the content of an ir_metadata file, in YAML or JSON.

    Raises:
        InputError: it cannot be read, or is something else.
    """
    with open_bytes(path) as file:
        return _parsed(file.read().decode("utf-8", errors="replace"), path)


def _parsed(text: str, path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"these metadata are not YAML: {reason}.", path=path) from error
    if not isinstance(content, dict):
        raise InputError("these metadata have no sections.", path=path)
    return content
