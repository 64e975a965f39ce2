"""Topics become expanded queries: names from knowledge bases, checked against the index."""

from dataclasses import replace

import pytest
from expanded_topics import TOPIC, names_of

from irplatform.expansion.expression import as_json, as_outline, as_text
from irplatform.expansion.names import initials
from irplatform.expansion.plan import QueryPlan, topic_mark
from irplatform.plugin import Topic

pytestmark = pytest.mark.java


def test_a_disease_is_searched_by_its_names_and_less_by_its_kinds(expander):
    names = names_of(expander().expression(TOPIC), "disease.weight")
    assert names["pulmonary cancer"] == 1
    assert names["non-small cell lung carcinoma"] == 0.5
    assert "lung rarity" not in names, "no document has it"


def test_initials_are_names_where_texts_say_so(expander):
    assert initials("non-small cell lung carcinoma") == "NSCLC"
    assert initials("squamous cell carcinoma of the head and neck") == "SCCHN"
    assert names_of(expander().expression(TOPIC), "disease.weight")["NSCLC"] == 0.5


def test_a_topic_of_a_fold_has_all_of_the_folds_plan(expander):
    """Which names there are, too, not only what they weigh."""
    weights = {"disease": {"kinds": 0}, "context": {"drugs": 0.5}}
    mark = topic_mark(TOPIC, QueryPlan())
    folded = expander(disease={"kinds": 40}, folds=[{"topics": [mark], "weights": weights}])
    assert as_json(folded.expression(TOPIC)) == as_json(expander(**weights).expression(TOPIC))
    assert folded.parts(TOPIC) != expander(disease={"kinds": 40}).parts(TOPIC)


def test_a_disease_without_kinds_where_the_plan_wants_none(expander):
    names = names_of(expander(disease={"kinds": 0}).expression(TOPIC), "disease.weight")
    assert "non-small cell lung carcinoma" not in names
    assert "pulmonary cancer" in names


@pytest.mark.parametrize(
    "text",
    ["advanced lung cancer, stage IV", "Metastases (of lung cancer)", "pulmonary cancer with HER2"],
)
def test_a_disease_that_nobody_knows_as_it_stands_is_what_part_of_it_is(expander, text):
    """As a phrase, no document would have it, or one (the last)."""
    topic = Topic("1", text, {"disease": text, "gene": "ERBB2"})
    names = names_of(expander().expression(topic), "disease.weight")
    assert names["pulmonary cancer"] == 1
    assert text not in names
    assert "Lung Neoplasms" in names_of(expander().expression(topic), "disease.heading")
    assert names_of(expander().expression(topic), "disease.words") == {text: 1}


def test_a_disease_that_is_a_name_has_no_words_beside_it(expander):
    assert expander().parts(TOPIC).described == ""
    assert not names_of(expander().expression(TOPIC), "disease.words")


def test_a_disease_of_which_nobody_knows_anything_is_searched_by_its_words(expander, index):
    topic = Topic("1", "", {"disease": "adenomas of unknown origin"})
    weights = {"treatment_weight": 0, "people_weight": 0, "prognosis_weight": 0}
    query = expander(context=weights).query(topic)
    assert index.search({"1": query}, 1)["1"].doc_ids == ("k-ras",)


def test_an_abbreviated_disease_has_its_names_where_texts_say_what_it_is(expander):
    parts = expander().parts(Topic("1", "", {"disease": "TRP"}))
    assert [name.text.lower() for name in parts.disease.synonyms] == [
        "trp",
        "traumatic rhinopathy",
        "neu",
    ]
    assert parts.disease.concepts == ("DOID:4",)
    assert parts.described == ""
    # No name fits, none occurs with it, or it is not taken for an abbreviation.
    for unknown in ("TRY", "MTC", "TR", "trp"):
        parts = expander().parts(Topic("1", "", {"disease": unknown}))
        assert not parts.disease.concepts


def test_a_disease_without_names_has_no_names_in_titles_or_near_genes(expander):
    topic = Topic("1", "", {"disease": "adenomas of unknown origin", "gene": "ERBB2"})
    settings = {part.setting for part in expander().components(topic)}
    assert {"disease.weight", "gene.weight"} <= settings
    assert settings.isdisjoint({"disease.title", "disease.words", "near.both", "near.weight"})


def test_an_unknown_disease_that_documents_have_is_their_phrase(expander):
    topic = Topic("1", "", {"disease": "tumour of the thyroid"})
    assert "tumour of the thyroid" in names_of(expander().expression(topic), "disease.weight")
    assert expander().parts(topic).described == ""


