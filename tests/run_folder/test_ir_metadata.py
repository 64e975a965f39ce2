"""Metadata in the form that evaluation campaigns check, beside a run and in its head."""

import pytest
import yaml

from irplatform.errors import InputError
from irplatform.run_folder.ir_metadata import (
    as_recorded,
    ir_metadata,
    lacking,
    read_head,
    write_ir_metadata,
)
from irplatform.run_folder.metadata_files import read_metadata, run_metadata
from irplatform.run_folder.metadata_model import Data, Marks, Method
from irplatform.runs import read_run

FACTS = {"name": "Ada", "team": "Engines", "repository": "https://example.org/code"}
# The fields and types that TIRA 0.0.207 requires of LongEval's runs (`tira.check_format`); those of
# its other tasks are among them.
REQUIRED = {
    "tag": str,
    "actor": {"team": str},
    "research goal": {"description": str},
    "platform": {"software": {"libraries": list}},
    "implementation": {"source": {"repository": str}},
    "data": {"test collection": {"name": str}, "training data": {"name": str}},
    "method": {
        "name": str,
        "description": str,
        "automatic": bool,
        "indexing": {"tokenizer": str, "stemmer": str, "stopwords": str},
        "retrieval": {
            "name": str,
            "lexical": bool,
            "deep_neural_model": bool,
            "sparse_neural_model": bool,
            "single_stage_retrieval": bool,
        },
    },
}
HEAD = """# ir_metadata.start
# tag: theirs
# actor:
#   team: Engines
# ir_metadata.end
"""
LINES = "1 Q0 d2 1 2.0 t\n1 Q0 d1 2 1.0 t\n"


def of_delta(**changes):
    method = {
        "retrieval": [
            {"retriever": "bm25", "options": {"k1": 0.9, "plan": {"text": 1}}},
            {"label": "big", "reranker": "delta", "options": {"filters": 64}, "reranks": "bm25"},
        ],
        "neural": ["big"],
        "interpolation": 0.25,
        "settings": {"depth": 1000},
    }
    return run_metadata(
        tag="big",
        command="platform run",
        data=Data(test_collection=Marks(name="demo")),
        method=Method(**method | changes),
        timings={},
    )


def fits(content, required):
    if isinstance(required, type):
        return isinstance(content, required)
    parts = content if isinstance(content, list) else [content]
    return bool(parts) and all(
        fits(part[name], of) for part in parts for name, of in required.items()
    )


def test_it_has_the_fields_that_campaigns_require(tmp_path):
    write_ir_metadata(ir_metadata(of_delta(), FACTS), tmp_path / "m.yml")
    content = yaml.safe_load((tmp_path / "m.yml").read_text(encoding="utf-8"))
    assert fits(content, REQUIRED)
    assert lacking(content) == []


def test_it_tells_the_steps_in_data_and_in_words():
    content = ir_metadata(of_delta(), FACTS)["method"]
    assert content["name"] == "bm25 → big"
    assert content["description"] == (
        "bm25 finds 1,000 documents per topic; big reranks those of bm25, mixed with bm25 "
        "(weight 0.25)."
    )
    bm25, big = content["retrieval"]
    assert (bm25["lexical"], bm25["deep_neural_model"], bm25["k1"]) == (True, False, 0.9)
    assert (big["lexical"], big["deep_neural_model"], big["filters"]) == (False, True, 64)
    assert "plan" not in bm25


def test_libraries_are_a_list_with_versions():
    libraries = ir_metadata(of_delta(), FACTS)["platform"]["software"]["libraries"]
    assert any(entry.startswith("numpy==") for entry in libraries)


def test_what_the_user_says_goes_before_what_is_derived():
    said = {**FACTS, "method": "Big Delta", "description": "It reads.", "goal": "To know."}
    content = ir_metadata(of_delta(), said)
    assert content["method"]["name"] == "Big Delta"
    assert content["method"]["description"] == "It reads."
    assert content["research goal"]["description"] == "To know."


def test_what_is_unknown_is_named_and_left_out(tmp_path):
    content = ir_metadata(of_delta(), {})
    assert lacking(content) == ["team", "repository"]
    write_ir_metadata(content, tmp_path / "m.yml")
    text = (tmp_path / "m.yml").read_text(encoding="utf-8")
    assert text.startswith("# Campaigns also ask for team and repository: `platform config set ")
    assert yaml.safe_load(text)["actor"] == {"role": "experimenter"}


def test_a_run_with_metadata_in_its_head_is_read_quietly(tmp_path, capsys):
    path = tmp_path / "theirs.run"
    path.write_text(HEAD + LINES, encoding="utf-8")
    assert read_run(path).rankings["1"].doc_ids == ("d2", "d1")
    assert capsys.readouterr().err == ""
    assert read_head(path) == {"tag": "theirs", "actor": {"team": "Engines"}}
    assert read_metadata(path).tag == "theirs"


