"""The scispaCy pipeline: abbreviations, models' mentions, and the linker for the rest."""

import sys

import pytest

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import concept_table, linker_index
from irplatform.concepts.pipeline import ConceptPipeline, model_name, versions
from irplatform.concepts.similar_names import SimilarNames
from irplatform.errors import InputError


def names(table, mentions):
    return [(mention.text, table.names[mention.concept]) for mention in mentions]


@pytest.fixture(scope="module")
def pipeline(table):
    return ConceptPipeline(table, ConceptOptions())


def test_an_abbreviation_means_what_the_article_says(pipeline, table):
    articles = [
        ("LCR cells", "The lung cancer (LCR) is common. LCR is a tumor."),
        ("LCR", "The gene."),
    ]
    first, second = pipeline.mentions(articles)
    assert names(table, first) == [
        ("LCR", "lung cancer"),
        ("lung cancer", "lung cancer"),
        ("LCR", "lung cancer"),
        ("LCR", "lung cancer"),
        ("tumor", "neoplasm"),
    ]
    assert names(table, second) == [("LCR", "LCR")]


def test_an_abbreviation_of_something_unknown_is_nothing(pipeline, table):
    (mentions,) = pipeline.mentions([("", "Mean effective time (MET) was measured; MET rose.")])
    assert mentions == []


@pytest.mark.parametrize(
    ("first", "second", "meaning"),
    [
        ("lung cancer", "large-cell rhinitis", ["lung cancer"] * 4),
        ("large-cell rhinitis", "lung cancer", []),
    ],
)
def test_of_two_definitions_the_first_holds_in_the_whole_article(
    pipeline, table, first, second, meaning
):
    text = f"The {first} (LCR) is common. The {second} (LCR) is rare. LCR is a word."
    (mentions,) = pipeline.mentions([("LCR", text)])
    assert [name for mention, name in names(table, mentions) if mention == "LCR"] == meaning


def test_a_genes_symbol_stays_the_gene_beside_its_proteins_name(pipeline, table):
    (mentions,) = pipeline.mentions([("", "The androgen receptor (AR) and AR.")])
    assert {name for _, name in names(table, mentions)} == {"AR"}


def test_the_text_is_the_titles_and_the_abstracts_lines(pipeline):
    (mentions,) = pipeline.mentions([("Gefitinib\nin", "melanoma")])
    text = "Gefitinib in\nmelanoma"
    assert [text[m.start : m.end] for m in mentions] == ["Gefitinib", "melanoma"]


def test_a_book_is_an_article_too(pipeline, table):
    """spaCy refuses more than a million characters, which only its models cannot bear."""
    (mentions,) = pipeline.mentions([("x" * 1_000_000, "Lung cancer")])
    assert names(table, mentions) == [("Lung cancer", "lung cancer")]


def test_of_a_book_a_model_reads_the_beginning(table, tmp_path):
    import spacy

    language = spacy.blank("en")
    language.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "tumor"}])
    language.to_disk(tmp_path / "model")
    pipeline = ConceptPipeline(table, ConceptOptions(model=str(tmp_path / "model")))
    pipeline._language.max_length = 20
    (mentions,) = pipeline.mentions([("A tumor", "again and again, a tumor")])
    assert names(table, mentions) == [("tumor", "neoplasm")]


def test_spacy_is_made_anew_after_some_articles_and_finds_the_same(table, monkeypatch):
    monkeypatch.setattr("irplatform.concepts.pipeline._REMEMBERED", 2)
    pipeline = ConceptPipeline(table, ConceptOptions())
    articles = [("LCR cells", "The lung cancer (LCR) is common."), ("", "gefitinib in melanoma")]
    before = pipeline._language
    mentions = list(pipeline.mentions(articles))
    assert pipeline._language is before
    assert list(pipeline.mentions(articles)) == mentions
    assert pipeline._language is not before


def test_a_models_entities_are_the_mentions(table, tmp_path):
    import spacy

    model = spacy.blank("en")
    model.add_pipe("entity_ruler").add_patterns([{"label": "ENTITY", "pattern": "melanoma"}])
    model.to_disk(tmp_path / "model")
    options = ConceptOptions(model=str(tmp_path / "model"))
    (mentions,) = ConceptPipeline(table, options).mentions([("", "gefitinib in melanoma")])
    assert names(table, mentions) == [("melanoma", "melanoma")]
    assert versions(options)["model"] == "en_pipeline 0.0.0"


def test_a_missing_model_is_named(table):
    with pytest.raises(InputError, match="no spaCy model 'en_core_nothing'"):
        versions(ConceptOptions(model="en_core_nothing"))


@pytest.mark.parametrize(
    ("version", "author", "model"),
    [
        ("0.5.4", "Allen Institute for Artificial Intelligence", "en_core_sci_md"),
        ("999.9.9", "somebody", None),
        ("0.1", "somebody", None),
    ],
)
def test_only_the_makers_own_models_are_taken(monkeypatch, version, author, model):
    from importlib import metadata

    def about(name):
        if name != "en-core-sci-md":
            raise metadata.PackageNotFoundError(name)
        return {"Version": version, "Author": author}

    monkeypatch.setattr(metadata, "metadata", about)
    assert model_name(ConceptOptions()) == model
    assert model_name(ConceptOptions(model="none")) is None
    options = ConceptOptions(model="en_core_sci_md")
    if model:
        assert model_name(options) == model
    else:
        with pytest.raises(InputError, match="on the Python index is"):
            model_name(options)


