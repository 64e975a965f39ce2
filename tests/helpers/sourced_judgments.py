"""Small pools, and judgments of people and machines."""

import json

from irplatform.judging.judgments import Judgment, Source, write_judgments

ANN, BOB = Source("person", "ann"), Source("person", "bob")
BOSS = Source("person", "eve", "adjudicated")
LLM = Source("machine", "llm", "gpt-x 1")
TIME = "2026-11-30T09:41:07Z"


def judged(source, topic, grades, time=TIME):
    """Judgments of a source: document to grade."""
    return [Judgment(topic, document, grade, source, time) for document, grade in grades.items()]


def make_pool(folder, lines, *, strata=False):
    """Write a pool; lines are (topic, document, stratum, place), a place of 0 is not drawn."""
    folder.mkdir(parents=True)
    rows = "".join(f"{t}\t{d}\t{s}\t{place or ''}\n" for t, d, s, place in lines)
    (folder / "pool.tsv").write_text("topic\tdocument\tstratum\tplace\n" + rows)
    facts = {
        "id": "p1",
        "method": "stratified" if strata else "depth",
        "settings": {"strata": "2:1,9:0.5"} if strata else {},
        "seed": 1,
        "runs": [],
        "rounds": [sum(place > 0 for *_, place in lines)],
    }
    (folder / "pool.json").write_text(json.dumps(facts))
    return folder


def write(path, *judgments):
    """Write the judgments of several lists to a file."""
    write_judgments(path, [judgment for rows in judgments for judgment in rows])
    return path
