"""Topics become expanded queries: names from knowledge bases, checked against the index."""

from dataclasses import replace

import pytest

from irplatform.errors import InputError
from irplatform.expansion import Expander, QueryPlan, as_json, as_outline, as_text, read_plan
from irplatform.expansion.names import initials
from irplatform.expansion.plan import topic_mark
from irplatform.knowledge import add
from irplatform.plugin import Document, Topic

OWN = """\
id\tname\tkind\tsynonyms\tparents\txrefs
MESH:D1\tLung Neoplasms\tdisease\tNeoplasms, Pulmonary\t\t
DOID:1\tlung cancer\tdisease\tpulmonary cancer\t\tMESH:D1
DOID:2\tnon-small cell lung carcinoma\tdisease\t\tDOID:1\t
DOID:3\tlung rarity\tdisease\t\tDOID:1\t
DOID:4\ttraumatic rhinopathy\tdisease\tNEU\t\t
HGNC:1\tERBB2\tgene\therb two protein\t\t
HGNC:2\tTEP1\tgene\t\t\t
MESH:D3\tLapatinib\tdrug\t\t\t
MESH:D4\tRadiotherapy\tother\tRadiation Therapy\t\t
HGNC:5\tCDK4\tgene\t\t\t
CIVIC:1\tERBB2 V600E\tvariant\t\t\t
DRUG:1\ttrastuzumab emtansine\tdrug\tKadcyla|T|Unusedinib\t\t
MESH:D2\tLymphocytes, Tumor-Infiltrating\tother\tTumor Infiltrating Lymphocytes\t\t
"""
HGNC = """\
HGNC ID\tApproved symbol\tApproved name\tStatus\tAlias symbols\tPrevious symbols
HGNC:1\tERBB2\therb two protein\tApproved\tHER2, MTC, TEP1, H2\tNEU
HGNC:2\tTEP1\ttelomerase protein\tApproved\t\t
HGNC:3\tKRAS\tKRAS proto-oncogene, GTPase\tApproved\t\t
HGNC:4\tPDGFRA\tplatelet derived growth factor receptor alpha\tApproved\t\t
"""
DOCUMENTS = [
    Document("her2", "HER2 and ERBB2", "HER2, also called NEU, in pulmonary cancer."),
    Document("alias", "HER2 in pulmonary cancer", "NEU and HER2 in patients."),
    Document("nsclc", "NSCLC", "non-small cell lung carcinoma (NSCLC), HER2"),
    Document("mtc", "MTC", "MTC is a tumour of the thyroid."),
    Document("mtc2", "MTC", "MTC once more."),
    Document("tep1", "TEP1", "TEP1 and ERBB2."),
    Document("til", "TILs", "Tumor infiltrating lymphocytes."),
    Document("erbb2", "ERBB2", "ERBB2 V600E."),
    Document("long", "ERBB2", "p.Val600Glu of ERBB2 H2"),
    Document("k-ras", "K-ras in adenomas", "No other name."),
    Document("greek", "PDGFRα", "It is found in sarcomas."),
    Document("kadcyla", "Kadcyla", "It, trastuzumab emtansine, in pulmonary cancer with HER2."),
    Document("tdm1", "Kadcyla and T", "In pulmonary cancer with ERBB2 V600E."),
    Document("lapatinib", "Lapatinib", "Lapatinib and radiotherapy. T, too."),
    Document("disease", "Traumatic rhinopathy", "Traumatic rhinopathy (NEU) with HER2."),
    Document("rhinopathy", "TRP", "Traumatic rhinopathy (TRP)."),
    Document("heading", "No words", "at all", {"mesh": ("Lung Neoplasms", "Humans")}),
]
TOPIC = Topic("1", "lung cancer ERBB2", {"disease": "lung cancer", "gene": "ERBB2 (V600E)"})


