"""Pairs of texts: how a file is read, what is left out, and what the dual encoder learns of it."""

import gzip

import numpy as np
import pytest
import torch
from small import labelled, small_resources, words
from torch import Tensor

from irplatform.errors import InputError
from irplatform.plugin import TextPair, Topic, TrainingData
from irplatform.registry.loading import registry
from irplatform.reranking.systems import ChosenReranker
from irplatform.training.text_pairs import PairsOfTopics, TextPairs
from irplatform_encoders.dual_encoder import Encoder, Learned
from irplatform_encoders.dual_ranking import DualEncoder
from irplatform_encoders.dual_training import Fold, PairsTask, pretrained, read_pairs, read_passages
from irplatform_encoders.options import DualOptions, PairsOptions

ASKS = words(150)
FINDS = [f"{word}a" for word in ASKS]
NOISE = [f"{word}u" for word in words(100)]
HEADER = "citing_id\tyear\tsentence\tcited_title\n"


@pytest.fixture
def resources(tmp_path):
    """Documents with the words to be found; vectors that say nothing."""
    random = np.random.default_rng(2)
    texts = {f"d{n}": " ".join([word, *random.choice(NOISE, 4)]) for n, word in enumerate(FINDS)}
    vectors = {word: random.normal(size=16) for word in (*ASKS, *FINDS, *NOISE)}
    stand_in = small_resources(tmp_path / "forward", texts, vectors)
    stand_in.notice = lambda _message: None
    return stand_in


@pytest.fixture
def file(tmp_path):
    """Every sentence has a word and noise; the title has the word to be found."""
    random = np.random.default_rng(3)
    lines = [HEADER]
    for number in range(3000):
        asks = number % len(ASKS)
        sentence = " ".join([ASKS[asks], *random.choice(NOISE, 4)])
        title = " ".join([FINDS[asks], *random.choice(NOISE, 3)])
        lines.append(f"source{number // 5}\t2001\t{sentence} [CIT].\t{title}\n")
    path = tmp_path / "pairs.tsv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(lines)
    return path


def _options(file, **changed):
    loop = {"epochs": 8, "batch_size": 64, "patience": 8, "learning_rate": 0.1}
    return DualOptions.model_validate({"pairs": {"file": file, "loop": loop, **changed}})


