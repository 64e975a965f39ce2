"""No run that NIST's check scripts would refuse passes the check of its task.

The rules are those of the scripts for Clinical Decision Support 2016, Clinical Trials 2021 and
TREC-COVID (Perl), and of the checker of runs in NIST's present submission system (Python), which
RAG and RAGTIME have, told anew.
"""

import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irplatform.tasks.catalogue.names import known_tasks
from irplatform.tasks.check import check_submission

TASKS = known_tasks()
RULES = {
    "trec-cds-2016": (range(1, 31), "[A-Za-z0-9]{1,12}", "[0-9]{5,}", "3245678"),
    "trec-ct-2021": (range(1, 76), "[A-Za-z0-9_]{1,12}", "NCT[0-9]+", "NCT0001"),
    "trec-covid-round1": (range(1, 31), "[A-Za-z0-9_.-]{1,24}", "[a-z0-9]{8}", "ug7v899j"),
    "trec-ragtime-2025-mlir": (range(1001, 1123), r"\S+", r"\S+", "01f01b3d-89c7"),
    "trec-rag-2025-retrieval": (
        TASKS["trec-rag-2025-retrieval"].topic_ids,
        r"\S+",
        r"msmarco_v2\.1_doc_[0-9]+_[0-9]+#[0-9]+_[0-9]+",
        "msmarco_v2.1_doc_51_766815931#1_1606878411",
    ),
}
"""Task → its topics, tags and document ids as the script has them, and a sound id."""
MOST = 1000


def faults(lines, topics, tag_form, id_form):
    """Yield why a script refuses a run."""
    names = [str(topic) for topic in topics]
    retrieved = Counter()
    first_tag = None
    for line in filter(str.strip, lines):
        fields = line.split()
        if len(fields) != 6:
            yield "wrong number of fields"
            return
        topic, second, document, rank, _, tag = fields
        if first_tag is None and not re.fullmatch(tag_form, tag, re.ASCII):
            yield "run tag is malformed"
        first_tag = first_tag or tag
        if tag != first_tag:
            yield "run tag inconsistent"
        if topic not in names:
            yield "unknown topic"
        if second != "Q0":
            yield "field 2"
        if not re.fullmatch("[0-9]+", rank, re.ASCII) or str(int(rank)) != rank:
            yield "rank must be a positive integer"
        if not re.fullmatch(id_form, document, re.ASCII):
            yield "unknown document id"
        retrieved[topic, document] += 1
    if any(times > 1 for times in retrieved.values()):
        yield "retrieved more than once"
    per_topic = Counter(topic for topic, _ in retrieved)
    if not all(0 < per_topic[topic] <= MOST for topic in names):
        yield "no documents, or too many, for a topic"


CHANGES = st.lists(
    st.tuples(
        st.integers(0, 70),
        st.integers(0, 6),
        st.sampled_from(
            [
                "",
                "0",
                "01",
                "-1",
                "99",
                "1.5",
                "Q0",
                "q0",
                "x",
                "a b",
                "NCT7",
                "ug7v899j",
                "PMC1",
                "é",
            ]
        ),
    ),
    max_size=3,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@pytest.mark.parametrize("name", RULES)
@given(changes=CHANGES, start=st.integers(0, 1), tag=st.sampled_from(["mine", "my-1", "a" * 13]))
def test_what_a_script_refuses_is_refused(tmp_path, name, changes, start, tag):
    topics, tag_form, id_form, document = RULES[name]
    rows = [
        [str(topic), "Q0", (document[:-1] + str(rank)), str(rank), str(9 - rank), tag]
        for topic in topics
        for rank in (1, 2)
    ][start * 2 :]
    for row, column, text in changes:
        if row < len(rows):
            rows[row][column : column + 1] = [text]
    lines = [" ".join(row) for row in rows]
    path = tmp_path / "a.run"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    check = check_submission(path, TASKS[name])
    reason = next(faults(lines, topics, tag_form, id_form), "")
    if reason:
        assert check.refused, reason
    elif check.refused:  # stricter only by rules that the task has elsewhere
        answer = " ".join(problem.message for problem in check.problems)
        assert "the score" in answer or "tag" in answer
