"""Makes judgments of simulated clicks, as docs/results-clicks.md measures them.

    python qrels/simulated_clicks.py COLLECTION OUT [NOISE…]

For each noise (0, 0.1, 0.3, 0.5) OUT gets a log, `log-NOISE.tsv.gz`, and a collection of its
levels, `noise-NOISE`. Its split `test-grades` has the true grades of the documents of `test`.
"""

import argparse
from pathlib import Path

from irplatform.building.click_judgments import normalize, query_id
from irplatform.building.click_simulation import Behaviour, SessionSettings, simulate_clicks
from irplatform.building.clicks import ClickSettings, from_clicks
from irplatform.collections.beir import QRELS_HEADER, qrels_path
from irplatform.errors import InputError
from irplatform.registry.loading import registry

NOISES = (0.0, 0.1, 0.3, 0.5)
RETRIEVERS = "bm25+rm3+qld"


def make(collection: str, out: Path, noise: float) -> Path:
    """Make the log and the folder of one noise; return the folder.

    Users are shown what three retrievers find, and look at every rank alike: only a document's
    grade and the noise decide on a click.
    """
    behaviour = Behaviour(decay=0, noise=noise)
    log, folder = out / f"log-{noise:g}.tsv.gz", out / f"noise-{noise:g}"
    settings = SessionSettings(shuffle=100, behaviour=behaviour)
    simulate_clicks(collection, log, settings, retriever=RETRIEVERS)
    from_clicks(log, folder, ClickSettings(), collection)
    write_grades(collection, folder)
    return folder


def write_grades(collection: str, folder: Path) -> None:
    """Write the split `test-grades`; topics of the same query count as one, by the best grade."""
    judged = registry().collection(collection)
    grades: dict[str, dict[str, int]] = {}
    for topic in judged.load_topics():
        of_query = grades.setdefault(query_id(normalize(topic.query)), {})
        for document, grade in judged.qrels.get(topic.id, {}).items():
            of_query[document] = max(int(grade), of_query.get(document, 0))
    with qrels_path(folder, "test-grades").open("wb") as file:
        file.write(QRELS_HEADER)
        lines = qrels_path(folder, "test").read_text(encoding="utf-8").splitlines()
        for query, document, _ in map(str.split, lines[1:]):
            file.write(f"{query}\t{document}\t{grades[query].get(document, 0)}\n".encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("collection")
    parser.add_argument("out", type=Path)
    parser.add_argument("noises", nargs="*", type=float, default=NOISES, help="0 to 1")
    options = parser.parse_args()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        for noise in options.noises:
            print(make(options.collection, options.out, noise))
    except (InputError, OSError) as error:
        parser.error(str(error))
