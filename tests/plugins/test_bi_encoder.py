"""Bi-encoders: scores and rankings are those of the model."""

import threading

import numpy as np
import pytest
from bi_encoders import OTHER, QUERY, hidden_vectors, open_bi_encoder, read_documents
from pretrained_models import WORDS, save_sentence_encoder, texts
from small import small_resources

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Topic
from irplatform.system.arithmetic import SETTINGS
from irplatform_encoders.biencoder import BiEncoderSearch
from irplatform_encoders.biencoder_model import Encoder
from irplatform_encoders.options import BiEncoderOptions, BiEncoderSearchOptions


def _cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


def test_scores_are_cosines_of_means_of_the_transformer_s_vectors(
    sentence_encoder, bare_encoder, text_resources
):
    query = hidden_vectors(bare_encoder, QUERY.query).mean(axis=0)
    read = read_documents(text_resources, 20)
    expected = [
        _cosine(query, hidden_vectors(bare_encoder, d.text).mean(axis=0)) * bool(d.text)
        for d in read
    ]
    scores = open_bi_encoder(sentence_encoder, text_resources, batch_size=3).score(QUERY, read)
    assert np.std(scores) > 1e-3
    assert np.allclose(scores, expected, atol=1e-5)


def test_prompts_are_put_before_texts(sentence_encoder, text_resources, tmp_path):
    plain = open_bi_encoder(sentence_encoder, text_resources)
    topic = Topic("t", f"w50 {QUERY.query}")
    read = read_documents(text_resources, 20)
    prompted = open_bi_encoder(sentence_encoder, text_resources, query_prompt="w50 ")
    assert np.allclose(prompted.score(QUERY, read), plain.score(topic, read), atol=1e-5)
    folder = save_sentence_encoder(tmp_path / "own", prompts={"query": "w50 ", "document": "w51 "})
    document = open_bi_encoder(
        sentence_encoder, text_resources, query_prompt="w50 ", document_prompt="w51 "
    )
    expected = document.score(QUERY, read)
    assert not np.allclose(expected, prompted.score(QUERY, read), atol=1e-3)
    assert np.allclose(
        open_bi_encoder(folder, text_resources).score(QUERY, read), expected, atol=1e-5
    )


def test_queries_can_have_a_model_of_their_own(sentence_encoder, text_resources, tmp_path):
    other = save_sentence_encoder(tmp_path / "other", seed=2)
    read = read_documents(text_resources, 20)
    reranker = open_bi_encoder(sentence_encoder, text_resources, query_model=str(other))
    query = Encoder(BiEncoderOptions(model=str(other)), "cpu").queries([QUERY.query])[0]
    vectors = Encoder(BiEncoderOptions(model=str(sentence_encoder)), "cpu").documents(
        [d.text for d in read]
    )
    assert np.allclose(reranker.score(QUERY, read), vectors @ query, atol=1e-5)
    narrow = save_sentence_encoder(tmp_path / "narrow", width=8)
    with pytest.raises(InputError, match=r"have 8 numbers, those of documents 16"):
        open_bi_encoder(sentence_encoder, text_resources, query_model=str(narrow))


def test_texts_are_cut_to_the_length_that_is_asked_for(sentence_encoder, text_resources):
    short = open_bi_encoder(
        sentence_encoder, text_resources, max_length=9
    )  # seven words between two marks
    cut = Encoder(BiEncoderOptions(model=str(sentence_encoder)), "cpu")
    read = [d for d in read_documents(text_resources) if len(d.text.split()) > 12][:5]
    vectors = cut.documents([" ".join(d.text.split()[:7]) for d in read])
    expected = vectors @ cut.queries([QUERY.query])[0]
    assert np.allclose(short.score(QUERY, Documents.of(read)), expected, atol=1e-5)


def test_scores_do_not_depend_on_order_company_or_batches(sentence_encoder, text_resources):
    read = list(read_documents(text_resources))
    together = np.array(
        open_bi_encoder(sentence_encoder, text_resources).score(QUERY, Documents.of(read))
    )
    order = np.random.default_rng(0).permutation(len(read))
    other = _small_again(text_resources)
    reranker = open_bi_encoder(sentence_encoder, other, batch_size=2)
    shuffled = reranker.score(QUERY, Documents.of([read[i] for i in order]))
    assert np.allclose(shuffled, together[order], atol=1e-5)
    several = reranker.score_batch(
        [(OTHER, Documents.of(read[:5])), (QUERY, Documents.of([])), (QUERY, Documents.of(read))]
    )
    assert [len(scores) for scores in several] == [5, 0, len(read)]
    assert np.allclose(several[2], together, atol=1e-5)


def test_threads_change_no_vector(sentence_encoder):
    read = [*texts(1, 40), "", *texts(3, 9)]
    alone, together = (
        Encoder(BiEncoderOptions(model=str(sentence_encoder)), "cpu", n) for n in (1, 3)
    )
    for _ in range(2):
        assert np.array_equal(together.documents(read), alone.documents(read))
    assert np.array_equal(together.queries(read[:5]), alone.queries(read[:5]))
    assert together.documents([""]).tolist() == [[0.0] * together.width]


def test_in_portable_arithmetic_a_vector_does_not_depend_on_its_batch(
    sentence_encoder, monkeypatch
):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    encoder = Encoder(BiEncoderOptions(model=str(sentence_encoder)), "cpu")
    read = [*texts(1, 40), "", "w1 w2", "w3 w4"]
    alone = np.concatenate([encoder.documents([text]) for text in read])
    assert np.array_equal(encoder.documents(read), alone)


