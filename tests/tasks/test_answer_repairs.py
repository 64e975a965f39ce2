"""Answers of other programs are repaired to what they mean, or refused; nothing goes unsaid."""

import json

import pytest
from answer_files import violations
from commands import call

from irplatform.tasks.submissions import check_runs, fix_run

PUBMED = "http://www.ncbi.nlm.nih.gov/pubmed/"
B = "trec-biogen-2025-b"
FIRST, LAST = 181, 210


@pytest.mark.parametrize("seed", range(60))
def test_generated_files_keep_every_pmid_or_say_what_is_gone(tmp_path, seed):
    assert violations(seed, tmp_path) in ([], ["cannot be read"])


def entry(topic, citations=("20000001",), run="us"):
    said = {"text": "Sleep more.", "citations": citations}
    return {
        "metadata": {"team_id": "t", "run_id": run, "topic_id": str(topic)},
        "responses": [said],
    }


def lines(first, **others):
    entries = [first, *(entry(topic, **others) for topic in range(FIRST + 1, LAST + 1))]
    return "".join(json.dumps(answer) + "\n" for answer in entries)


def repaired(folder, text, task=B):
    path, out = folder / "a.json", folder / "b.json"
    path.write_text(text)
    fixed = fix_run(path, out, task=task, force=True)
    return fixed, out.read_text()


def errors(check):
    return [problem.message for problem in check.problems if problem.level == "error"]


def checked(folder, text, task=B):
    path = folder / "c.json"
    path.write_text(text)
    (check,) = check_runs(path, task=task).values()
    return errors(check)


def test_an_object_of_citations_is_taken_by_its_keys_as_nist_does(tmp_path):
    text = lines(entry(FIRST, {"20000002": 0.5, "20000003": {}}))
    assert checked(tmp_path, text) == []
    labelled, _ = repaired(tmp_path, lines(entry(FIRST, {"PMID:20000002": 0.5})))
    assert not labelled.check.refused
    fixed, copy = repaired(tmp_path, text)
    assert not fixed.check.refused
    (sentence,) = json.loads(copy.splitlines()[0])["responses"]
    assert sentence["citations"] == ["20000002", "20000003"]


@pytest.mark.parametrize(
    "citations",
    [["n/a"], "unknown", {"1": "20000002", "2": "20000003"}, ["PMC20000002"], True, "30,123,222"],
)
def test_an_answer_that_loses_all_citations_is_not_accepted(tmp_path, citations):
    text = lines(entry(FIRST, citations))
    assert checked(tmp_path, text) != []
    fixed, _ = repaired(tmp_path, text)
    assert errors(fixed.check) == [
        "'181' has lost all of its citations: 1 citations that are no PMIDs."
    ]
    assert fixed.repair.lost == {"citations that are no PMIDs": [1]}


def test_what_an_answer_loses_is_counted_by_value(tmp_path, capsys, monkeypatch):
    cited = ["n/a", 20000001, "PMC5", *range(20000002, 20000006)]
    (tmp_path / "a.jsonl").write_text(lines(entry(FIRST, cited)))
    out = tmp_path / "b.jsonl"
    result = call(
        capsys, monkeypatch, "submit", "fix", tmp_path / "a.jsonl", "--task", B, "-o", out
    )
    assert [" ".join(line.split()) for line in result.out.splitlines()][:2] == [
        "left out 2 values citations that are no PMIDs: 1, 1",
        "left out 2 values citations beyond 3: 1, 1",
    ]
    assert result.code == 0


@pytest.mark.parametrize(("run", "name"), [(7, "7"), (7.0, "7"), ("us", "us")])
def test_the_name_of_the_run_is_that_of_most_entries_as_text(tmp_path, run, name):
    fixed, copy = repaired(tmp_path, lines(entry(FIRST, run=12), run=run))
    assert not fixed.check.refused
    assert {json.loads(line)["metadata"]["run_id"] for line in copy.splitlines()} == {name}
    assert "there is no text 'metadata.run_id', but 12." in checked(
        tmp_path, lines(entry(FIRST, run=12))
    )