def test_where_a_missing_model_is_released_is_told():
    with pytest.raises(InputError, match=r"allenai\.github\.io/scispacy"):
        versions(ConceptOptions(model="en_core_sci_sm"))


def test_without_scispacy_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "scispacy", None)
    with pytest.raises(InputError, match=r"needs scispacy\. .*'irplatform\[concepts\]'"):
        versions(ConceptOptions())


def test_the_linker_finds_similar_names_of_what_is_left(kb_home, table):
    options = ConceptOptions(linker="scispacy", threshold=0.6)
    folder = linker_index(concept_table(("own", "second")), options)
    pipeline = ConceptPipeline(table, options, SimilarNames(folder, table, options))
    (mentions,) = pipeline.mentions([("", "A malignant melanomatous growth, and gefitinib.")])
    links = {(mention.text, table.names[mention.concept]) for mention in mentions}
    assert links == {("malignant melanomatous growth", "melanoma"), ("gefitinib", "Gefitinib")}
    (similar,) = [mention for mention in mentions if mention.score < 1]
    assert 0.6 <= similar.score < 1
    strict = SimilarNames(folder, table, options.model_copy(update={"threshold": 0.99}))
    (mentions,) = ConceptPipeline(table, options, strict).mentions(
        [("", "A malignant melanomatous growth, and gefitinib.")]
    )
    assert len(mentions) == 1


def _similar(table, articles, **options):
    """What the linker finds beside names: texts and the concepts' names."""
    settings = ConceptOptions(linker="scispacy", threshold=0.6, **options)
    folder = linker_index(concept_table(("own", "second")), settings)
    pipeline = ConceptPipeline(table, settings, SimilarNames(folder, table, settings))
    (mentions,) = pipeline.mentions(articles)
    return names(table, (mention for mention in mentions if mention.score < 1))


def test_the_linker_takes_the_long_form_of_what_the_article_abbreviates(kb_home, table):
    text = "A malignant melanomatous growth (MMG). An MMG cell of MMG."
    assert _similar(table, [("", text)]) == [
        ("malignant melanomatous growth", "melanoma"),
        *[("MMG", "melanoma")] * 3,
    ]
    assert _similar(table, [("", "MMG")]) == []


def test_the_linker_takes_the_long_form_of_a_models_entity(kb_home, table, tmp_path):
    import spacy

    model = spacy.blank("en")
    model.add_pipe("entity_ruler").add_patterns([{"label": "ENTITY", "pattern": "MMG"}])
    model.to_disk(tmp_path / "model")
    articles = [("", "A malignant melanomatous growth (MMG).")]
    links = _similar(table, articles, model=str(tmp_path / "model"))
    assert links == [("MMG", "melanoma")]


def test_the_linker_finds_only_the_kinds_of_the_graph(kb_home, table):
    articles = [("", "A malignant melanomatous growth.")]
    assert _similar(table, articles, kinds=("disease",)) != []
    assert _similar(table, articles, kinds=("drug", "gene")) == []


def test_kinds_that_the_linker_has_not_make_no_second_index(kb_home):
    concepts = concept_table(("own", "second"))
    plain = linker_index(concepts, ConceptOptions())
    assert linker_index(concepts, ConceptOptions(kinds=("gene", "drug", "disease"))) == plain
    assert linker_index(concepts, ConceptOptions(kinds=("gene", "drug"))) != plain


def test_what_the_linker_finds_is_of_a_version_where_it_takes_part():
    assert "linker" in versions(ConceptOptions(linker="scispacy"))
    assert "linker" not in versions(ConceptOptions())


def test_a_linker_without_names_is_refused(kb_home, tmp_path, table):
    from irplatform.concepts.similar_names import build_linker

    with pytest.raises(InputError, match="no concept with a name that can be linked"):
        build_linker(table, ConceptOptions(linker_kinds=()), tmp_path)
    with pytest.raises(InputError, match=r"in kinds \(gene\) and in linker_kinds \(dis"):
        build_linker(table, ConceptOptions(kinds=("gene",)), tmp_path)


def test_the_linkers_index_is_the_same_every_time(kb_home, tmp_path, table):
    from irplatform.concepts.similar_names import build_linker

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        build_linker(table, ConceptOptions(), tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_the_nearest_names_are_those_of_a_plain_loop(kb_home, tmp_path, table):
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    from irplatform.concepts.similar_names import _NearestNames, build_linker
    from irplatform.concepts.table import open_texts

    build_linker(table, ConceptOptions(), tmp_path)
    names = list(open_texts(tmp_path, "names"))
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32)
    vectors = vectorizer.fit_transform(names).toarray()
    queries = [f"{names[3]}s", names[0], f"new {names[5]}", "qqq"]
    nearest = list(_NearestNames(tmp_path).of(queries))
    assert nearest[-1] == []
    for query, neighbours in zip(vectorizer.transform(queries).toarray(), nearest, strict=True):
        similar = vectors @ query
        best = np.lexsort((np.arange(len(names)), -similar))[: (similar > 0).sum()][:10]
        assert [name for name, _ in neighbours] == [names[place] for place in best]
        assert [value for _, value in neighbours] == pytest.approx(similar[best].tolist(), abs=1e-5)


def test_the_nearest_names_of_no_text_are_none(kb_home, tmp_path, table):
    from irplatform.concepts.similar_names import _NearestNames, build_linker

    build_linker(table, ConceptOptions(), tmp_path)
    assert list(_NearestNames(tmp_path).of([])) == []
