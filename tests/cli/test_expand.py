"""`--expand`, `--query-plan` and `--explain` on the command line."""

import json

import pytest

OWN = "id\tname\tkind\tsynonyms\nDRUG:c\tXalkori\tdrug\tcrizotinib\n"


def test_a_missing_knowledge_base_is_named_with_the_command_that_adds_it(platform, folder):
    outcome = platform("run", "--collection", "small", "--expand", "mesh")
    assert outcome.code == 2
    assert "`platform kb add mesh FILE`" in outcome.err
    assert not (folder / "runs").exists()


def test_a_retriever_that_cannot_expand_is_named(platform, drugs):
    outcome = platform("run", "--collection", "small", "--first-stage", "rm3", "--expand", "own")
    assert outcome.code == 2
    assert "rm3 cannot expand queries. These retrievers can: bm25." in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--query-plan", "plan.toml"), "no effect without --expand"),
        (("--every-name",), "--every-name has no effect without --explain."),
        (("--expand", " ,"), "--expand is empty"),
        (("--expand", "own", "--query-plan", "none.toml"), "none.toml: there is no such file"),
        (("--expand", "none", "--query-plan", "plan.toml"), "no effect without --expand"),
    ],
)
def test_wrong_use_is_refused(platform, drugs, arguments, message):
    outcome = platform("search", "--collection", "small", "--query", "mice", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


@pytest.mark.java
def test_a_query_finds_the_other_names_and_can_be_looked_at(platform, drugs):
    arguments = ("search", "--collection", "small", "--query", "xalkori", "--json")
    assert platform(*arguments).json["hits"] == []
    answer = platform(*arguments, "--expand", "own", "--explain").json
    assert [hit["id"] for hit in answer["hits"]] == ["d1"]
    assert answer["explanation"]["parts"][0]["text"] == "xalkori"
    arguments = arguments[:-1]
    short = platform(*arguments, "--expand", "own", "--explain").out
    assert '× contents: names of (xalkori): "xalkori", "crizotinib"   [text.phrase]' in short
    text = platform(*arguments, "--expand", "own", "--explain", "--every-name").out
    assert '1 × contents: "crizotinib" (synonym, DRUG:c synonym)' in text
    plain = platform(*arguments, "--explain").out
    assert "contents: xalkori" in plain


@pytest.mark.java
def test_none_searches_the_words(platform, drugs):
    arguments = ("search", "--collection", "small", "--query", "xalkori", "--expand")
    assert platform(*arguments, "own", "--json").json["hits"]
    assert platform(*arguments, "none", "--json").json["hits"] == []


@pytest.mark.java
def test_the_table_says_that_queries_were_expanded_and_plain_runs_stay_as_they_are(
    platform, drugs, folder
):
    plain = platform("run", "--collection", "small", "--run-dir", "plain")
    assert "expanded" not in plain.out
    expanded = platform("run", "--collection", "small", "--run-dir", "more", "--expand", "own")
    assert "bm25: queries expanded with own" in expanded.out
    again = platform("run", "--collection", "small", "--run-dir", "again", "--json")
    assert again.code == 0
    assert (folder / "again" / "bm25.run").read_bytes() == (
        folder / "plain" / "bm25.run"
    ).read_bytes()


@pytest.mark.java
def test_a_plan_and_settings_weigh_the_query(platform, drugs, folder):
    (folder / "plan.toml").write_text("[text]\nphrase = 2.5\n")
    arguments = ("search", "--collection", "small", "--query", "xalkori", "--expand", "own")
    arguments = (*arguments, "--query-plan", "plan.toml", "--explain")
    assert "2.5 × contents: names of (xalkori): " in platform(*arguments).out
    set_here = platform(*arguments, "--set", "bm25.plan.text.phrase=4").out
    assert "4 × contents: names of (xalkori): " in set_here


@pytest.mark.java
def test_a_replaced_knowledge_base_is_searched_with_at_once(platform, drugs, folder):
    arguments = ("run", "--collection", "small", "--expand", "own", "--run-dir", "x")
    assert platform(*arguments).code == 0
    before = (folder / "x" / "bm25.run").read_bytes()
    (folder / "own.tsv").write_text(OWN + "DRUG:m\tmice\tdrug\tliposarcoma\n")
    assert platform("kb", "add", "own", "own.tsv").code == 0
    assert platform(*arguments, "--force").code == 0
    assert (folder / "x" / "bm25.run").read_bytes() != before


@pytest.mark.java
def test_topics_that_the_plan_was_chosen_on_are_told_of_even_if_the_run_is_in_the_cache(
    platform, drugs, parted
):
    arguments = ("run", "--collection", "small", "--expand", "own", "--run-dir", "x", "--force")
    changed = ("--set", "bm25.plan.gene.weight=2")
    no_holdout = ("--set", "bm25.plan.held_out=false")
    for more, held_out, notice in (
        ((), True, "\nthe query plan was chosen on 1 of these 2 topics: each of them"),
        (changed, False, "WARNING: the query plan was chosen on 1 of these 2 topics, and each"),
        (no_holdout, False, "WARNING: the query plan was chosen on 1 of these 2 topics, and each"),
    ):
        searched, cached = platform(*arguments, *more), platform(*arguments, *more)
        assert "searching" in searched.err
        assert "searching" not in cached.err
        for outcome in (searched, cached):
            assert f"\n{outcome.err}".count(notice) == 1
        metadata = json.loads((parted / "x" / "bm25.run.meta.json").read_text())
        (step,) = metadata["method"]["retrieval"]
        assert step["plan_chosen_on"] == {"topics": 1, "held_out": held_out}
        warnings = json.loads((parted / "x" / "report.json").read_text())["warnings"]
        assert [w for w in warnings if "no results" not in w] == (
            [] if held_out else [w for w in warnings if notice in w]
        )
        assert sum(notice in warning for warning in warnings) == (0 if held_out else 1)


@pytest.mark.java
def test_a_search_for_a_topic_tells_of_it_too(platform, drugs, parted):
    outcome = platform("search", "--collection", "small", "--topic", "q1", "--expand", "own")
    assert "the query plan was chosen on this topic: it is searched" in outcome.err
    other = platform("search", "--collection", "small", "--topic", "q2", "--expand", "own")
    assert other.err == ""


@pytest.mark.parametrize("command", ["run", "search", "tune"])
def test_a_misspelt_field_of_the_plan_is_refused(platform, drugs, parted, command):
    more = {
        "search": ("--topic", "q1"),
        "tune": ("--over", "k1", "--on-these-topics"),
    }
    arguments = (command, "--collection", "small", "--expand", "own", *more.get(command, ()))
    outcome = platform(*arguments, "--set", "bm25.plan.disease.field=diseas")
    assert outcome.code == 2
    assert "'diseas' is not a field of the topics. Did you mean 'disease'?" in outcome.err
    assert not (parted / "runs").exists()
    (parted / "plan.toml").write_text("[other]\ntreatment = 0.5\n")
    outcome = platform(*arguments, "--query-plan", "plan.toml")
    assert outcome.code == 2
    assert "'treatment' is not a field of the topics" in outcome.err


def test_a_misspelt_field_is_not_searched_over(platform, drugs, parted):
    arguments = ("tune", "--collection", "small", "--expand", "own", "--on-these-topics")
    outcome = platform(*arguments, "--over", "bm25.plan.other.gnee=0:1")
    assert outcome.code == 2
    assert "Did you mean 'gene'?" in outcome.err


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("run", ("--set", "bm25.plan.gene.weight=2")),
        ("run", ("--set", "plan.gene.weight=2", "--first-stage", "bm25+rm3")),
        ("run", ("--set", "bm25.plan.gene.weight=2", "--expand", "none")),
        ("search", ("--query", "mice", "--set", "bm25.plan.gene.weight=2")),
        ("train", ("--reranker", "drmm", "--set", "bm25.plan.gene.weight=2")),
        ("tune", ("--on-these-topics", "--over", "bm25.plan.gene.weight=0:2")),
    ],
)
def test_a_part_of_the_plan_has_no_effect_without_knowledge_bases(platform, drugs, command, more):
    outcome = platform(command, "--collection", "small", *more)
    assert outcome.code == 2
    assert "plan.gene.weight' has no effect without --expand KB,…" in outcome.err