@pytest.mark.parametrize(
    ("layout", "fault"),
    [
        (json.dumps, ""),
        (lambda e: "".join(json.dumps(answer) + "\n\n" for answer in e), "write one entry a line"),
        (
            lambda e: "\n" + "".join(json.dumps(answer) + "\n" for answer in e),
            "write one entry a line",
        ),
        (
            lambda e: "\n".join(json.dumps(answer, indent=2) for answer in e),
            "write one entry a line",
        ),
        (lambda e: json.dumps({"topics": e}), "the entries are under 'topics'"),
    ],
)
def test_entries_are_read_in_every_layout(tmp_path, layout, fault):
    text = layout([entry(topic) for topic in range(FIRST, LAST + 1)])
    messages = checked(tmp_path, text)
    assert [message[: len(fault)] for message in messages] == ([fault] if fault else [])
    fixed, copy = repaired(tmp_path, text)
    assert not fixed.check.refused
    assert len(copy.splitlines()) == 30


def test_sentences_are_never_replaced(tmp_path):
    for responses in ([], None, "Sleep more.", {"text": "Sleep more."}, ["Sleep more."]):
        fixed, copy = repaired(tmp_path, lines({**entry(FIRST), "responses": responses}))
        (first, *_) = map(json.loads, copy.splitlines())
        if responses:
            assert first["responses"] == [{"text": "Sleep more.", "citations": []}]
        else:
            assert first["responses"] == responses
            assert fixed.check.refused is (responses is None)


@pytest.mark.parametrize(
    "response", ["Sleep more [20000001].", {"text": "Sleep more.", "references": ["20000001"]}]
)
def test_citations_in_another_place_are_not_taken_for_none(tmp_path, response):
    fixed, copy = repaired(tmp_path, lines({**entry(FIRST), "responses": [response]}))
    assert json.loads(copy.splitlines()[0])["responses"] == [response]
    assert fixed.check.refused


TWO = ["20000002", "20000003"]


@pytest.mark.parametrize(
    ("citations", "references", "expected"),
    [
        ([0, 1], TWO, TWO),
        ([1, 2], TWO, TWO),
        (["1", "2"], TWO, TWO),
        (["[2]"], TWO, TWO[1:]),
        ([0.0], [20000002], [20000002]),
        ({"0": 0.9, "1": 0.1}, TWO, TWO),
        ([1], {"1": "20000002", "2": "20000003"}, TWO[:1]),
        ([1, 0], [{"pmid": 20000002}, "PMID:20000003"], TWO[::-1]),
        (TWO, TWO, TWO),
        (["20000009"], TWO, ["20000009"]),
        (["2", "1"], ["1", "2"], ["2", "1"]),
    ],
)
def test_citations_that_are_places_become_the_references_there(
    tmp_path, citations, references, expected
):
    first = {**entry(FIRST, citations), "references": references}
    are_places = citations not in (TWO, ["20000009"], ["2", "1"])
    messages = checked(tmp_path, lines(first))
    assert any("cites places in its 'references'" in message for message in messages) is are_places
    fixed, copy = repaired(tmp_path, lines(first))
    assert not fixed.check.refused
    assert json.loads(copy.splitlines()[0])["responses"][0]["citations"] == expected


@pytest.mark.parametrize(
    ("citations", "references"),
    [([1], ["20000002"] * 3), ([0, 2], TWO), ([1, "20000003"], TWO), ([0, "20000009"], TWO)],
)
def test_citations_that_may_be_places_or_ids_are_not_accepted(tmp_path, citations, references):
    fixed, _ = repaired(tmp_path, lines({**entry(FIRST, citations), "references": references}))
    assert fixed.check.refused


@pytest.mark.parametrize("citations", [[1, 0], [1], ["0"]])
def test_answers_in_the_layout_of_trec_rag_are_read(tmp_path, citations):
    first = {**entry(FIRST), "references": TWO + TWO}
    first["answer"] = [{"text": "Sleep more.", "citations": citations}]
    del first["responses"]
    fixed, copy = repaired(tmp_path, lines(first))
    assert not fixed.check.refused
    mended = json.loads(copy.splitlines()[0])
    cited = [TWO[int(place)] for place in citations]
    assert mended["responses"] == [{"text": "Sleep more.", "citations": cited}]
    assert "answer" not in mended


def test_an_entry_with_its_id_beside_its_sentences_gets_metadata(tmp_path):
    first = {"team_id": "t", "run_id": "us", "topic_id": 181.0, **entry(FIRST)}
    del first["metadata"]
    fixed, copy = repaired(tmp_path, lines(first))
    assert not fixed.check.refused
    assert json.loads(copy.splitlines()[0])["metadata"]["topic_id"] == "181"


def of_2024(folder, answer, references):
    results = [
        {"topic_id": str(topic), "answer": answer, "references": references}
        for topic in range(116, 181)
    ]
    head = {"team_id": "t", "run_name": 7, "contact_email": "a@example.org"}
    return repaired(folder, json.dumps({**head, "results": results}), "trec-biogen-2024")