@pytest.fixture(scope="module")
def knowledge_bases(cache_of_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kb")
    (folder / "own.tsv").write_text(OWN)
    (folder / "hgnc.tsv").write_text(HGNC)
    add("own-names", [folder / "own.tsv"])
    add("genes", [folder / "hgnc.tsv"], "hgnc-custom")
    return ("own-names", "genes")


@pytest.fixture(scope="module")
def index(index_of):
    return index_of(DOCUMENTS, fields=("mesh",))


@pytest.fixture
def expander(index, knowledge_bases):
    return lambda **plan: Expander(index, knowledge_bases, QueryPlan.model_validate(plan))


def names_of(expression, setting):
    """The names in a part of the query, by weight."""
    found = {}

    def visit(part):
        if "text" in part:
            found[part["text"]] = part.get("weight", 1)
        for inner in part.get("parts", ()):
            visit(inner)

    for part in as_json(expression)["parts"]:
        if part.get("setting") == setting:
            visit({**part, "weight": 1})
    return found


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
    whole = {"disease": {"kinds": 0}, "context": {"drugs": 0.5}}
    mark = topic_mark(TOPIC, QueryPlan())
    folded = expander(disease={"kinds": 40}, folds=[{"topics": [mark], "weights": whole}])
    assert as_json(folded.expression(TOPIC)) == as_json(expander(**whole).expression(TOPIC))
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
    asked = []
    find = knowledge.find
    monkeypatch.setattr(knowledge, "find", lambda text: asked.append(text) or find(text))
    found = phrase_names("word " * 300 + "tumor infiltrating lymphocytes", knowledge)
    assert found.text == "tumor infiltrating lymphocytes"
    assert max(len(text.split()) for text in asked) <= 20


def test_headings_are_those_of_the_disease(expander):
    assert "Lung Neoplasms" in names_of(expander().expression(TOPIC), "disease.heading")


def test_a_gene_that_a_topic_names_twice_counts_once(expander):
    topic = replace(TOPIC, fields={**TOPIC.fields, "gene": "ERBB2 (HER2)"})
    (gene,) = expander().parts(topic).genes
    assert gene.text == "ERBB2"
    assert [name.text for name in gene.synonyms if name.how == "topic"] == ["ERBB2", "HER2"]
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


@pytest.mark.parametrize(("gene", "found"), [("KRAS", "k-ras"), ("PDGFRA", "greek")])
def test_spellings_that_analysis_tells_apart_are_names(expander, index, gene, found):
    topic = Topic("1", gene, {"disease": "sarcoma", "gene": gene})
    query = expander().query(topic)
    assert found in index.search({"1": query}, 100)["1"].doc_ids
    assert found not in index.search({"1": gene}, 100)["1"].doc_ids


@pytest.mark.parametrize("written", ["PDGFRα", "PDGFR-alpha", "PDGFRalpha"])
def test_a_topic_may_write_a_symbol_with_a_greek_letter(expander, written):
    topics = [Topic("1", "", {"disease": "sarcoma", "gene": gene}) for gene in (written, "PDGFRA")]
    queries = [expander().expression(topic) for topic in topics]
    assert names_of(queries[0], "gene.weight") == names_of(queries[1], "gene.weight")
    assert names_of(queries[0], "gene.weight")


def test_a_symbol_that_no_knowledge_base_has_stays_as_it_is_written(expander):
    topic = Topic("1", "", {"disease": "sarcoma", "gene": "NOGENEα"})
    assert [gene.text for gene in expander().parts(topic).genes] == ["NOGENEα"]


@pytest.mark.parametrize("written", ["ERBB2 wild-type", "ERBB2-WT", "ERBB2-", "no ERBB2 mutation"])
def test_a_gene_without_alteration_is_not_looked_for_beside_words_of_mutation(expander, written):
    def settings(gene):
        topic = replace(TOPIC, fields={**TOPIC.fields, "gene": gene})
        return {part.setting for part in expander().components(topic)}

    assert settings("ERBB2") - settings(written) == {"gene.mutated"}
    assert settings(f"{written}, KRAS") >= {"gene.mutated"}


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
    found = index.search({"1": query, "plain": TOPIC.query}, 100)
    assert {"alias", "nsclc", "heading", "long"} <= set(found["1"].doc_ids)
    assert "heading" not in found["plain"].doc_ids


def test_required_parts_are_conditions(expander, index):
    query = expander(required=("gene",)).query(TOPIC)
    found = index.search({"1": query}, 100)["1"].doc_ids
    assert "heading" not in found
    assert "erbb2" in found


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


TREATED = Topic(
    "1", TOPIC.query, {**TOPIC.fields, "treatment": "trastuzumab emtansine and lapatinib"}
)


def test_treatments_are_searched_by_all_their_names(expander):
    query = expander(treatment={"title": 0.5, "heading": 0.5}).expression(TREATED)
    names = names_of(query, "treatment.weight")
    assert {"trastuzumab emtansine", "Kadcyla", "lapatinib"} <= set(names)
    assert names_of(query, "treatment.named").keys() == names.keys()
    assert names_of(query, "treatment.title").keys() == names.keys()
    assert set(names_of(query, "treatment.heading")) == {"Lapatinib"}
    assert "T" not in names, "its documents never name the drug otherwise"
    assert "Unusedinib" not in names, "no document has it"


def test_the_explanation_tells_names_that_count_once_from_names_that_are_scored(expander):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "Lapatinib"})
    told = as_text(as_json(expander().expression(topic)))
    assert "0.3 × names of (Lapatinib)   [treatment.weight]" in told
    assert "4 × names of (Lapatinib), counted once   [treatment.named]" in told