def test_of_long_texts_parts_are_looked_up_that_are_as_long_as_names(knowledge_bases, monkeypatch):
    from irplatform.expansion.names import phrase_names
    from irplatform.knowledge import open_knowledge

    knowledge = open_knowledge(knowledge_bases)
    texts = []
    find = knowledge.find
    monkeypatch.setattr(knowledge, "find", lambda text: texts.append(text) or find(text))
    names = phrase_names("word " * 300 + "tumor infiltrating lymphocytes", knowledge)
    assert names.text == "tumor infiltrating lymphocytes"
    assert max(len(text.split()) for text in texts) <= 20


def test_headings_are_those_of_the_disease(expander):
    assert "Lung Neoplasms" in names_of(expander().expression(TOPIC), "disease.heading")


def test_a_gene_that_a_topic_names_twice_counts_once(expander):
    topic = replace(TOPIC, fields={**TOPIC.fields, "gene": "ERBB2 (HER2)"})
    (gene,) = expander().parts(topic).genes
    assert gene.text == "ERBB2"
    assert [name.text for name in gene.synonyms if name.relation == "topic"] == ["ERBB2", "HER2"]
    texts = [name.text.lower() for name in gene.synonyms]
    assert len(texts) == len(set(texts))


def test_aliases_that_mean_something_else_are_left_out(expander):
    names = names_of(expander().expression(TOPIC), "gene.weight")
    assert names["HER2"] == names["NEU"] == 0.6
    assert "MTC" not in names, "its documents never name the gene"
    assert "TEP1" not in names, "it is the symbol of another gene"
    assert "H2" not in names, "it is too short"


@pytest.mark.parametrize("disease", ["traumatic rhinopathy", "NEU"])
def test_an_alias_of_a_gene_that_is_the_topics_disease_is_left_out(expander, disease):
    """Else a document on the disease alone would have the gene as well: CML, an alias of BCR."""
    topic = Topic("1", disease, {"disease": disease, "gene": "ERBB2"})
    names = names_of(expander().expression(topic), "gene.weight")
    assert "HER2" in names
    assert "NEU" not in names


@pytest.mark.parametrize(("gene", "document"), [("KRAS", "k-ras"), ("PDGFRA", "greek")])
def test_spellings_that_analysis_tells_apart_are_names(expander, index, gene, document):
    topic = Topic("1", gene, {"disease": "sarcoma", "gene": gene})
    query = expander().query(topic)
    assert document in index.search({"1": query}, 100)["1"].doc_ids
    assert document not in index.search({"1": gene}, 100)["1"].doc_ids


@pytest.mark.parametrize("symbol", ["PDGFRα", "PDGFR-alpha", "PDGFRalpha"])
def test_a_topic_may_write_a_symbol_with_a_greek_letter(expander, symbol):
    topics = [Topic("1", "", {"disease": "sarcoma", "gene": gene}) for gene in (symbol, "PDGFRA")]
    queries = [expander().expression(topic) for topic in topics]
    assert names_of(queries[0], "gene.weight") == names_of(queries[1], "gene.weight")
    assert names_of(queries[0], "gene.weight")


def test_a_symbol_that_no_knowledge_base_has_stays_as_it_is_written(expander):
    topic = Topic("1", "", {"disease": "sarcoma", "gene": "NOGENEα"})
    assert [gene.text for gene in expander().parts(topic).genes] == ["NOGENEα"]


@pytest.mark.parametrize("text", ["ERBB2 wild-type", "ERBB2-WT", "ERBB2-", "no ERBB2 mutation"])
def test_a_gene_without_alteration_is_not_looked_for_beside_words_of_mutation(expander, text):
    def settings(gene):
        topic = replace(TOPIC, fields={**TOPIC.fields, "gene": gene})
        return {part.setting for part in expander().components(topic)}

    assert settings("ERBB2") - settings(text) == {"gene.mutated"}
    assert settings(f"{text}, KRAS") >= {"gene.mutated"}


def test_a_topic_whose_fields_say_nothing_asks_for_nothing(expander):
    fields = {"disease": "N/A", "gene": "none"}
    assert expander().components(Topic("1", "N/A none", fields)) == []
    remaining = expander().expression(Topic("1", "N/A fatigue none", fields))
    assert names_of(remaining, "text.weight") == {"fatigue": 1}


