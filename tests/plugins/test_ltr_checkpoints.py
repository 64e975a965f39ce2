"""Scores of checkpoints as features: what is refused, since its scores would mislead."""

import json
from types import SimpleNamespace

import pytest
from checkpoints import described
from small import chosen

from irplatform.errors import InputError
from irplatform.plugin import Document, Documents, Reranker, Topic
from irplatform_ltr.groups.stacking import CheckpointOptions, Checkpoints

TOPICS = [Topic("1", "melanoma therapy"), Topic("2", "glioma")]


def _group(*folders, members=()):
    group = Checkpoints(CheckpointOptions(folders=tuple(map(str, folders))))
    group.prepare(
        SimpleNamespace(device="cpu", model_threads=1, checkpoint=lambda _folder: members)
    )
    return group


class Longer(Reranker):
    """Scores by the length of a document's id and of the query, as many times as is said."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    def score(self, topic, documents):
        return [self.times * (len(d) + len(topic.query)) for d in documents.ids]


def test_a_checkpoints_score_is_the_mean_of_its_members(tmp_path):
    folders = [described(tmp_path / name, "delta") for name in ("one", "two")]
    group = _group(*folders, members=[Longer(1), Longer(5)])
    assert group.names() == ("1 one", "2 two")
    batch = [(topic, Documents.of([Document("x"), Document("yyy")])) for topic in TOPICS]
    first, second = group.compute_batch([*batch[:1], (TOPICS[1], Documents.of([]))])
    lengths = [1 + len(TOPICS[0].query), 3 + len(TOPICS[0].query)]
    assert first.tolist() == [[3 * length] * 2 for length in lengths]
    assert second.shape == (0, 2)
    assert group.compute(*batch[0]).tolist() == first.tolist()


def test_one_that_was_trained_on_the_topics_is_refused(tmp_path):
    """What `write_checkpoint` records is what the guard looks for."""
    fine = described(tmp_path / "fine", "delta", [Topic("1", "other words")])
    other = described(tmp_path / "seen", "delta", [Topic("77", "glioma")])
    assert _group(fine).lacks(TOPICS) == ""
    with pytest.raises(InputError, match=r"seen: .*trained on 1 of the 2 topics of training"):
        _group(fine, other).lacks(TOPICS)


def test_what_is_no_checkpoint_is_refused_before_any_work(tmp_path):
    folder = described(tmp_path / "held", "delta")
    _group(folder).reads()
    (folder / "checkpoint.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="has format 99"):
        _group(folder).reads()


@pytest.mark.parametrize(
    ("reranker", "settings"),
    [
        ("ltr", {"features": ["lexical", "checkpoints"], "settings": {"checkpoints": "HERE"}}),
        ("delta", {"features": ["checkpoints"], "feature_settings": {"checkpoints": "HERE"}}),
        (
            "ltr",
            {
                "features": ["first-stage"],
                "settings": {
                    "first-stage": {
                        "retrievers": ["bm25", "dual-encoder"],
                        "settings": {"dual-encoder": {"checkpoint": "FOLDER"}},
                    }
                },
            },
        ),
        (
            "ltr",
            {
                "stack": ["delta"],
                "settings": {
                    "stack": {
                        "settings": {
                            "delta": {
                                "features": ["checkpoints"],
                                "feature_settings": {"checkpoints": "HERE"},
                            }
                        }
                    }
                },
            },
        ),
        ("ltr", {}),
    ],
)
def test_who_reads_scores_of_checkpoints_names_them(tmp_path, reranker, settings):
    folder = described(tmp_path / "held", "dual-encoder")
    value = json.dumps({"folders": [str(folder)]})
    text = json.dumps(settings).replace('"HERE"', value)
    options = json.loads(text.replace('"FOLDER"', json.dumps(str(folder))))
    expected = (folder,) if settings else ()
    assert chosen(reranker, **options).checkpoints() == expected


@pytest.mark.parametrize("stacked", ["dual-encoder", "deepsense"])
@pytest.mark.parametrize("reranker", ["ltr", "delta"])
def test_who_stacks_what_learns_from_pairs_of_texts_learns_from_them(tmp_path, reranker, stacked):
    file = tmp_path / "pairs.tsv"
    lines = ("citing_id\tsentence\tcited_title", "a1\tone\tx", "a2\ttwo\ty", "a3\tthree\tz")
    file.write_text("\n".join(lines), encoding="utf-8")
    settings = {stacked: {"pairs": {"file": str(file)}}}
    options = {
        "ltr": {"stack": [stacked], "settings": {"stack": {"settings": settings}}},
        "delta": {
            "features": ["stack"],
            "feature_settings": {"stack": {"rerankers": [stacked], "settings": settings}},
        },
    }
    topics = [Topic("t", "Two"), Topic("u", "other", {"citing_id": "A3"})]
    pairs = chosen(reranker, **options[reranker]).pairs_learned(topics)
    assert [(pair.query, pair.group) for pair in pairs] == [("one", "a1")]
    assert chosen(reranker).pairs_learned(topics) == []
