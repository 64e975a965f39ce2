"""Files of answers as other programs write them, and what their repair has to hold.

`python tests/helpers/answer_files.py 10000` checks as many files, with the seeds 0, 1, 2, …
"""

import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from irplatform.errors import InputError
from irplatform.tasks.submissions import fix_run

FORMS = ("biogen-a", "biogen-b", "biogen-2024", "bioasq")
TASK = """[[task]]
name = "own"
title = "Own"
[[task.rules]]
form = "{form}"
topic_ids = "181-183"
documents = "[1-9][0-9]{{0,8}}"
citations = 3
depth = 10
snippets = 10
tag = "[A-Za-z0-9]+"
"""
ADDRESS = "http://www.ncbi.nlm.nih.gov/pubmed/"
SPELLINGS = (
    *(str, int, float, lambda p: f"{p}.0", lambda p: f"00{p}", lambda p: f"PMID: {p}"),
    *(lambda p: f"https://pubmed.ncbi.nlm.nih.gov/{p}/", lambda p: f"{ADDRESS}{p}"),
    *(lambda p: f"www.ncbi.nlm.nih.gov/pubmed/{p}", lambda p: {"pmid": p}, lambda p: {"docid": p}),
    *(lambda p: {"id": int(p), "score": 0.5}, lambda p: {"document": f"{ADDRESS}{p}"}),
    *(lambda p: [p], lambda p: f"[{p}]", lambda p: f" {p} "),
)
"""How one PMID may be written."""
TEXTS = (", ".join, "; ".join, "\n".join, lambda p: " ".join(f"[{pmid}]" for pmid in p), json.dumps)
"""How several may be written in one text."""
JUNK = ("n/a", "PMC5", "10.1000/182", "https://example.org/5", "30,123,222", True, -5, 5.5)
EMPTY = (None, "")


class Written:
    """A file, and what is meant: by topic the PMIDs of each list, and the number of others."""

    def __init__(self, random_number: random.Random) -> None:
        self.random = random_number
        self.form = self.random.choice(FORMS)
        self.meant: dict[str, list[list[str]]] = {}
        self.others: Counter[str] = Counter()
        entries = [self.entry(topic) for topic in ("181", "182", "183")]
        self.content = self.laid_out(entries)

    def pmids(self, most: int = 3) -> list[str]:
        number = self.random.randint(0, most)
        return [str(n) for n in self.random.sample(range(10_000_000, 40_000_000), number)]

    def spelled(self, topic: str, pmids: list[str]) -> object:
        """A list of PMIDs in some spelling, with values among them that are none."""
        choice = self.random.random()
        if choice < 0.15 and pmids:
            return self.random.choice(TEXTS)(pmids)
        if choice < 0.25 and pmids:
            return dict.fromkeys(pmids, 0.5)
        if choice < 0.3 and len(pmids) == 1:
            return self.random.choice(SPELLINGS)(pmids[0])
        if choice < 0.35 and not pmids:
            return self.random.choice(EMPTY)
        values = [self.random.choice(SPELLINGS)(pmid) for pmid in pmids]
        if self.random.random() < 0.2:
            values.insert(self.random.randint(0, len(values)), self.random.choice(JUNK))
            self.others[topic] += 1
        if self.random.random() < 0.1:
            values.append(self.random.choice(EMPTY))
        return [values] if self.random.random() < 0.05 else values

    def entry(self, topic: str) -> dict[str, object]:
        name = self.random.choice((topic, topic, int(topic), float(topic), f"0{topic}"))
        run = self.random.choice(("us", "us", "us", 7))
        if self.form == "bioasq":
            pmids = self.pmids(10)
            self.meant[topic] = [pmids, *([pmid] for pmid in pmids[:2])]
            snippets = [self.snippet(pmid) for pmid in pmids[:2]]
            documents = self.spelled(topic, pmids)
            return {"id": name, "documents": documents, "snippets": snippets}
        if self.form == "biogen-2024":
            pmids = self.pmids()
            self.meant[topic] = [pmids]
            cited = ", ".join(pmids)
            marks = [f"[{cited}]", f"[PMID: {cited}]", f"[{'; '.join(pmids)}]"]
            mark = self.random.choice(marks) if pmids else ""
            return {
                "topic_id": name,
                "answer": f"So {mark}.",
                "references": self.spelled(topic, pmids),
            }
        key = "qa_id" if self.form == "biogen-a" else "topic_id"
        metadata = {"team_id": self.random.choice(("t", 5)), "run_id": run, key: name}
        sentences = []
        self.meant[topic] = []
        for _ in range(self.random.randint(1, 2)):
            keys = ("citations",)
            if self.form == "biogen-a":
                keys = ("supported_citations", "contradicted_citations")
            sentence: dict[str, object] = {"text": "So."}
            for citation_key in keys:
                pmids = self.pmids()
                self.meant[topic].append(pmids)
                sentence[citation_key] = self.spelled(topic, pmids)
            sentences.append(sentence)
        return {
            "metadata": metadata,
            "answer" if self.form == "biogen-a" else "responses": sentences,
        }

    def snippet(self, pmid: str) -> dict[str, object]:
        number = self.random.choice((int, str, float))
        section = self.random.choice(("abstract", "title", "sections.0", "Abstract"))
        return {
            "document": self.random.choice(SPELLINGS[:9])(pmid),
            "text": "So.",
            "beginSection": section,
            "endSection": section,
            "offsetInBeginSection": number(0),
            "offsetInEndSection": number(3),
        }

    def laid_out(self, entries: list[dict[str, object]]) -> bytes:
        indent = self.random.choice((None, None, 1))
        head = {"team_id": "t", "run_name": self.random.choice(("us", 7)), "contact_email": "a@b.c"}
        head = head if self.form == "biogen-2024" else {}
        key = {"bioasq": "questions", "biogen-2024": "results"}.get(self.form)
        if key is None or (not head and self.random.random() < 0.3):
            key = self.random.choice((None, None, "list", "answers", "questions", "topics"))
        if key is None:
            text = "\n".join(json.dumps(entry, indent=indent) for entry in entries) + "\n"
            text = "\n" * self.random.choice((0, 0, 2)) + text
        else:
            content = entries if key == "list" else {**head, key: entries}
            text = json.dumps(content, indent=indent)
        encoding = self.random.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"))
        return text.encode(encoding)


