"""Names of drugs: the dictionary of drug-named-entity-recognition, variants to canonical names.

Canonical names that share a DrugBank id are one drug. Its names come from MedlinePlus, MeSH,
DrugBank's open vocabulary, the NHS, and Wikipedia, in lower case. Its `mesh_id` is left out: many
an entry has that of a class of drugs, not the drug's own.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats import jsons
from irplatform.knowledge.formats.format import Format, Head
from irplatform.knowledge.ids import name_id
from irplatform.knowledge.model import Concept, Name
from irplatform.knowledge.names import without_dosage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _read(path: Path) -> Iterator[Concept]:
    content = jsons.load(path, dict)
    variants, data = content.get("drug_variant_to_canonical"), content.get("drug_canonical_to_data")
    if not isinstance(variants, dict) or not isinstance(data, dict):
        raise InputError(
            "there is no object under 'drug_variant_to_canonical' or 'drug_canonical_to_data'.",
            path=path,
        )
    names: dict[str, list[Name]] = defaultdict(list)
    for variant, canonicals in variants.items():
        for canonical in jsons.texts(canonicals):
            names[canonical].append(Name(without_dosage(variant), "synonym"))
    for canonical, facts in data.items():
        if not isinstance(facts, dict):
            raise InputError(f"'{canonical}' has no object with its data.", path=path)
        name = without_dosage(canonical)
        drugbank = facts.get("drugbank_id")
        medline = facts.get("medline_plus_id")
        yield Concept(
            f"DRUGBANK:{drugbank}" if drugbank else name_id("drug", name),
            name,
            "drug",
            tuple(names[canonical]),
            (f"MEDLINEPLUS:{medline}",) if medline else (),
        )


def _recognizes(head: Head) -> bool:
    return head.text.startswith("{") and "drug_variant_to_canonical" in head.text


DRUG_NAMES = Format(
    "drug-names",
    "drugs",
    "drug_ner_dictionary.json, canonical names and variants",
    _recognizes,
    _read,
    revision=2,
)