def test_a_document_with_the_treatment_under_another_name_comes_first(expander, index):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "trastuzumab emtansine"})
    query = expander().query(topic)
    assert index.search({"1": query}, 1)["1"].doc_ids == ("tdm1",)


def test_a_treatment_that_nobody_knows_is_searched_by_its_words(expander):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "watchful waiting"})
    found = as_json(expander().expression(topic))["parts"]
    (part,) = (part for part in found if part.get("setting") == "treatment.weight")
    assert (part["kind"], part["text"]) == ("words", "watchful waiting")


def test_a_treatment_that_is_no_drug_is_searched_by_its_names(expander):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "Radiation Therapy"})
    assert "Radiotherapy" in names_of(expander().expression(topic), "treatment.weight")


def treatments_of(expander, text):
    """What the treatments of a topic are called, and whether somebody knows them."""
    topic = Topic("1", "", {**TOPIC.fields, "treatment": text})
    return [(names.text, bool(names.concepts)) for names in expander().parts(topic).treatments]


@pytest.mark.parametrize(
    ("text", "treatments"),
    [
        ("trastuzumab emtansine + Lapatinib", ["trastuzumab emtansine", "Lapatinib"]),
        ("Lapatinib & trastuzumab emtansine", ["Lapatinib", "trastuzumab emtansine"]),
        ("Lapatinib in combination with Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib combined with Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib and/or Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib-Kadcyla", ["Lapatinib", "Kadcyla"]),
        ("Lapatinib/trastuzumab emtansine", ["Lapatinib", "trastuzumab emtansine"]),
        ("Lapatinib,trastuzumab emtansine", ["Lapatinib", "trastuzumab emtansine"]),
        (("Lapatinib", "", "radiation therapy"), ["Lapatinib", "radiation therapy"]),
        (("", "Lapatinib"), ["Lapatinib"]),
        ("Lapatinib (Tykerb)", ["Lapatinib"]),
        ("Kadcyla or trastuzumab emtansine", ["Kadcyla"]),
    ],
)
def test_treatments_are_parted(expander, text, treatments):
    assert treatments_of(expander, text) == [(name, True) for name in treatments]