@pytest.mark.parametrize(
    ("answer", "references", "mended"),
    [
        ("So [PMID: 20000001; 20000002].", ["20000001", "20000002"], "So [20000001, 20000002]."),
        ("So [1]. No [2, 1].", ["20000001", 20000002.0], "So [20000001]. No [20000002, 20000001]."),
        ("So [20000001].", "20000001", "So [20000001]."),
        ("So [1, 2].", {"1": "20000001", "2": 20000002}, "So [20000001, 20000002]."),
        ("So [2], [1].", ["10.1000/1", "20000002"], "So [20000002], ."),
    ],
)
def test_citations_in_a_text_are_those_of_the_references(tmp_path, answer, references, mended):
    fixed, copy = of_2024(tmp_path, answer, references)
    assert errors(fixed.check) == []
    content = json.loads(copy)
    assert content["run_name"] == "7"
    assert content["results"][0]["answer"] == mended


def test_references_that_no_sentence_cites_are_not_dropped_unsaid(tmp_path):
    fixed, _ = of_2024(tmp_path, "So (20000001).", ["20000001"])
    assert "'116' has lost all of its citations: 1 references that the answer" in str(
        errors(fixed.check)[0]
    )
    fixed, copy = of_2024(tmp_path, ["So.", "No."], ["20000001"])
    assert json.loads(copy)["results"][0]["answer"] == ["So.", "No."]
    assert fixed.check.refused


def test_an_answer_of_2024_has_ten_sentences(tmp_path):
    eleven, *_ = of_2024(tmp_path, "Sleep more [1]. " * 11, ["20000001"])
    assert errors(eleven.check)[0] == (
        "the answer of topic '116' has 11 sentences; at most 10 are accepted."
    )
    bullets, *_ = of_2024(tmp_path, "- Sleep more [1].\n" * 11, ["20000001"])
    assert errors(bullets.check) == errors(eleven.check)
    ten, *_ = of_2024(tmp_path, "Sleep more [1]. " * 10, ["20000001"])
    assert not ten.check.refused


SNIPPET = {
    "document": "https://pubmed.ncbi.nlm.nih.gov/20000001/",
    "text": "Sleep more.",
    "beginSection": "sections.0",
    "endSection": "Abstract",
    "offsetInBeginSection": "0",
    "offsetInEndSection": 11.0,
}


def bioasq(folder, **change):
    question = {"id": "5a", "documents": [20000001.0], "snippets": [{**SNIPPET, **change}]}
    return repaired(folder, json.dumps([question], indent=1), "bioasq-13b-a")


def test_snippets_are_written_as_bioasq_has_them(tmp_path):
    fixed, copy = bioasq(tmp_path)
    assert errors(fixed.check) == []
    (question,) = json.loads(copy)["questions"]
    assert question["documents"] == [f"{PUBMED}20000001"]
    assert question["snippets"] == [
        {
            **SNIPPET,
            "document": f"{PUBMED}20000001",
            "beginSection": "abstract",
            "endSection": "abstract",
            "offsetInBeginSection": 0,
            "offsetInEndSection": 11,
        }
    ]


def test_a_check_says_what_to_write(tmp_path):
    question = {"id": 7.0, "documents": [SNIPPET["document"]], "snippets": [SNIPPET]}
    messages = checked(tmp_path, json.dumps({"questions": [question]}), "bioasq-13b-a")
    address = f"write '{PUBMED}20000001' for 'https://pubmed.ncbi.nlm.nih.gov/20000001/'."
    assert messages == [
        "'id' of entry 1 is 7.0; write '7'.",
        f"question '7': {address}",
        f"snippet 1 of question '7': {address}",
        "snippet 1 of question '7': 'endSection' is 'Abstract', neither title nor abstract.",
        "snippet 1 of question '7': write the offsets '0' and 11.0 as 0 and 11.",
    ]


@pytest.mark.parametrize("change", [{"text": None}, {"offsetInEndSection": "x"}, {"document": 0.5}])
def test_a_question_that_loses_all_snippets_is_not_accepted(tmp_path, change):
    fixed, _ = bioasq(tmp_path, **change)
    assert errors(fixed.check)[0].startswith("'5a' has lost all of its snippets: 1 snippets")


def test_a_section_of_a_full_text_stays_and_is_refused(tmp_path):
    fixed, copy = bioasq(tmp_path, beginSection="sections.1")
    assert "sections.1" in copy
    assert "neither title nor abstract" in errors(fixed.check)[0]