def test_texts_are_encoded_at_the_same_time_by_copies_of_the_same_weights(
    sentence_encoder, monkeypatch
):
    from sentence_transformers import SentenceTransformer

    encoder = Encoder(BiEncoderOptions(model=str(sentence_encoder)), "cpu", 3)
    met, encode = threading.Barrier(3, timeout=30), SentenceTransformer.encode_document
    models = {}

    def waiting(self, *arguments, **options):
        models[id(self)] = self
        met.wait()
        return encode(self, *arguments, **options)

    monkeypatch.setattr(SentenceTransformer, "encode_document", waiting)
    monkeypatch.setattr("irplatform_encoders.batches._ON_CPU", 1)  # a text in each batch
    encoder.documents(texts(1, 3))
    assert len(models) == 3
    tokenizers = {id(model[0].tokenizer) for model in models.values()}
    weights = {next(model.parameters()).data_ptr() for model in models.values()}
    assert (len(tokenizers), len(weights)) == (3, 1)


def _small_again(resources):
    """The same documents with an empty cache."""
    return small_resources(
        resources.folder.with_name("again") / "forward",
        resources.texts,
        {word: np.ones(2) for word in WORDS},
    )


def test_shorter_numbers_give_nearly_the_same(sentence_encoder, text_resources, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)  # native arithmetic
    read = read_documents(text_resources, 20)
    exact = open_bi_encoder(sentence_encoder, text_resources).score(QUERY, read)
    short = open_bi_encoder(sentence_encoder, text_resources, precision="bfloat16").score(
        QUERY, read
    )
    assert not np.array_equal(exact, short)
    assert np.allclose(exact, short, atol=0.05)


def test_portable_arithmetic_has_no_shorter_numbers_on_the_cpu(
    sentence_encoder, text_resources, monkeypatch
):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    one, other = (
        open_bi_encoder(sentence_encoder, text_resources, precision=name)
        for name in ("float32", "bfloat16")
    )
    read = read_documents(text_resources, 20)
    assert one.score(QUERY, read) == other.score(QUERY, read)
    assert text_resources.built.count("bi-encoder") == 1


@pytest.mark.parametrize("index", ["exact", "ivf"])
def test_the_retriever_finds_what_the_reranker_prefers(sentence_encoder, text_resources, index):
    retriever = BiEncoderSearch(
        BiEncoderSearchOptions(model=str(sentence_encoder), index=index, probes=1000)
    )
    run = retriever.retrieve([QUERY, OTHER], 10, text_resources)
    read = read_documents(text_resources)
    for topic in (QUERY, OTHER):
        scores = open_bi_encoder(sentence_encoder, text_resources).score(topic, read)
        expected = sorted(zip(scores, read.ids, strict=True), reverse=True)[:10]
        ranking = run.rankings[topic.id]
        assert np.allclose(
            sorted(ranking.scores, reverse=True), [s for s, _ in expected], atol=2e-3
        )
        if index == "exact":
            assert set(ranking.doc_ids) == {doc_id for _, doc_id in expected}


def test_depth_beyond_the_collection_finds_all(sentence_encoder, text_resources):
    run = BiEncoderSearch(BiEncoderSearchOptions(model=str(sentence_encoder))).retrieve(
        [QUERY], 500, text_resources
    )
    assert len(run.rankings[QUERY.id].doc_ids) == 120


def test_an_explanation_names_the_nearest_sentences(sentence_encoder, text_resources):
    said = ["W1 w2 w3.", "W40 w41.", "W3 w4 w5.", "W9 w10.", "W50."]
    document = Document("d0", "w4 w5", " ".join(said))
    reranker = open_bi_encoder(sentence_encoder, text_resources)
    (explanation,) = reranker.explain(QUERY, Documents.of([document]))
    assert explanation["score"] == reranker.score(QUERY, Documents.of([document]))[0]
    encoder = Encoder(BiEncoderOptions(model=str(sentence_encoder)), "cpu")
    alone = encoder.documents(["w4 w5", *said]) @ encoder.queries([QUERY.query])[0]
    expected = sorted(zip(alone.tolist(), ["w4 w5", *said], strict=True), reverse=True)[:3]
    assert [row["sentence"] for row in explanation["sentences"]] == [text for _, text in expected]
    assert [row["score"] for row in explanation["sentences"]] == pytest.approx(
        [score for score, _ in expected], abs=1e-5
    )


def test_the_retriever_opens_model_and_index_once(sentence_encoder, text_resources, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "irplatform_encoders.biencoder_model.Encoder",
        lambda *arguments: calls.append(1) or Encoder(*arguments),
    )
    retriever = BiEncoderSearch(BiEncoderSearchOptions(model=str(sentence_encoder)))
    together = retriever.retrieve([QUERY, OTHER], 5, text_resources).rankings
    for topic in (QUERY, OTHER):
        alone = retriever.retrieve([topic], 5, text_resources).rankings[topic.id]
        assert alone.doc_ids == together[topic.id].doc_ids
    assert len(calls) == 1


def test_documents_and_queries_without_text_have_score_0(sentence_encoder, tmp_path):
    documents = {"full": "w1 w2", "empty": "", "blank": " "}
    resources = small_resources(
        tmp_path / "forward", documents, {word: np.ones(2) for word in WORDS}
    )
    scores = open_bi_encoder(sentence_encoder, resources).score(QUERY, read_documents(resources))
    assert scores[0] != 0
    assert scores[1:] == [0, 0]
    assert open_bi_encoder(sentence_encoder, resources).score(
        Topic("t", " "), read_documents(resources)
    ) == [0, 0, 0]
    run = BiEncoderSearch(BiEncoderSearchOptions(model=str(sentence_encoder))).retrieve(
        [QUERY, Topic("u", "")], 3, resources
    )
    assert [len(run.rankings[topic].doc_ids) for topic in ("t", "u")] == [3, 0]