@pytest.mark.parametrize(
    "text",
    [
        "CDK4/6 inhibitor",
        "1,25-dihydroxyvitamin",
        "ERBB2",
        "erb two protein inhibitor",
        "Lapatinib-resistant",
    ],
)
def test_a_treatment_is_not_taken_for_the_gene_or_the_number_in_its_name(expander, text):
    assert treatments_of(expander, text) == [(text, False)]


@pytest.mark.parametrize("text", ["-", "?", "N/A", "and", " ", ",", "the", ("", "")])
def test_a_treatment_without_words_asks_for_nothing(expander, index, text):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": text})
    found = index.search({topic.id: expander().query(topic)}, 9)
    without = index.search({"1": expander().query(TOPIC)}, 9)
    assert found["1"].doc_ids == without["1"].doc_ids


def test_a_document_has_a_treatment_that_nobody_knows_where_it_has_all_its_words(expander, index):
    topic = Topic("1", "", {**TOPIC.fields, "treatment": "the sarcomas PDGFRα"})
    parts = {part.setting: part.expression for part in expander().components(topic)}
    query = expander().compiled(parts["treatment.named"])
    assert index.search({"1": query}, 9)["1"].doc_ids == ("greek",)
    some = Topic("1", "", {**TOPIC.fields, "treatment": "lymphocytes of sarcomas"})
    parts = {part.setting: part.expression for part in expander().components(some)}
    query = expander().compiled(parts["treatment.named"])
    assert not index.search({"1": query}, 9)["1"].doc_ids


def test_topics_with_nothing_but_a_treatment_are_searched_by_its_names_too(expander, index):
    topic = Topic("1", "pulmonary cancer", {"treatment": "trastuzumab emtansine"})
    assert "Kadcyla" in names_of(expander().expression(topic), "treatment.weight")
    query = expander(required=("treatment",)).query(topic)
    assert set(index.search({"1": query}, 9)["1"].doc_ids) == {"kadcyla", "tdm1"}


def test_topics_without_a_treatment_are_searched_as_if_there_were_none(expander):
    without = expander(treatment={"weight": 0, "named": 0})
    assert as_json(expander().expression(TOPIC)) == as_json(without.expression(TOPIC))
    assert not [p for p in expander().components(TOPIC) if p.setting.startswith("treatment.")]


def test_a_topic_of_plain_text_gets_the_names_of_what_it_names(expander, index):
    topic = Topic("1", "treatment of lung cancer")
    query = expander().expression(topic)
    assert names_of(query, "text.weight") == {"treatment of lung cancer": 1}
    assert "pulmonary cancer" in names_of(query, "text.phrase")
    unknown = expander().query(Topic("2", "quux"))
    assert len(index.search({"2": unknown}, 10)["2"]) == 0


def named(expander, text):
    """What a topic of plain text is found to name."""
    return [(names.text, names.concepts) for names in expander().parts(Topic("1", text)).phrases]


def test_a_topic_of_plain_text_gets_the_names_of_all_that_it_names(expander):
    text = "Radiotherapy or lapatinib (with ERBB2) in lung cancer"
    query = expander(disease={"kinds": 0}).expression(Topic("1", text))
    assert names_of(query, "text.phrase").keys() == {
        "Radiotherapy",
        "lapatinib",
        "Lapatinib",  # its heading
        "ERBB2",
        "HER2",
        "NEU",
        "lung cancer",
        "pulmonary cancer",
        "lung carcinoma",
        "Lung Neoplasms",
    }


def test_what_plain_text_names_is_found_by_its_longest_names(expander):
    """Lung cancer is no second disease in one that has its name."""
    text = "non-small cell lung carcinoma, lung cancer?"
    assert [name for name, _ in named(expander, text)] == [
        "non-small cell lung carcinoma",
        "lung cancer",
    ]


def test_plain_text_that_names_a_thing_twice_asks_for_it_once(expander):
    text = "ERBB2 (HER2) in pulmonary cancer: lung cancer"
    assert [name for name, _ in named(expander, text)] == ["ERBB2", "pulmonary cancer"]