def read_back(content: bytes, form: str) -> dict[str, list[list[str]]]:
    """By topic, the PMIDs of each list of a repaired file."""
    if form == "bioasq":
        entries = json.loads(content)["questions"]
        lists = {e["id"]: [[d.removeprefix(ADDRESS) for d in e["documents"]]] for e in entries}
        for entry in entries:
            for snippet in entry["snippets"]:
                parts = [snippet.get(f"offsetIn{part}Section") for part in ("Begin", "End")]
                sound = parts == [0, 3] and snippet["beginSection"] in ("title", "abstract")
                lists[entry["id"]].append([snippet["document"].removeprefix(ADDRESS)] * sound)
        return lists
    if form == "biogen-2024":
        return {e["topic_id"]: [e["references"]] for e in json.loads(content)["results"]}
    keys = ("supported_citations", "contradicted_citations", "citations")
    read = {}
    for entry in map(json.loads, content.splitlines()):
        sentences = entry.get("answer") or entry.get("responses") or []
        name = entry["metadata"].get("qa_id") or entry["metadata"].get("topic_id")
        lists = [[*map(str, s[key])] for s in sentences for key in keys if key in s]
        read[name] = lists
    return read


def violations(seed: int, folder: Path) -> list[str]:
    """Repair a generated file; return what does not hold of the copy."""
    answers = Written(random.Random(seed))
    path, out, task = folder / "a.json", folder / "b.json", folder / f"{answers.form}.toml"
    path.write_bytes(answers.content)
    task.write_text(TASK.format(form=answers.form))
    try:
        fixed = fix_run(path, out, task=str(task), force=True)
    except InputError:
        return ["cannot be read"]
    except Exception as error:
        return [f"crash: {type(error).__name__}: {error}"]
    read = read_back(out.read_bytes(), answers.form)
    lost: Counter[int] = Counter()
    for lines in getattr(fixed.repair, "lost", {}).values():
        lost.update(lines)
    wrong = []
    others = sum(answers.others.values())
    for topic, lists in answers.meant.items():
        if topic not in read:
            wrong.append("an answer is gone")
        elif read[topic] != lists:
            accepted = "refused" if fixed.check.refused else "accepted"
            wrong.append(f"other PMIDs than were meant, {accepted}")
        had = any(lists) or answers.others[topic]
        if not fixed.check.refused and had and not any(read.get(topic, [])):
            wrong.append("accepted with nothing left of an answer")
    if lost.total() != others:
        wrong.append("what was left out is not counted")
    emptied = any(answers.others[t] and not any(p) for t, p in answers.meant.items())
    if fixed.check.refused and not emptied:
        errors = [p.message for p in fixed.check.problems if p.level == "error"]
        wrong.append(f"refused though all can be read: {errors[0][:50]}")
    return wrong


def main(number: int) -> None:
    """Print how many files are wrong, and in what."""
    counts: Counter[str] = Counter()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(number):
            wrong = violations(seed, Path(folder))
            bad += wrong not in ([], ["cannot be read"])
            counts.update({*(message.partition(": ")[0] for message in wrong)})
            if "-v" in sys.argv and wrong:
                print(seed, wrong)
    print(f"{bad:,} of {number:,} files: {dict(counts.most_common())}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
