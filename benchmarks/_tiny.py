"""The tiny form of every benchmark: its arguments, and generated data in the shape of the real.

It shows that a program runs to its end, on every machine and in seconds. Its figures mean nothing.
The texts are those of the demo collection; the files have the names and columns of the real ones.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import irplatform_demo
from irplatform_demo.collection import demo, demo_train

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from irplatform.data import Collection
    from irplatform.plugin import Document

_POOLED = ["--topics", "2", "--documents", "20", "--rounds", "1"]

ARGUMENTS: dict[str, Sequence[str]] = {
    "click_log": ("--lines", "2000", "--large", "4000", "--rounds", "1"),
    "deepsense_rerank": ("--documents", "4", "--rounds", "1"),
    "delta_rerank": _POOLED,
    "device_rerank": _POOLED,
    "drmm_rerank": _POOLED,
    "encoding": ("--count", "4", "--texts", "titles", "--rounds", "1"),
    "evaluate": ("--topics", "3", "--documents", "30", "--rounds", "1"),
    "fine_tuning": ("--documents", "1", "--rounds", "1"),
    "first_stage": ("--topics", "5", "--depth", "20", "--rounds", "1"),
    "forward_index": ("--sizes", "300", "600", "--repeats", "1"),
    "graphene_rerank": (
        *("--articles", "40", "--topics", "1", "--documents", "20", "--rounds", "1"),
    ),
    "graphene_scale": (
        *("--sizes", "60", "90", "--plain", "20", "60"),
        *("--steps", "epoch", "--rounds", "1", "--words", "2000"),
    ),
    "growth": (
        *("--sizes", "300", "600", "--topics", "20"),
        *("--stages", "forward index"),
    ),
    "indexing": ("--rounds", "1"),
    "late_interaction": (
        *("--model", "random", "--count", "4", "--queries", "2", "--rounds", "1"),
    ),
    "many_topics": (
        *("--topics", "5", "--depths", "20", "--threads", "1", "--rounds", "1"),
        *("--generated", "200", "--all"),
    ),
    "medline": ("--sizes", "200"),
    "pool_lines": ("--topics", "5", "--depth", "20", "--rounds", "1"),
    "pooling": ("--budgets", "80", "--seeds", "1", "--left-out", "1"),
    "processors": (),
    "query_parts": ("--parts", "titles"),
    "run_files": ("--topics", "20", "--documents", "20", "--rounds", "1"),
    "serve": ("--clients", "2", "--seconds", "0.3", "--reranker", "bm25-title", "--rounds", "1"),
    "sevmos_rerank": _POOLED,
    "sparse_encoding": (
        *("--shape", "minilm", "--count", "4", "--texts", "titles", "--rounds", "1"),
    ),
    "sparse_search": ("--random", "300", "--topics", "5", "--engines", "--rounds", "1"),
    "startup": ("--rounds", "1"),
    "study": ("--parts", "bm25", "--rounds", "1"),
    "wmd_rerank": (*_POOLED, "--length", "15"),
    "workers": ("--workers", "1", "--steps", "medline", "--articles", "200"),
}
"""Arguments of each program, by name."""

_KNOWLEDGE = {
    "mesh": "mesh_descriptors.tsv.gz",
    "doid": "doid.json.gz",
    "hgnc": "hgnc_entries.tsv.gz",
    "civic": "civic_biomarkers_2016.tsv.gz",
    "dgidb": "dgidb_CancerCommons_INTERACTIONS.tsv",
    "drugs": "drug_ner_dictionary.json.gz",
}
_TOPIC = (
    '<topic number="{id}"><disease>{disease}</disease><gene>{gene}</gene>'
    "<demographic>60-year-old female</demographic></topic>\n"
)
_COLLECTION = """\
id = "trec-pm-pool-{year}"
title = "Generated articles"
measures = ["nDCG@20", "AP"]
[documents]
files = ["docs.jsonl.gz"]
id = "id"
title = "title"
abstract = "abstract"
fields = ["mesh"]
[topics]
file = "topics{year}.xml"
format = "trec-pm"
query = "{{disease}} {{gene}}"
[qrels]
file = "qrels{year}.txt"
[train]
collection = "{other}.toml"
"""


def write_data(folder: Path, home: Path) -> None:
    """Write collections and knowledge bases where `--data` expects them, and add the bases."""
    _write_pool(folder / "trec-pm")
    documents = list(islice(demo().corpus, 400))
    for name, splits in (
        ("citations", ("train", "dev")),
        ("nfcorpus", ("train", "dev")),
        ("med", ("test",)),
    ):
        _write_beir(folder / name, documents, splits)
    _write_knowledge(folder / "kb")
    for name, file in _KNOWLEDGE.items():
        command = ["kb", "add", name, str(folder / "kb" / file)]
        subprocess.run(
            [sys.executable, "-m", "irplatform", *command],
            env={**os.environ, "IRPLATFORM_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            check=True,
        )


def _write_pool(folder: Path) -> None:
    folder.mkdir(parents=True)
    years: tuple[tuple[str, str, Collection], ...] = (
        ("2017", "2018", demo()),
        ("2018", "2017", demo_train()),
    )
    with gzip.open(folder / "docs.jsonl.gz", "wt") as file:
        for document in demo().corpus:
            texts = {"id": document.id, "title": document.title, "abstract": document.abstract}
            file.write(json.dumps({**texts, "mesh": list(document.fields["mesh"])}) + "\n")
    for year, other, collection in years:
        (folder / f"{year}.toml").write_text(_COLLECTION.format(year=year, other=other))
        with (folder / f"topics{year}.xml").open("w") as file:
            file.write(f'<topics task="{year}">\n')
            for topic in collection.load_topics():
                fields = {name: escape(str(value)) for name, value in topic.fields.items()}
                file.write(_TOPIC.format(id=topic.id, **fields))
            file.write("</topics>\n")
        with (folder / f"qrels{year}.txt").open("w") as file:
            for topic_id, judged in collection.load_qrels().items():
                file.writelines(f"{topic_id} 0 {doc} {grade}\n" for doc, grade in judged.items())


def _write_beir(folder: Path, documents: Sequence[Document], splits: Iterable[str]) -> None:
    """Titles are queries, and their documents relevant."""
    (folder / "qrels").mkdir(parents=True)
    with gzip.open(folder / "corpus.jsonl.gz", "wt") as file:
        for document in documents:
            record = {"_id": document.id, "title": document.title, "text": document.abstract}
            file.write(json.dumps(record) + "\n")
    queries = {f"q{number}": document for number, document in enumerate(documents[:40])}
    with gzip.open(folder / "queries.jsonl.gz", "wt") as file:
        for query_id, document in queries.items():
            file.write(json.dumps({"_id": query_id, "text": document.title}) + "\n")
    for place, split in enumerate(splits):
        with (folder / "qrels" / f"{split}.tsv").open("w") as file:
            file.write("query-id\tcorpus-id\tscore\n")
            for query_id, document in islice(queries.items(), place * 20, place * 20 + 20):
                file.write(f"{query_id}\t{document.id}\t1\n")


def _write_knowledge(folder: Path) -> None:
    folder.mkdir(parents=True)
    diseases, genes, drugs = (_demo_table(name) for name in ("diseases", "genes", "drugs"))
    headings = [(row["heading"], row["name"]) for row in diseases]
    with gzip.open(folder / "mesh_descriptors.tsv.gz", "wt") as file:
        for number, (heading, name) in enumerate(headings, 1):
            file.write(f"D{number:06}\t{heading}\t{name}\tC04.{number:03}\t\n")
    terms = [
        {"id": f"DOID:{number}", "name": row["name"], "synonyms": row["synonyms"].split("|")}
        for number, row in enumerate(diseases, 1)
    ]
    with gzip.open(folder / "doid.json.gz", "wt") as file:
        json.dump(terms, file)
    with gzip.open(folder / "hgnc_entries.tsv.gz", "wt") as file:
        file.write("HGNC ID\tApproved symbol\tApproved name\tStatus\tAlias symbols\n")
        for number, row in enumerate(genes, 1):
            aliases = row["synonyms"].replace("|", ", ")
            file.write(f"HGNC:{number}\t{row['symbol']}\tgene {number}\tApproved\t{aliases}\n")
    pairs = list(zip(genes, drugs, diseases, strict=False))
    with gzip.open(folder / "civic_biomarkers_2016.tsv.gz", "wt") as file:
        columns = (
            "genesymbol entrezgene variant_name evidence_type evidence_direction evidence_level "
            "clinical_significance pubmed_id disease_ontology_id disease_name drug_names"
        )
        file.write("\t".join(columns.split()) + "\n")
        for number, (gene, drug, disease) in enumerate(pairs, 1):
            cells = [gene["symbol"], number, "V600E", "Predictive", "Supports", "B: Clinical"]
            cells += ["Sensitivity", number, number, disease["name"], drug["name"]]
            file.write("\t".join(map(str, cells)) + "\n")
    with (folder / "dgidb_CancerCommons_INTERACTIONS.tsv").open("w") as file:
        file.write("gene_name\tgene_concept_id\tdrug_name\tdrug_concept_id\tinteraction_type\n")
        for number, (gene, drug, _) in enumerate(pairs, 1):
            cells = [gene["symbol"], f"hgnc:{number}", drug["name"], f"rxcui:{number}", "inhibitor"]
            file.write("\t".join(cells) + "\n")
    names = {row["name"]: [row["name"]] for row in drugs}
    names |= {row["trade"].lower(): [row["name"]] for row in drugs if row["trade"]}
    dictionary = {
        "drug_variant_to_canonical": names,
        "drug_canonical_to_data": {row["name"]: {"name": row["name"]} for row in drugs},
        "drug_variant_to_variant_data": {name: {"is_brand": False} for name in names},
    }
    with gzip.open(folder / "drug_ner_dictionary.json.gz", "wt") as file:
        json.dump(dictionary, file)


def _demo_table(name: str) -> list[dict[str, str]]:
    path = Path(irplatform_demo.__file__).with_name(f"{name}.tsv")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
