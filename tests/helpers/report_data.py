"""A collection with three runs for reports: twelve topics, and titles that would be scripts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "</script><script>window.pwned = 1</script> & \"lungs\" <b>'bold'</b>"
"""The title of a document, and the query of a topic."""
SYSTEMS = ("base", "other", "third")
TOPICS = 12
_WORDS = ("lung", "heart", "liver", "bone", "brain", "skin", "blood", "eye", "ear", "hand", "foot")


def write_collection(folder: Path) -> Path:
    """Write a collection in BEIR layout; its split is "dev"."""
    folder.mkdir(parents=True)
    documents = [{"_id": "d0", "title": HOSTILE, "text": "On cancers of the lung."}]
    for number in range(1, 60):
        word = _WORDS[number % len(_WORDS)]
        text = f"Background of number {number}. " * 12 + f"A cancer of the {word} was treated. "
        documents.append({"_id": f"d{number}", "title": f"The {word}, {number}", "text": text * 2})
    queries = [{"_id": "t0", "text": f"cancer {HOSTILE}"}]
    queries += [{"_id": f"t{n}", "text": f"{_WORDS[n % 11]} cancer"} for n in range(1, TOPICS)]
    for name, records in (("corpus", documents), ("queries", queries)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines)
    judged = [f"t{t}\td{d}\t{(t + d) % 3}" for t in range(TOPICS) for d in range(0, 60, 2)]
    (folder / "qrels").mkdir()
    (folder / "qrels" / "dev.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]))
    return folder


def write_runs(folder: Path) -> list[Path]:
    """Write a run for each system: 30 documents a topic, in different orders."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, system in enumerate(SYSTEMS):
        lines = []
        for topic in range(TOPICS):
            order = sorted(
                range(30 + 10 * place), key=lambda d: (d * (7 + topic * place) + topic) % 31
            )
            lines += [
                f"t{topic} Q0 d{document} {rank} {100 - rank} {system}\n"
                for rank, document in enumerate(order[:30], start=1)
            ]
        (folder / f"{system}.run").write_text("".join(lines))
    return [folder / f"{system}.run" for system in SYSTEMS]