def test_a_head_as_repro_eval_writes_it_is_read(tmp_path):
    path = tmp_path / "theirs.run"
    head = HEAD.replace("\n", " \n").replace("start \n", "start\n").replace("end \n", "end\n")
    path.write_text(head + LINES, encoding="utf-8")
    assert read_head(path)["tag"] == "theirs"


def test_our_form_is_read_back_as_far_as_it_tells():
    back = as_recorded(ir_metadata(of_delta(), FACTS))
    recorded = of_delta()
    assert back.platform.software.python == recorded.platform.software.python
    assert back.platform.software.libraries == recorded.platform.software.libraries
    bm25, delta = back.method.retrieval
    assert (bm25.retriever, delta.reranker, delta.name) == ("bm25", "delta", "big")


@pytest.mark.parametrize(
    "content",
    [
        {"platform": None, "method": "BM25", "data": [], "implementation": {}},
        {"platform": {"software": {"libraries": {"java": ["x==1"]}}}},
        {"platform": {"software": {"libraries": "many"}}, "method": {"retrieval": "all"}},
        {"method": {"retrieval": ["bm25", {"name": "bm25", "k1": 0.9}]}},
    ],
)
def test_what_others_write_is_read_as_far_as_it_is_understood(content):
    back = as_recorded(content).content()
    assert all(isinstance(section, dict) for section in back.values())
    steps = back.get("method", {}).get("retrieval", [])
    assert steps in ([], [{"name": "bm25", "k1": 0.9}])
    assert back.get("platform", {}).get("software", {}).get("libraries", {"python": {}}) == {
        "python": {}
    }


@pytest.mark.parametrize(
    "start",
    [
        "\ufeff# ir_metadata.start",
        "#ir_metadata.start",
        "\n# ir_metadata.start",
        "#\tir_metadata.start ",
    ],
)
@pytest.mark.parametrize("end", ["# ir_metadata.end", "#ir_metadata.end"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_head_is_read_in_the_spellings_of_others(tmp_path, capsys, start, end, newline):
    path = tmp_path / "x.run"
    text = "\n".join([start, "# tag: theirs", "#actor:", "#   team: Engines", end, LINES])
    path.write_bytes(text.replace("\n", newline).encode())
    assert read_head(path) == {"tag": "theirs", "actor": {"team": "Engines"}}
    assert read_run(path).rankings
    assert "ignored as comments" not in capsys.readouterr().err


def test_other_comments_are_no_metadata_and_are_told(tmp_path, capsys):
    path = tmp_path / "x.run"
    path.write_text("# tag: theirs\n" + LINES, encoding="utf-8")
    assert read_head(path) == {}
    read_run(path)
    assert "ignored as comments: 1 line" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("# ir_metadata.start\n# tag: x\n", "have no end: '# ir_metadata.end' is missing"),
        ("# ir_metadata.start\n# a: [\n# ir_metadata.end\n", "are not YAML"),
        ("# ir_metadata.start\n# word\n# ir_metadata.end\n", "have no sections"),
    ],
)
def test_a_damaged_head_is_refused_where_it_is_asked_for(tmp_path, head, message):
    path = tmp_path / "x.run"
    path.write_text(head + LINES, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_head(path)
    assert read_metadata(path).content() == {}


def test_a_fusion_is_a_step_with_weights_and_no_link_of_a_chain():
    steps = [
        {"retriever": "bm25"},
        {"retriever": "dense"},
        {"fusion": {"weights": [0.0, 1.0], "k": 20, "topics": 9}},
        {"reranker": "delta", "reranks": "fused"},
    ]
    content = ir_metadata(of_delta(retrieval=steps, neural=["dense", "delta"]), FACTS)
    method = content["method"]
    assert method["name"] == "bm25 + dense → delta"
    assert [step["name"] for step in method["retrieval"]] == ["bm25", "dense", "fused", "delta"]
    fused = method["retrieval"][2]
    assert fused["method"] == "reciprocal rank fusion"
    assert [run["weight"] for run in fused["fuses"]] == [0.0, 1.0]
    assert (fused["lexical"], fused["deep_neural_model"]) == (True, True)
    assert "fused by reciprocal rank fusion (weights 0, 1)" in method["description"]
    assert "None" not in str(method)
    assert fits(content, REQUIRED)


def test_a_fusion_names_its_method_and_parameters():
    by_scores = {"method": "combsum", "norm": "max", "weights": [], "topics": 0}
    steps = [{"retriever": "bm25"}, {"retriever": "dense"}, {"fusion": by_scores}]
    fused = ir_metadata(of_delta(retrieval=steps), FACTS)["method"]["retrieval"][2]
    assert (fused["method"], fused["norm"]) == ("combsum", "max")
    assert [run["weight"] for run in fused["fuses"]] == [1.0, 1.0]


def test_a_reranker_without_weight_is_described_as_such():
    description = ir_metadata(of_delta(interpolation=1.0), FACTS)["method"]["description"]
    assert description.endswith(
        "big reranks those of bm25, and is given no weight: the ranking is that of bm25."
    )
