"""A small study with PyTerrier, PISA, pyterrier-caching and ranx, as their documentation writes it.

`study.py` starts it with the Python of an environment that has these packages: a folder with
`corpus.jsonl.gz`, `queries.jsonl.gz` and `qrels/{train,dev}.tsv`, and a folder for the index and
the caches, which are used if they are there. The seconds of each part and the scores go to
`OUT/result.json`. PISA has no RM3; PyTerrier's needs an index of Terrier, whose Java archives are
downloaded, and is left out.
"""

import gzip
import json
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import pyterrier as pt
from pyterrier.measures import AP, nDCG
from pyterrier_caching import RetrieverCache, ScorerCache
from pyterrier_pisa import PisaIndex

DATA, OUT = Path(sys.argv[1]), Path(sys.argv[2])
QUERY, RERANK_DEPTH = sys.argv[3], int(sys.argv[4])
SECONDS = {}


@contextmanager
def part(name: str) -> Iterator[None]:
    """Measure a part of the study: wall clock, and processor of all threads."""
    begun, processor = time.perf_counter(), time.process_time()
    yield
    SECONDS[name] = {
        "wall": time.perf_counter() - begun,
        "processor": time.process_time() - processor,
    }


def corpus() -> Iterator[dict[str, str]]:
    """The documents, as `PisaIndex.index` takes them."""
    with gzip.open(DATA / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield {"docno": record["_id"], "title": record["title"], "text": record["text"]}


def topics_and_qrels(split: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The topics of a split, and their judgments."""
    qrels = pd.read_csv(DATA / "qrels" / f"{split}.tsv", sep="\t")
    qrels.columns = ["qid", "docno", "label"]
    queries = pd.read_json(DATA / "queries.jsonl.gz", lines=True, dtype=False)
    topics = queries.rename(columns={"_id": "qid", "text": "query"})[["qid", "query"]]
    return topics[topics.qid.isin(qrels.qid)].reset_index(drop=True), qrels


with part("index"):
    index = PisaIndex(str(OUT / "index"), text_field=["title", "text"])
    if not index.built():
        index.index(corpus())
    index.bm25(num_results=10).search(QUERY)

topics, qrels = topics_and_qrels("dev")
found = {}


def cached(name: str, retriever: pt.Transformer) -> RetrieverCache:
    """A retriever that keeps what it found."""
    return RetrieverCache(str(OUT / f"{name}.cache"), retriever)


bm25 = cached("bm25", index.bm25(k1=0.9, b=0.4))
with part("bm25"):
    found["bm25"] = bm25(topics)
qld = cached("qld", index.qld(mu=1000))
with part("qld"):
    found["qld"] = qld(topics)


def scores_of(retriever: pt.Transformer) -> pt.Transformer:
    """The scores of a retriever for documents that another found: PISA reranks nothing itself."""

    def scores(results: pd.DataFrame) -> pd.DataFrame:
        queries = results[["qid", "query"]].drop_duplicates()
        scored = retriever(queries)[["qid", "docno", "score"]]
        return (
            results.drop(columns="score").merge(scored, on=["qid", "docno"], how="left").fillna(0)
        )

    return pt.apply.generic(scores)


with part("training"):
    lengths = {
        document["docno"]: [len(document["title"].split()), len(document["text"].split())]
        for document in corpus()
    }
    candidates = bm25 % RERANK_DEPTH
    features = (
        pt.Transformer.identity()  # the score of BM25
        ** scores_of(qld)
        ** scores_of(index.dph())
        ** scores_of(index.pl2())
        ** pt.apply.doc_features(lambda row: np.array(lengths[row["docno"]]))
    )
    model = OUT / "model.pickle"
    if model.exists():
        learner = pickle.loads(model.read_bytes())
    else:
        learner = lightgbm.LGBMRanker(
            objective="lambdarank", n_estimators=300, learning_rate=0.03, num_leaves=15,
            min_child_samples=20, colsample_bytree=0.3, subsample=0.7, subsample_freq=1,
            reg_lambda=5.0, random_state=42, verbose=-1,
        )  # fmt: skip
    learned = features >> pt.ltr.apply_learned_model(learner, form="ltr")
    if not model.exists():
        train, train_qrels = topics_and_qrels("train")
        validation = train.sample(frac=0.1, random_state=42)
        (candidates >> learned).fit(
            train.drop(validation.index), train_qrels, validation, train_qrels
        )
        model.write_bytes(pickle.dumps(learner))

with part("reranking"):
    # By topic: two ask with the same words, which a cache by the query refuses.
    scorer = ScorerCache(str(OUT / "ltr.cache"), learned, group="qid")
    found["ltr"] = ((candidates >> scorer) ^ bm25)(topics)

with part("evaluation"):
    table = pt.Experiment(
        list(found.values()), topics, qrels, [nDCG @ 20, AP], list(found),
        baseline=0, correction="holm",
    )  # fmt: skip

with part("ranx"):
    from ranx import Qrels, Run, compare

    texts = {"qid": object, "docno": object}  # which pandas 3 reads as another type
    judged = Qrels.from_df(qrels.astype(texts), "qid", "docno", "label")
    runs = [
        Run.from_df(frame.astype({**texts, "score": float}), "qid", "docno", name=name)
        for name, frame in found.items()
    ]
    report = compare(judged, runs, ["ndcg@20", "map"], max_p=0.05, make_comparable=True)

scores = {row["name"]: {"nDCG@20": row["nDCG@20"], "AP": row["AP"]} for _, row in table.iterrows()}
result = {"seconds": SECONDS, "scores": scores, "ranx": report.results}
(OUT / "result.json").write_text(json.dumps(result))