@pytest.mark.java
def test_a_part_of_the_plan_has_an_effect_where_a_reranker_wants_expansion(platform, drugs, parted):
    arguments = ("run", "--collection", "small", "--set", "bm25.plan.gene.weight=2")
    outcome = platform(*arguments, "--reranker", "graphene", "--interpolate", "1")
    assert "queries are expanded with own" in outcome.err
    assert "has no effect" not in outcome.err


@pytest.mark.java
def test_the_query_that_feedback_makes_is_shown(platform, folder):
    arguments = ("search", "--collection", "small", "--query", "mice", "--explain")
    explanation = platform(*arguments, "--retriever", "rm3", "--json").json["explanation"]
    assert explanation["parts"][0]["weight"] > 0
    assert {part["kind"] for part in explanation["parts"]} == {"words"}
    assert "added, of those that at most 10% of all documents have" in explanation["note"]
    assert explanation["note"] in platform(*arguments, "--retriever", "rm3").out


@pytest.mark.java
def test_the_query_that_mbm_cleans_is_shown(platform, folder):
    arguments = ("search", "--collection", "small", "--explain", "--retriever", "mbm")
    answer = platform(*arguments, "--query", "the β mice of the mice", "--json").json
    assert answer["explanation"]["text"] == "beta mice"


@pytest.mark.java
def test_topics_that_name_nothing_known_are_told(platform, drugs):
    arguments = ("search", "--collection", "small", "--expand", "own", "--query")
    assert "names anything that own knows" in platform(*arguments, "mice in cages").err
    assert "names anything" not in platform(*arguments, "xalkori").err
