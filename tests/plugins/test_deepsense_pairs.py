"""Pre-training on sentences and the titles that they cite."""

import gzip
from dataclasses import replace

import numpy as np
import pytest
import torch
from small import SmallResources, labelled, words

from irplatform.errors import InputError
from irplatform.plugin import Document, Topic, TrainingData
from irplatform.text import ForwardIndex, WordVectors, build_forward_index
from irplatform.training.text_pairs import PairsOfTopics
from irplatform_deepsense.options import DeepSenSeOptions, PairsOptions
from irplatform_deepsense.pairs import PairNetwork, PairsTask, read_pairs
from irplatform_deepsense.reranker import DeepSenSe

WORDS = words(60)
TWINS = [f"{word}a" for word in WORDS]
HEADER = "citing_id\tyear\tsentence\tcited_title"
SMALL = {"projection": 12, "compare": 10, "side": (4, 4), "classifier": (6, 5), "lexical": ()}


class Kept(SmallResources):
    """Resources that keep artifacts in a folder."""

    def artifact(self, kind, depends_on, build, *, of_vectors=True, of_words=False):
        self.asked.append(depends_on)
        folder = self.folder / f"{kind}-{len({str(d) for d in self.asked})}"
        if not folder.exists():
            folder.mkdir()
            self.built += 1
            build(folder)
        return folder

    def notice(self, message):
        pass


@pytest.fixture
def resources(tmp_path):
    random = np.random.default_rng(1)
    build_forward_index(
        (Document(f"d{n}", WORDS[n], TWINS[n]) for n in range(60)), tmp_path / "index", workers=1
    )
    vectors = {word: random.normal(size=8) for word in WORDS}
    vectors |= {f"{word}a": vectors[word] + random.normal(scale=0.1, size=8) for word in WORDS}
    matrix = np.array(list(vectors.values()), dtype=np.float32)
    stand_in = Kept(
        {},
        ForwardIndex.open(tmp_path / "index"),
        WordVectors.with_unk(list(vectors), matrix, seed=2),
    )
    stand_in.folder, stand_in.asked, stand_in.built = tmp_path, [], 0
    return stand_in


def _prepared(resources, **changed):
    reranker = DeepSenSe(
        DeepSenSeOptions.model_validate({**SMALL, "numbers": (), "categories": (), **changed})
    )
    reranker.prepare(resources)
    return reranker


NO_TOPICS = PairsOfTopics.of([], "citing_id")


def _write(path, lines, header=HEADER):
    text = "\n".join([header, *lines, ""])
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def _lines(random, count):
    """A sentence has four words, the title the twins of two of them."""
    for number in range(count):
        picks = random.choice(60, 4, replace=False)
        sentence = " ".join(WORDS[i] for i in picks)
        title = " ".join(TWINS[i] for i in picks[:2])
        yield f"a{number // 4}\t2012\tThe {sentence} [CIT].\t{title}"


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.gz"])
def test_pairs_are_read_without_what_validates(resources, tmp_path, name):
    encoder = _prepared(resources).encoder
    sentences = [" ".join(WORDS[n : n + 4]) for n in range(6)]
    file = _write(
        tmp_path / name,
        [
            f"a1\t2012\t{sentences[0]} [CIT] .\t{TWINS[0]}",
            f"a1\t2012\t{sentences[0]} [CIT] .\tanother title: {TWINS[9]}",
            f"a2\t2012\t{sentences[1]}\t{TWINS[1]}",
            f"a3\t2012\t{sentences[2]}\t{TWINS[2]}",
            f"a3\t2012\t{sentences[3]}\tnothing known",
            f"a4\t2012\t{sentences[4]}\tThe {TWINS[4]}",
            f"a4\t2012\t{sentences[5]}\t{TWINS[5]}",
        ],
    )
    topics = [Topic("t", sentences[2]), Topic("u", "another", {"citing_id": "a2"})]
    pairs_of_topics = PairsOfTopics.of(topics, "citing_id")
    pairs = read_pairs(file, encoder, 4, pairs_of_topics)
    rows = resources.word_vectors.rows
    assert [pair.article for pair in pairs] == ["a1", "a4", "a4"]
    assert pairs[0].sentence.tolist() == rows(sentences[0].split()).tolist()
    assert [pair.title.tolist() for pair in pairs] == [[rows([TWINS[n]])[0]] for n in (0, 4, 5)]
    assert [len(pair.cited) for pair in pairs] == [2, 1, 1]
    assert all(pair.title.tobytes() in pair.cited for pair in pairs)
    assert len(read_pairs(file, encoder, 3, pairs_of_topics)) == 2, (
        "one of three has no known title"
    )
    learner = DeepSenSe(DeepSenSeOptions.model_validate({"pairs": {"file": file, "sentences": 3}}))
    learned = [pair.query for pair in learner.reads().pairs.read(topics)]
    assert learned == [sentences[n] + end for n, end in ((0, " ."), (0, " ."), (3, ""), (4, ""))]
    assert DeepSenSe(DeepSenSeOptions()).reads().pairs is None


