"""Queries of a few headings: which are asked for, in which words, and who answers them."""

from collections import Counter

import orjson
import pytest

from irplatform.building.heading_queries import build_headings
from irplatform.errors import InputError
from irplatform.knowledge import add
from irplatform.registry.loading import registry

pytestmark = pytest.mark.usefixtures("fresh_home")

NAMES = """id\tname\tkind\tsynonyms
X:1\tCarcinoma, Small\tdisease\tSmall Cancer|Cancer, Little|SC
X:2\tLung\tother\tLungs
"""
COUNT = 200


def _headings(number):
    """Humans is of all, Lung of every second, Carcinoma, Small of every tenth, one of three."""
    headings = ["Humans", f"Kind {number % 3}", f"Rare {number // 4}"]
    return (
        headings
        + ["Lung"] * (number % 2 == 0)
        + ["Carcinoma, Small"] * (number % 25 == 0)
        + ["Lung"] * (number % 8 == 0)  # twice, as with two qualifiers
    )


@pytest.fixture
def source(tmp_path):
    """A collection whose documents have headings."""
    lines = [
        {"id": f"d{n:03}", "title": f"Title {n}", "abstract": "text", "mesh": _headings(n)}
        for n in range(COUNT)
    ]
    (tmp_path / "docs.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    (tmp_path / "topics.jsonl").write_text('{"_id": "1", "text": "lung"}\n')
    path = tmp_path / "some.toml"
    path.write_text(
        'id = "some"\nmeasures = ["AP"]\n'
        '[documents]\nfiles = ["docs.jsonl"]\nabstract = "abstract"\nfields = ["mesh"]\n'
        '[topics]\nfile = "topics.jsonl"\nformat = "beir"\n'
    )
    return path


def _build(source, tmp_path, *bases, out="made", **choice):
    result = build_headings(str(source), tmp_path / out, bases, **choice)
    parts = [registry().collection(f"{tmp_path / out}:{part}") for part in result.queries]
    topics = [topic for part in parts for topic in part.load_topics()]
    qrels = {k: dict(v) for part in parts for k, v in part.load_qrels().items()}
    return result, topics, qrels


def test_just_the_articles_with_all_headings_are_relevant(source, tmp_path):
    _, topics, qrels = _build(source, tmp_path)
    assert len(topics) > 50
    for topic in topics:
        headings = set(topic.fields["mesh"])
        answering = {f"d{n:03}" for n in range(COUNT) if headings <= set(_headings(n))}
        assert qrels[topic.id] == dict.fromkeys(answering, 1)
        assert topic.id in answering


def test_headings_are_few_telling_and_none_comes_twice(source, tmp_path):
    _, topics, _ = _build(source, tmp_path, most_headings=2)
    queries = [topic.fields["mesh"] for topic in topics]
    assert {len(headings) for headings in queries} == {1, 2}
    assert len({frozenset(headings) for headings in queries}) == len(queries)
    assert all(len(set(headings)) == len(headings) for headings in queries)
    assert {heading.split()[0] for headings in queries for heading in headings} == {
        "Rare",
        "Carcinoma,",
    }, "Humans, Lung and Kind are headings of more than a twentieth"


def test_rare_headings_are_asked_for_more_often(source, tmp_path, monkeypatch):
    monkeypatch.setattr("irplatform.building.heading_queries.COMMON", 0.9)
    _, topics, _ = _build(source, tmp_path, most_headings=1)
    counts = Counter(topic.query.split()[0] for topic in topics)
    assert counts["Rare"] > 40
    assert counts["Kind"] == 3, "there are no more of them"


def test_queries_that_many_articles_answer_are_left_out(source, tmp_path):
    all_of_them, topics, _ = _build(source, tmp_path)
    few, fewer_topics, qrels = _build(source, tmp_path, most_relevant=4, out="few")
    assert all_of_them.left_out == 0
    assert few.left_out == len(topics) - len(fewer_topics) > 0
    assert max(map(len, qrels.values())) == 4
    assert few.relevant == sum(map(len, qrels.values()))


def test_splits_are_eight_to_one_to_one_and_the_documents_those_of_the_source(source, tmp_path):
    result, topics, _ = _build(source, tmp_path)
    tenth = len(topics) // 10
    assert result.queries == {"train": len(topics) - 2 * tenth, "dev": tenth, "test": tenth}
    train = registry().collection(f"{result.folder}:train")
    assert train.corpus.same_documents(registry().collection(str(source)).corpus)
    assert train.validation().id.endswith("-dev")


def test_inverted_headings_are_asked_for_as_they_are_said(source, tmp_path):
    result, topics, _ = _build(source, tmp_path, most_headings=1)
    said = {t.query for t in topics if "Carcinoma, Small" in t.fields["mesh"]}
    assert said == {"Small Carcinoma"}
    assert result.renamed == 0


def test_other_names_of_a_heading_are_asked_for_too(source, tmp_path):
    (tmp_path / "own.tsv").write_text(NAMES)
    add("own", [tmp_path / "own.tsv"])
    said = Counter()
    for seed in range(12):
        result, topics, _ = _build(
            source, tmp_path, "own", out=f"made{seed}", most_headings=1, seed=seed
        )
        queries = [t.query for t in topics if "Carcinoma, Small" in t.fields["mesh"]]
        assert result.renamed == sum(query == "Small Cancer" for query in queries)
        said.update(queries)
    assert set(said) == {"Small Carcinoma", "Small Cancer"}, "no inverted name, no abbreviation"


def test_qualifiers_stars_and_blanks_are_left_away(source, tmp_path):
    docs = [
        {"id": f"d{n:03}", "title": "t", "mesh": [f"*Rare\t{n // 4} / genetics", "", " ", ", "]}
        for n in range(COUNT)
    ]
    docs[0]["mesh"] = ["Rare 0"]
    lines = b"".join(orjson.dumps(doc) + b"\n" for doc in docs)
    (tmp_path / "docs.jsonl").write_bytes(lines)
    _, topics, qrels = _build(source, tmp_path)
    answers = {t.query: set(qrels[t.id]) for t in topics}
    assert set(answers) == {f"Rare {n}" for n in range(COUNT // 4)}
    assert answers["Rare 0"] == {"d000", "d001", "d002", "d003"}


def test_names_come_from_all_knowledge_bases(source, tmp_path):
    for name, synonym in (("one", "Small Cancer"), ("two", "Small Tumor")):
        table = f"id\tname\tkind\tsynonyms\n{name}:1\tCarcinoma, Small\tdisease\t{synonym}\n"
        (tmp_path / f"{name}.tsv").write_text(table)
        add(name, [tmp_path / f"{name}.tsv"])
    said = set()
    for seed in range(12):
        result = _build(
            source, tmp_path, "one", "two", out=f"made{seed}", most_headings=1, seed=seed
        )
        said |= {t.query for t in result[1] if "Carcinoma, Small" in t.fields["mesh"]}
    assert said == {"Small Carcinoma", "Small Cancer", "Small Tumor"}


def test_documents_with_nothing_to_ask_for_are_refused(source, tmp_path):
    docs = [{"id": f"d{n}", "title": "t", "mesh": ["Humans"]} for n in range(30)]
    (tmp_path / "docs.jsonl").write_bytes(b"".join(orjson.dumps(doc) + b"\n" for doc in docs))
    with pytest.raises(InputError, match="no document of 'some' has a heading that at most 5%"):
        _build(source, tmp_path)


def test_the_same_seed_makes_the_same_files(source, tmp_path):
    def files(out, seed):
        result, _, _ = _build(source, tmp_path, out=out, seed=seed)
        return {
            p.name: p.read_bytes() for p in result.folder.rglob("*.*") if p.name != "corpus.toml"
        }

    assert files("a", 1) == files("b", 1) != files("c", 2)


def test_documents_without_headings_are_refused(source, tmp_path):
    source.write_text(source.read_text().replace('fields = ["mesh"]', ""))
    with pytest.raises(InputError, match="no field 'mesh'"):
        _build(source, tmp_path)
    assert not (tmp_path / "made").exists()


def test_too_few_queries_are_refused(source, tmp_path):
    with pytest.raises(InputError, match=r"only 0 queries .*more than 1 articles .*: \d+\)"):
        _build(source, tmp_path, most_relevant=1, most_headings=1, queries=20)


GENES = """id\tname\tkind\tsynonyms
G:1\tKRAZ2\tgene\tKrazinase
G:2\tTPX53\tgene\t
G:3\tWqz receptor\tgene\tWQZ9
G:4\tTWINZ\tgene\tAlpha twinzkinase
G:5\tTWINZ\tgene\tBeta twinzkinase
D:1\tcarcinoma, small\tdisease\t
D:2\tMelanosis\tdisease\t
"""


@pytest.fixture
def naming_genes(source, tmp_path):
    """Every second article has a common disease; every third names a gene, every sixth twice."""
    texts = {0: "KRAZ2 and Krazinase were measured.", 3: "We measured KRAZ2 once."}
    lines = [
        {
            "id": f"d{n:03}",
            "title": "TPX53 " * 9 if n == 6 else f"Title {n}",
            "abstract": texts.get(n % 6, "Nothing was measured."),
            "mesh": [f"Rare {n // 4}", "Melanosis" if n % 2 else "Carcinoma, Small"],
        }
        for n in range(COUNT)
    ]
    (tmp_path / "docs.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    (tmp_path / "own.tsv").write_text(GENES)
    add("own", [tmp_path / "own.tsv"])
    return source


def test_articles_that_name_a_gene_ask_for_it_and_a_disease(naming_genes, tmp_path):
    result, topics, qrels = _build(naming_genes, tmp_path, "own")
    gene_topics = {topic.query: topic for topic in topics if "gene" in topic.fields}
    assert {"Small Carcinoma KRAZ2", "Melanosis KRAZ2"} <= set(gene_topics)
    assert result.of_genes == len(gene_topics) <= 3
    small, melanosis = gene_topics["Small Carcinoma KRAZ2"], gene_topics["Melanosis KRAZ2"]
    assert (small.fields["mesh"], small.fields["gene"]) == (("Carcinoma, Small",), "KRAZ2")
    twice = {f"d{n:03}": 2 for n in range(0, COUNT, 6)}
    assert qrels[small.id] == twice, "by another name as well: articles that name it twice"
    assert qrels[melanosis.id] == {f"d{n:03}": 1 for n in range(3, COUNT, 6)}


def test_what_was_asked_for_already_gives_way_to_headings(naming_genes, tmp_path):
    _, topics, _ = _build(naming_genes, tmp_path, "own")
    without = [topic for topic in topics if "gene" not in topic.fields]
    assert len(without) > 40
    assert all(topic.query.startswith("Rare ") for topic in without), "diseases are too common"
    assert any(int(topic.id[1:]) % 3 == 0 for topic in without), "which name a gene"


def test_the_gene_that_an_article_names_oftener_is_asked_for_more_often(naming_genes, tmp_path):
    count = 0
    for seed in range(30):
        _, topics, _ = _build(naming_genes, tmp_path, "own", out=f"made{seed}", seed=seed)
        count += any(t.fields.get("gene") == "TPX53" for t in topics)
    assert 19 < count < 30, "it names TPX53 nine times and the other one twice"


@pytest.mark.parametrize(
    ("text", "query", "grade"),
    [
        ("The Wqz receptor was measured.", "Small Carcinoma WQZ9", 1),
        ("Alpha twinzkinase and beta twinzkinase.", "Small Carcinoma TWINZ", 2),
    ],
    ids=["a gene whose name is a heading", "two genes of one symbol"],
)
def test_genes_are_asked_for_by_their_symbols(naming_genes, tmp_path, text, query, grade):
    docs = tmp_path / "docs.jsonl"
    lines = [orjson.loads(line) for line in docs.read_bytes().splitlines()]
    lines[10]["abstract"] = text
    docs.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    _, topics, qrels = _build(naming_genes, tmp_path, "own")
    (topic,) = [topic for topic in topics if topic.query == query]
    assert qrels[topic.id] == {"d010": grade}


@pytest.mark.parametrize(
    ("names", "warning"),
    [(NAMES, False), ("".join(GENES.splitlines(keepends=True)[:3]), True)],
    ids=["no genes", "no diseases"],
)
def test_without_genes_or_diseases_no_concept_graph_is_built(
    source, tmp_path, fresh_home, capsys, names, warning
):
    (tmp_path / "own.tsv").write_text(names)
    add("own", [tmp_path / "own.tsv"])
    result, topics, _ = _build(source, tmp_path, "own")
    assert result.of_genes == 0
    assert not any("gene" in topic.fields for topic in topics)
    assert not (fresh_home / "concepts").exists()
    assert ("since no diseases are known" in capsys.readouterr().err) == warning