def test_a_file_of_pairs_is_read_by_its_columns(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        '\ufeffb\ta\tsource\nsome  "title\tasks [CIT] this\ts1\n\tempty\ts2\nshort\n',
        encoding="utf-8",
    )
    (pair,) = TextPairs(path, query="a", text="b", group="source", marker="[CIT]")
    assert (pair.query, pair.text, pair.group) == ("asks this", 'some "title', "s1")
    (pair,) = TextPairs(path, query="a", text="b", group="nowhere")
    assert (pair.query, pair.group) == ("asks [CIT] this", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\nx\ty\n", r"1: there is no column 'sentence'; the columns: a, b\."),
        (b"", "no column 'sentence'"),
        (b"sentence\tcited_title\n\xff\ty\n", "not UTF-8"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_place(tmp_path, content, message):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(TextPairs(path, query="sentence", text="cited_title"))


def test_a_file_that_is_cut_short_is_refused(file):
    file.write_bytes(file.read_bytes()[:-2000])
    with pytest.raises(InputError, match="not a whole gzip file"):
        list(TextPairs(file, query="sentence", text="cited_title"))


def test_only_a_name_that_ends_in_gz_is_blamed_for_its_end(file):
    cut = file.with_name("pairs.tsv")
    cut.write_bytes(file.read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"Copy it again\.$"):
        list(TextPairs(cut, query="sentence", text="cited_title"))


def test_pairs_of_topics_and_their_sources_are_left_out(resources, file):
    options = _options(file)
    reader = Encoder(resources, options, 1).reader
    pairs = options.pairs
    first = next(iter(TextPairs(file, "sentence", "cited_title", marker="[CIT]")))
    topics = [Topic("a", "other", {"citing_id": "source7"}), Topic("b", f" {first.query}")]
    everything = read_pairs(pairs, reader, PairsOfTopics.of([], "citing_id"))
    rest = read_pairs(pairs, reader, PairsOfTopics.of(topics, "citing_id"))
    assert len(everything) == 3000
    assert len(rest) == 3000 - 5 - 1
    assert all(everything.learned.knows(topic, "citing_id") for topic in topics)
    assert not any(rest.learned.knows(topic, "citing_id") for topic in topics)


def test_a_source_that_is_mistyped_is_refused_and_the_usual_one_may_be_missing(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("sentence\tcited_title\tjournal\nx\ty\tj\n", encoding="utf-8")
    for group in ("citing_id", "journal", ""):
        PairsOptions(file=path, group=group).check()
    with pytest.raises(InputError, match="no column 'jornal'"):
        PairsOptions(file=path, group="jornal").check()


def test_every_source_is_left_out_of_exactly_one_fold(resources, file):
    options = _options(file)
    reader = Encoder(resources, options, 1).reader
    folds = [read_pairs(options.pairs, reader, Fold(number, 3)) for number in range(3)]
    assert sum(len(fold) for fold in folds) == 2 * 3000
    for source in range(600):
        topic = Topic("t", "other", {"citing_id": f"source{source}"})
        assert sum(fold.learned.knows(topic, "citing_id") for fold in folds) == 2


def test_most_pairs_and_missing_files(resources, file, tmp_path):
    reader = Encoder(resources, _options(file), 1).reader
    nothing = PairsOfTopics.of([], "citing_id")
    assert len(read_pairs(PairsOptions(file=file, most=70), reader, nothing)) == 70
    with pytest.raises(InputError, match="no such file of pairs"):
        read_pairs(PairsOptions(file=tmp_path / "none.tsv"), reader, nothing)
    one = tmp_path / "one.tsv"
    one.write_text(f"{HEADER}s\t1\tx\ty\n", encoding="utf-8")
    with pytest.raises(InputError, match="too few pairs"):
        read_pairs(PairsOptions(file=one), reader, nothing)


@pytest.fixture
def abstracts(tmp_path):
    """Documents of thirty words with a title of their own; one lacks a title, one an abstract."""
    random = np.random.default_rng(6)
    texts = {
        f"d{number}": " ".join([word, *random.choice(NOISE, 29)])
        for number, word in enumerate(4 * ASKS)
    }
    titles = {f"d{number}": word for number, word in enumerate(4 * FINDS)} | {"bare": FINDS[0]}
    texts |= {"untitled": NOISE[0], "bare": ""}
    vectors = {word: random.normal(size=16) for word in (*ASKS, *FINDS, *NOISE)}
    return small_resources(tmp_path / "forward", texts, vectors, titles=titles)


def test_passages_are_runs_of_an_abstracts_words_with_its_title(abstracts):
    options = _options(None, passages=3, passage_words=8)
    encoder = Encoder(abstracts, options, 1)
    passages, titles, rows = read_passages(encoder.reader, options.pairs)
    assert len(passages) == len(titles) == len(rows) == 12 * len(FINDS)
    bodies = encoder.reader.documents(rows, "abstract")
    expected_titles = encoder.reader.documents(rows, "title")
    begins = set()
    for number in range(len(passages)):
        passage, abstract = (bags.take(np.array([number])).words for bags in (passages, bodies))
        places = [n for n in range(23) if abstract[n : n + 8].tolist() == passage.tolist()]
        assert len(passage) == 8
        assert places
        begins.update(places)
        title, expected = (
            bags.take(np.array([number])).words for bags in (titles, expected_titles)
        )
        assert title.tolist() == expected.tolist()
    assert {0, 22} <= begins  # the first and the last words, too


def test_passages_join_the_pairs_of_a_file_and_do_without_one(abstracts, file):
    nothing = PairsOfTopics.of([], "citing_id")
    alone, combination = _options(None, passages=2), _options(file, passages=2)
    reader = Encoder(abstracts, alone, 1).reader
    assert len(read_pairs(alone.pairs, reader, nothing)) == 8 * len(FINDS)
    pairs = read_pairs(combination.pairs, reader, nothing)
    assert len(pairs) == len(pairs.queries) == len(pairs.texts) == 3000 + 8 * len(FINDS)
    assert len(np.unique(pairs.group)) == 600 + 4 * len(FINDS)
    assert pairs.target[-1] == pairs.target[-2] != pairs.target[-3]
    assert len(set(pairs.asking[-3:])) == 3
    few = alone.pairs.model_copy(update={"most": 40})
    assert len(read_pairs(few, reader, nothing)) == 40


def test_what_is_learned_of_passages_finds_documents_by_other_words(abstracts):
    """A word of the abstract leads to the title's word, which it never stands beside."""
    abstracts.notice = lambda _message: None
    options = _options(None, passages=8, passage_words=30)
    encoder, learned = pretrained(abstracts, options, PairsOfTopics.of([], "citing_id"))
    queries = encoder.queries(ASKS)
    titles = encoder.network.titles(encoder.reader.texts(FINDS)).detach().numpy()
    hits = (queries @ titles.T).argmax(axis=1) == np.arange(len(ASKS))
    assert hits.mean() >= 0.95
    assert not learned.knows(Topic("t", ASKS[0]), "citing_id")


def test_the_loss_is_that_of_a_plain_loop(resources, file):
    options = _options(file)
    encoder = Encoder(resources, options, 1)
    pairs = read_pairs(options.pairs, encoder.reader, PairsOfTopics.of([], "citing_id"))
    pairs.target[4] = pairs.target[1]  # as if both had the same title
    pairs.asking[9] = pairs.asking[0]  # as if the sentence of 0 cited another title, that of 3, too
    pairs.target[9] = pairs.target[3]
    task = PairsTask(encoder.network, pairs, options.pairs)
    batch = np.arange(6)
    no_negatives = [{(1, 4), (4, 1), (0, 3)}, {(1, 4), (4, 1), (3, 0)}]
    with torch.inference_mode():
        queries = encoder.network.queries(pairs.queries.take(batch))
        titles = encoder.network.titles(pairs.texts.take(batch))
        logits = encoder.network.logits(queries, titles).numpy().astype(float)
    losses = []
    for matrix, none in zip((logits, logits.T), no_negatives, strict=True):
        for row in range(6):
            columns = [c for c in range(6) if (row, c) not in none]
            losses.append(np.log(np.exp(matrix[row, columns]).sum()) - matrix[row, row])
    assert np.isclose(task.loss(batch).item(), np.mean(losses), atol=1e-4)


def test_float64_is_for_the_cpu_since_not_all_devices_have_it(resources, file, monkeypatch):
    options = _options(file)
    encoder = Encoder(resources, options, 1)
    pairs = read_pairs(options.pairs, encoder.reader, PairsOfTopics.of([], "citing_id"))
    task = PairsTask(encoder.network, pairs, options.pairs)
    to_cpu, double, moved = Tensor.cpu, Tensor.double, []

    def cpu(self):
        moved.append(to_cpu(self))
        return moved[-1]

    def checked(self):
        assert any(self is tensor for tensor in moved)
        return double(self)

    monkeypatch.setattr(Tensor, "cpu", cpu)
    monkeypatch.setattr(Tensor, "double", checked)
    assert 0 < task.validate() <= 1
    assert moved


def test_it_learns_from_pairs_what_vectors_do_not_tell(resources, file):
    encoder, _ = pretrained(resources, _options(file), PairsOfTopics.of([], "citing_id"))
    scores = encoder.queries(ASKS) @ encoder.documents(np.arange(len(FINDS))).T
    assert np.mean(scores.argmax(axis=1) == np.arange(len(ASKS))) >= 0.95


@pytest.mark.parametrize("notice", [False, True])
def test_pairs_of_topics_that_it_is_told_of_are_not_learned(resources, file, tmp_path, notice):
    topic = Topic("u", "something else", {"citing_id": "source7"})
    judged = [labelled(f"t{n}", ["d0", "d1", "d2"], {"d1": 1}, query=ASKS[n]) for n in range(4)]
    (tmp_path / "work").mkdir()
    reranker = DualEncoder(_options(file, loop={"epochs": 1}))
    reranker.prepare(resources)
    reranker.fit(TrainingData(judged[:3], judged[3:], tmp_path / "work", [topic] * notice))
    assert reranker.learned.knows(topic, "citing_id") != notice


def test_what_was_learned_is_kept_and_the_same_again(resources, file):
    nothing = PairsOfTopics.of([], "citing_id")
    short = _options(file, loop={"epochs": 1})
    first, learned = pretrained(resources, short, nothing)
    again, marks = pretrained(resources, short, nothing)
    assert resources.built == ["dual-encoder-pairs"]
    assert learned == marks
    resources.folder = resources.folder / "again"
    anew, _ = pretrained(resources, short, nothing)
    for name, tensor in first.network.state_dict().items():
        assert torch.equal(again.network.state_dict()[name], tensor)
        assert torch.equal(anew.network.state_dict()[name], tensor)


def test_other_threads_of_torch_may_learn_otherwise(resources, file):
    for resources.model_threads in (1, 2, 1):
        pretrained(resources, _options(file, loop={"epochs": 1}), PairsOfTopics.of([], "citing_id"))
    assert resources.built == ["dual-encoder-pairs"] * 2


def _learned(*pairs):
    return Learned.of(PairsOfTopics.of_pairs(pairs))


def test_marks_are_of_queries_and_sources_apart(tmp_path):
    learned = _learned(TextPair("a  query", "", "source"), TextPair("another", ""))
    learned.save(tmp_path)
    marks = Learned.load(tmp_path)
    assert marks.knows(Topic("1", "a query"), "from")
    assert marks.knows(Topic("1", "another"), "from")
    assert marks.knows(Topic("1", "new", {"from": "source"}), "from")
    assert not marks.knows(Topic("1", "new", {"from": "source"}), "citing_id")
    assert not marks.knows(Topic("1", "source", {"from": "a query"}), "from")


def test_other_capitals_order_and_marks_make_no_other_query_or_source():
    """The platform's own topics and a file of another maker spell sentences and DOIs otherwise."""
    learned = _learned(TextPair("In vitro , and lethal .", "", "10.7554/eLife.00003"))
    assert learned.knows(Topic("1", "in vitro, and lethal."), "from")
    assert learned.knows(Topic("1", "new", {"from": ("other", "10.7554/elife.00003")}), "from")
    topic = Topic("1", "BRAF melanoma 49-year-old", {"disease": "melanoma", "gene": "BRAF"})
    again = Topic("2", "melanoma BRAF", {"disease": "Melanoma", "gene": "braf"})
    assert Learned.of(PairsOfTopics.of([topic])).knows(again, "from")


@pytest.mark.parametrize("name", ["dual-encoder", "deepsense"])
def test_no_pre_training_beside_a_file_of_pairs(name, file):
    """It would learn from pairs of topics that come after it, which it does not know of."""
    registration = registry().reranker(name)
    with pytest.raises(InputError, match=r"pretrain= and pairs\.file exclude each other"):
        ChosenReranker(
            registration, registration.options({"pairs": {"file": file}})
        ).in_pretraining()
    plain = registration.options({})
    assert ChosenReranker(registration, plain).in_pretraining().options == plain