def test_a_word_of_plain_text_is_a_gene_only_where_it_is_written_as_a_symbol(expander):
    assert named(expander, "ERBB2 in mice") == [("ERBB2", ("HGNC:1",))]
    for text in ("HER2 in mice", "HER2-positive mice", "(HER2+) mice"):
        assert named(expander, text) == [("HER2", ("HGNC:1",))]
    for text in ("erbb2 in mice", "MTC in mice", "mice - erbb2", "mice ... erbb2"):
        assert named(expander, text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ERBB2 AND KRAS AFTER RADIATION THERAPY", ["radiation therapy"]),
        ("KRAS IN MICE", []),
        ("KRAS MICE", []),
        ("KRAS V600E", ["KRAS"]),
        ("KRAS CDK4 ERBB2 HER2", ["KRAS", "CDK4", "ERBB2"]),
        ("PULMONARY CANCER IN OLD MICE", ["pulmonary cancer"]),
    ],
)
def test_in_a_text_all_in_capitals_capitals_say_nothing(expander, text, names):
    """Unless each of its words is a symbol."""
    assert [name for name, _ in named(expander, text)] == names


def test_what_plain_text_names_has_the_names_that_it_has_in_a_field(expander):
    read = expander().parts
    fields = read(Topic("1", "", {"disease": "lung cancer", "gene": "ERBB2"}))
    assert fields.disease.headings
    plain = read(Topic("1", "ERBB2 in lung cancer"))
    assert plain.phrases == (*fields.genes, fields.disease)
    assert plain.disease is None
    assert plain.genes == ()


def test_a_variant_in_plain_text_does_not_hide_its_gene(expander):
    assert named(expander, "ERBB2 V600E") == [("ERBB2", ("HGNC:1",))]


def test_a_short_word_of_plain_text_is_no_name(expander):
    assert named(expander, "NEU and T in mice") == []


def test_the_explanation_says_where_names_came_from(expander):
    text = as_text(as_json(expander().expression(TOPIC)))
    assert '0.6 × contents: "HER2" (alias, HGNC:1 alias)' in text
    assert "1.5 × names of (ERBB2)   [gene.weight]" in text


def test_queries_are_the_same_every_time(expander):
    assert expander().query(TOPIC).toString() == expander().query(TOPIC).toString()


def test_a_plan_file_changes_what_it_names(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("[gene]\nweight = 3\n")
    plan = QueryPlan.model_validate(read_plan(path))
    assert plan.gene.weight == 3
    assert plan.disease == QueryPlan().disease


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[gene]\nwieght = 3\n", r"'gene.wieght' is not a key of a query plan. Did you mean"),
        ("[gene]\nweight = -1\n", r"'gene.weight' cannot be -1"),
        ("required = ['variant']\n", r"'required.0' cannot be 'variant'"),
        ("gene = 3\n", r"'gene' cannot be 3"),
        ("gene\n", r"this is not TOML"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_place(tmp_path, content, message):
    path = tmp_path / "plan.toml"
    path.write_text(content)
    with pytest.raises(InputError, match=rf"plan\.toml(:1)?: .*{message}"):
        read_plan(path)


def test_a_plan_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: there is no such file"):
        read_plan(tmp_path / "none.toml")


def test_a_topic_that_the_plan_was_chosen_on_is_weighed_without_it(expander):
    fold = {"topics": ["lung cancer | erbb2 (v600e)"], "weights": {"gene": {"weight": 3.0}}}
    chosen = expander(gene={"weight": 2.0}, folds=[fold])
    other = Topic("2", "lung cancer TEP1", {"disease": "lung cancer", "gene": "TEP1"})

    def weight(topic):
        parts = as_json(chosen.expression(topic))["parts"]
        return next(part["weight"] for part in parts if part.get("setting") == "gene.weight")

    assert weight(TOPIC) == 3
    assert weight(other) == 2
    assert chosen.parts(TOPIC) == expander().parts(TOPIC), "only weights differ"