def test_a_file_without_its_columns_is_refused(resources, tmp_path):
    encoder = _prepared(resources).encoder
    file = _write(tmp_path / "pairs.tsv", [], header="sentence\ttitle")
    with pytest.raises(InputError, match="no column 'cited_title'"):
        read_pairs(file, encoder, 3, NO_TOPICS)
    with pytest.raises(InputError, match="there is no such file"):
        read_pairs(tmp_path / "other.tsv", encoder, 3, NO_TOPICS)


def _task(resources, tmp_path, count=600, **changed):
    reranker = _prepared(resources)
    lines = list(_lines(np.random.default_rng(4), count))
    pairs = read_pairs(_write(tmp_path / "p.tsv", lines), reranker.encoder, count, NO_TOPICS)
    torch.manual_seed(1)
    module = PairNetwork(reranker.network)
    return PairsTask(module, reranker.encoder, PairsOptions(**changed), pairs), pairs


def test_the_loss_asks_for_the_own_title_among_the_others(resources, tmp_path):
    task, pairs = _task(resources, tmp_path, 40)
    task.module.eval()
    titles = pairs[1].cited | {pairs[3].title.tobytes()}
    batch = [pairs[0], replace(pairs[1], cited=titles), *pairs[2:5], pairs[0]]
    network = task.module.network
    with torch.no_grad():
        tables = network.tabulate(task.encoder.vectors, task.encoder.idf)
        scores = np.array(
            [
                [
                    task.module.head(
                        torch.cat(
                            network.match(
                                tables,
                                torch.from_numpy(a.sentence)[None],
                                torch.from_numpy(b.title)[None],
                            ),
                            dim=1,
                        )
                    ).item()
                    for b in batch
                ]
                for a in batch
            ]
        )
        scores[0, 5] = scores[5, 0] = -np.inf  # the same pair twice is no negative
        scores[1, 3] = -np.inf  # nor is what a sentence cites beside its own title
        expected = np.mean(np.log(np.exp(scores).sum(axis=1)) - scores.diagonal())
        assert task.loss(batch).item() == pytest.approx(expected, abs=1e-5)


def test_articles_validate_whose_other_sentences_teach_nothing(resources, tmp_path):
    task, pairs = _task(resources, tmp_path, 600, neighbours=2)
    validating = {pair.article for pair in task.validation}
    teaching = {pair.article for batch in task.batches(0) for pair in batch}
    assert len(validating) == 3
    assert validating | teaching == {pair.article for pair in pairs}
    assert not validating & teaching


def test_neighbours_stand_together_in_every_epoch(resources, tmp_path):
    task, _ = _task(resources, tmp_path, 200, neighbours=4, batch_size=16)
    for epoch in (0, 1):
        for batch in task.batches(epoch):
            articles = [pair.article for pair in batch]
            assert len(articles) == 16 or len(batch) < 16
            assert all(len(set(articles[i : i + 4])) == 1 for i in range(0, len(articles), 4))
    orders = [[p.article for b in task.batches(e) for p in b] for e in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]


def test_what_was_taught_is_where_members_start(resources, tmp_path):
    file = _write(tmp_path / "p.tsv", list(_lines(np.random.default_rng(4), 300)))
    pairs = {"file": file}
    topics = [
        labelled(f"t{n}", [f"d{n}", "d0", "d1"], {f"d{n}": 1}, query=WORDS[n]) for n in range(5, 9)
    ]
    data = TrainingData(topics, topics, tmp_path / "work")
    states = []
    for seed in (1, 2):
        resources.seed = seed
        reranker = _prepared(resources, pairs=pairs)
        untaught = {k: w.clone() for k, w in reranker.network.shared_state().items()}
        reranker._take_pretrained(data)
        states.append(reranker.network.shared_state())
        assert all(not torch.equal(untaught[name], w) for name, w in states[-1].items())
    assert resources.built == 1
    assert all(torch.equal(states[0][name], w) for name, w in states[1].items())
    (folder,) = tmp_path.glob("deepsense-pairs-*")
    assert [file.name for file in folder.iterdir()] == ["deepsense-pairs.safetensors"]
    resources.model_threads = 2  # which round otherwise
    reranker._take_pretrained(data)
    assert resources.built == 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [(None, "cannot be read: No such file"), ([], "there are too few sentences with titles")],
    ids=["missing", "empty"],
)
def test_a_file_that_teaches_nothing_is_named(resources, tmp_path, lines, message):
    file = tmp_path / "pairs.tsv"
    if lines is not None:
        _write(file, lines)
    reranker = _prepared(resources, pairs={"file": file})
    with pytest.raises(InputError, match=rf"pairs\.tsv: {message}"):
        reranker._take_pretrained(TrainingData([], [], tmp_path / "work"))


def test_pre_training_learns_to_find_titles(resources, tmp_path):
    from irplatform.training.loop import LoopSettings, run_loop

    task, _ = _task(resources, tmp_path, 1500)
    before = task.validate()
    loop = LoopSettings(optimizer="adam", learning_rate=0.01, epochs=3)
    after = run_loop(task, loop, seed=1, workspace=tmp_path)
    assert before < 0.5
    assert after >= 0.9