def test_an_outline_of_two_genes_shows_what_stands_near_each(expander):
    topic = replace(TOPIC, fields={**TOPIC.fields, "gene": "ERBB2 amplification, KRAS"})
    outline = as_outline(as_json(expander().expression(topic)))
    (mutated,) = [line for line in outline.splitlines() if "[gene.mutated]" in line]
    assert mutated.count("within 3 words of each other") == 2
    assert mutated.startswith("  0.1 × sum: contents: within 3 words")


def test_a_higher_share_asks_for_more_agreement(expander):
    names = names_of(expander(gene={"agreement": 1.0}).expression(TOPIC), "gene.weight")
    assert "HER2" not in names


def test_variants_are_searched_in_every_spelling(expander):
    names = names_of(expander().expression(TOPIC), "gene.variant")
    assert {"V600E", "p.Val600Glu"} <= set(names)


def test_what_names_no_gene_is_searched_by_words_and_as_a_concept(expander):
    topic = Topic("1", "", {"disease": "melanoma", "gene": "many tumor infiltrating lymphocytes"})
    query = expander().expression(topic)
    assert set(names_of(query, "gene.words")) == {"many tumor infiltrating lymphocytes"}
    assert "Lymphocytes, Tumor-Infiltrating" in names_of(query, "gene.phrase")


def test_expanded_queries_find_more(expander, index):
    query = expander().query(TOPIC)
    rankings = index.search({"1": query, "plain": TOPIC.query}, 100)
    assert {"alias", "nsclc", "heading", "long"} <= set(rankings["1"].doc_ids)
    assert "heading" not in rankings["plain"].doc_ids


def test_required_parts_are_conditions(expander, index):
    query = expander(required=("gene",)).query(TOPIC)
    doc_ids = index.search({"1": query}, 100)["1"].doc_ids
    assert "heading" not in doc_ids
    assert "erbb2" in doc_ids


def test_a_part_of_weight_0_is_not_in_the_query(expander):
    query = as_json(expander(gene={"title": 0}, near={"weight": 0}).expression(TOPIC))
    settings = {part["setting"] for part in query["parts"]}
    assert not {"gene.title", "near.weight"} & settings
    assert "gene.weight" in settings


def test_other_fields_are_searched_where_the_plan_says_so(expander):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "trastuzumab"})
    assert not names_of(expander().expression(topic), "other.treatment")
    planned = expander(other={"treatment": 0.5}).expression(topic)
    assert names_of(planned, "other.treatment") == {"trastuzumab": 1}


def test_fields_that_the_template_put_into_the_query_are_searched(expander):
    fields = {**TOPIC.fields, "therapy": "trastuzumab emtansine", "other": "trastuzumab x"}
    topic = Topic("1", f"{TOPIC.query} trastuzumab  emtansine", fields)
    (added,) = (part for part in expander().components(topic) if part.setting.startswith("other."))
    assert (added.setting, added.weight) == ("other.therapy", 1.0)
    assert names_of(expander().expression(topic), "other.therapy") == {"trastuzumab emtansine": 1}
    shared = Topic("1", TOPIC.query, {**TOPIC.fields, "other": "cancer", "note": "lung"})
    assert not [p for p in expander().components(shared) if p.setting.startswith("other.")]
    marked = Topic("1", f"(Trastuzumab Emtansine), {TOPIC.query}", fields)
    assert "other.therapy" in {part.setting for part in expander().components(marked)}
    planned = expander(other={"therapy": 0.5}).components(topic)
    assert [part.weight for part in planned if part.setting == "other.therapy"] == [0.5]


def test_the_explanation_says_where_names_came_from(expander):
    text = as_text(as_json(expander().expression(TOPIC)))
    assert '0.6 × contents: "HER2" (alias, HGNC:1 alias)' in text
    assert "1.5 × names of (ERBB2)   [gene.weight]" in text


def test_queries_are_the_same_every_time(expander):
    assert expander().query(TOPIC).toString() == expander().query(TOPIC).toString()


def test_a_topic_that_the_plan_was_chosen_on_is_weighed_without_it(expander):
    fold = {"topics": ["lung cancer | erbb2 (v600e)"], "weights": {"gene": {"weight": 3.0}}}
    plan_expander = expander(gene={"weight": 2.0}, folds=[fold])
    other = Topic("2", "lung cancer TEP1", {"disease": "lung cancer", "gene": "TEP1"})

    def weight(topic):
        parts = as_json(plan_expander.expression(topic))["parts"]
        return next(part["weight"] for part in parts if part.get("setting") == "gene.weight")

    assert weight(TOPIC) == 3
    assert weight(other) == 2
    assert plan_expander.parts(TOPIC) == expander().parts(TOPIC), "only weights differ"
