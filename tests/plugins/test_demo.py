"""The demo collection is the same everywhere, sound, and has something to learn."""

import collections
import inspect
import re
import subprocess
import sys
from statistics import mean

import pytest

from irplatform.collections.inspection import check
from irplatform.files.digests import fingerprint
from irplatform_demo.collection import articles, demo, demo_train
from irplatform_demo.texts import genes, phrases, plain_finding, read_table, relations

FINGERPRINT = "ebb2ba96066d3fc9"
"""Of the articles; changes only when somebody means to change them (with `SEED`)."""


def digest(documents):
    return fingerprint(
        {"demo": [[d.id, d.title, d.abstract, *d.fields["mesh"]] for d in documents]}
    )


def words(text):
    return re.findall(r"\w+", text.lower())


def test_the_articles_are_the_same_to_the_byte_on_every_machine():
    assert demo().corpus.fingerprint == digest(demo().corpus) == FINGERPRINT


def test_neither_hash_seed_nor_order_of_use_changes_them():
    program = (
        "from irplatform.files.digests import fingerprint\n"
        "from irplatform_demo.collection import demo, demo_train\n"
        f"{inspect.getsource(digest)}\n"
        "demo_train().load_qrels(); print(digest(demo().corpus))"
    )
    for seed in ("1", "2"):
        process = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert process.stdout.strip() == FINGERPRINT


def test_nothing_is_wrong_with_it():
    assert check(demo()) == []
    assert check(demo_train()) == []


def test_its_sizes():
    collection = demo()
    assert 1_400 <= collection.corpus.count() <= 1_600
    assert len(collection.load_topics()) == 20
    assert len(demo_train().load_topics()) == 40


def test_it_says_that_it_is_synthetic():
    assert "synthetic" in demo().note
    assert "mean nothing" in demo().note


def test_training_topics_are_other_topics_about_other_genes():
    collection = demo()
    training = collection.training()
    assert training.id == "demo-train"
    assert training.training is None
    assert training.corpus.fingerprint == collection.corpus.fingerprint
    topics, training_topics = collection.load_topics(), training.load_topics()
    assert not {t.id for t in topics} & {t.id for t in training_topics}
    gene = {t.fields["gene"].split()[0] for t in topics}
    assert not gene & {t.fields["gene"].split()[0] for t in training_topics}


def test_every_topic_has_all_grades():
    for collection in (demo(), demo_train()):
        for topic_id, judged in collection.load_qrels().items():
            assert set(judged.values()) == {0, 1, 2}, topic_id


def test_articles_are_of_five_to_nine_sentences_and_headings():
    for article in articles():
        sentences = article.document.abstract.replace("0.", "0").count(". ") + 1
        assert 5 <= sentences <= 10, article.document
        assert "{" not in article.document.text
        assert "[" not in article.document.text
        assert len(article.document.fields["mesh"]) >= 4


def test_grades_follow_from_the_facts():
    topic = next(r for r in relations() if (r.gene.symbol, r.variant) == ("EGFR", "L858R"))
    grades = collections.defaultdict(set)
    for article in articles():
        about = article.relation
        disease = about.disease.name
        if about.gene == topic.gene and disease in ("non-small cell lung cancer", "melanoma"):
            same = "same" if about.variant == topic.variant else "other"
            grades[article.kind, same].add(article.grade(topic))
    assert grades["treatment", "same"] == {2}
    assert grades["treatment", "other"] == {1}
    assert grades["survey", "same"] == {1}
    assert grades["survey", "other"] == {0}
    for kind in ("cells", "animals", "assay", "excluded"):
        assert grades[kind, "same"] == {0}


def test_an_article_about_a_kind_of_the_disease_answers_the_topic():
    topic = next(
        r
        for r in relations()
        if (r.gene.symbol, r.disease.name) == ("MET", "non-small cell lung cancer")
    )
    narrower = [
        article
        for article in articles()
        if article.relation.gene == topic.gene
        and article.relation.disease.name == "lung adenocarcinoma"
        and article.kind == "treatment"
    ]
    assert {article.grade(topic) for article in narrower} == {1}


def test_matching_words_do_not_suffice():
    """Answers often lack a word of the topic, and what is no answer repeats them all the time."""
    complete = collections.defaultdict(list)
    repeats = collections.defaultdict(list)
    for relation in (r for r in relations() if r.topics):
        terms = set(words(f"{relation.disease.name} {plain_finding(relation)}"))
        for article in (a for a in articles() if a.relation == relation):
            text, grade = words(article.document.text), article.grade(relation)
            complete[grade].append(terms <= set(text))
            if article.kind in ("treatment", "cells", "animals", "assay", "excluded"):
                repeats[grade].append(sum(word in terms for word in text) / len(text))
    assert mean(complete[2]) < 0.7
    assert mean(repeats[2]) < 0.6 * mean(repeats[0])


def test_vocabulary_is_small_enough_for_word_vectors_to_mean_something():
    counts = collections.Counter(w for a in articles() for w in words(a.document.text))
    frequent = sum(count for count in counts.values() if count >= 20)
    assert frequent / counts.total() > 0.9


def test_tables_are_whole():
    assert len(relations()) == sum(1 for _ in read_table("relations.tsv"))
    assert all(gene.synonyms for gene in genes().values())
    parts = {"title", "aim", "methods", "result", "conclusion"}
    kinds = {kind for kind, _ in phrases()} - {"background"}
    assert all((kind, part) in phrases() for kind in kinds for part in parts)


@pytest.mark.parametrize("name", ["demo", "demo-train"])
def test_the_plugin_registers_it(name):
    from irplatform.registry.loading import registry

    assert registry().collection(name).id == name
    assert name in registry().collection_titles
