"""RankGPT: windows, answers that are repaired and kept, and servers that misbehave."""

import json
from itertools import pairwise

import pytest
from chat_stand_in import ChatStandIn
from hypothesis import given
from hypothesis import strategies as st
from small import SmallResources, chosen

import irplatform_rankgpt
from irplatform import RunSettings, run
from irplatform.chat.client import Chat
from irplatform.data import Topic
from irplatform.errors import InputError, PlatformError
from irplatform.plugin import Document, Documents
from irplatform.runs import read_run
from irplatform_rankgpt.windows import PROMPT, prompt, windows

TOPIC = Topic("7", "lung cancer {count}")


@pytest.fixture
def server():
    with ChatStandIn() as stand_in:
        yield stand_in


@pytest.fixture
def ranker(server, tmp_path):
    """Make the reranker; a folder of answers is shared by all that a test makes."""

    def make(folder="cache", **options):
        selection = chosen("rankgpt", **{"url": server.url, "model": "m", **options})
        selection.reads  # noqa: B018 - which checks the options, as in a run
        reranker = selection.registration.make(selection.options)
        resources = SmallResources(folder=tmp_path / folder)
        reranker.prepare(resources)
        reranker.told = resources.told
        return reranker

    return make


def documents(relevance):
    """Documents d0, d1, … with some relevance."""
    texts = [f"relevance {value}" for value in relevance]
    return Documents.of([Document(f"d{i}", "title", text) for i, text in enumerate(texts)])


def order(reranker, relevance):
    """The documents' places in the order that the reranker gives them."""
    candidates = documents(relevance)
    scores = reranker.rescore(TOPIC, candidates, reranker.score(TOPIC, candidates))
    return sorted(range(len(relevance)), key=lambda place: -scores[place])


@pytest.mark.parametrize(
    ("count", "size", "step", "expected"),
    [
        (6, 4, 2, [(2, 6), (0, 4)]),
        (7, 4, 2, [(3, 7), (1, 5), (0, 4)]),
        (100, 20, 10, [(80 - s, 100 - s) for s in range(0, 90, 10)]),
        (4, 4, 2, [(0, 4)]),
        (3, 4, 2, [(0, 3)]),
        (5, 2, 2, [(3, 5), (1, 3), (0, 2)]),
    ],
)
def test_windows_slide_from_the_end_to_the_beginning(count, size, step, expected):
    assert [(w.start, w.stop) for w in windows(count, size, step)] == expected


@given(st.integers(1, 60), st.integers(2, 20), st.integers(1, 20))
def test_windows_overlap_or_touch_and_cover_all(count, size, step):
    moves = [*windows(count, size, min(step, size))]
    assert moves[0].stop == count
    assert moves[-1].start == 0
    assert all(0 < w.stop - w.start <= size for w in moves)
    assert all(upper.stop >= lower.start for lower, upper in pairwise(moves))


def test_a_prompt_holds_query_and_passages_as_they_are_cut():
    text = prompt(PROMPT, "a {query} [1]", ["one two three four", "see [3] {count}"], 3)
    assert "[1] one two three\n\n[2] see (3) {count}\n" in text
    assert text.count("a {query} [1]") == 2
    assert "rank the 2 passages" in text.lower()


def test_a_window_is_sorted_and_the_best_documents_move_up(ranker, server):
    # Windows of 4, step 2, over relevances 1 2 3 4 5 6: places 2-5 become 6 5 4 3, then the first
    # four (1 2 6 5) become 6 5 2 1.
    assert order(ranker(window=4, step=2), [1, 2, 3, 4, 5, 6]) == [5, 4, 1, 0, 3, 2]
    assert [len(a["messages"]) for a in server.asked] == [1, 1]


def test_two_passes_sort_more(ranker):
    assert order(ranker(window=4, step=2, passes=2), [1, 2, 3, 4, 5, 6]) == [5, 4, 3, 2, 1, 0]


def test_documents_beyond_the_depth_follow_in_their_order(ranker, server):
    assert order(ranker(depth=3), [1, 2, 3, 9, 8]) == [2, 1, 0, 3, 4]
    assert len(server.asked) == 1
    assert ranker().score(TOPIC, documents([3, 4])) == [0.0, 0.0]


def test_a_request_says_what_the_options_say(ranker, server, tmp_path):
    file = tmp_path / "prompt.txt"
    file.write_text("{count} for {query}:\n{passages}")
    reranker = ranker(temperature=None, parameters={"reasoning_effort": "low"}, prompt=str(file))
    order(reranker, [1, 2])
    assert server.asked[0] == {
        "model": "m",
        "reasoning_effort": "low",
        "messages": [
            {
                "role": "user",
                "content": "2 for lung cancer {count}:\n"
                "[1] title relevance 1\n\n[2] title relevance 2",
            }
        ],
    }
    order(ranker(), [1, 2])
    assert server.asked[1]["temperature"] == 0


def test_answers_are_kept_for_the_same_request(ranker, server):
    first = order(ranker(), [1, 3, 2])
    assert order(ranker(), [1, 3, 2]) == first == [1, 2, 0]
    assert len(server.asked) == 1
    order(ranker(model="other"), [1, 3, 2])
    order(ranker(parameters={"seed": 1}), [1, 3, 2])
    order(ranker(words=1), [1, 3, 2])
    assert len(server.asked) == 4


def test_what_was_answered_before_an_interruption_is_not_asked_again(ranker, server):
    server.orders += ["", 400]
    with pytest.raises(InputError):
        order(ranker(window=4, step=2), [1, 2, 3, 4, 5, 6])
    assert order(ranker(window=4, step=2), [1, 2, 3, 4, 5, 6]) == [5, 4, 1, 0, 3, 2]
    assert len(server.asked) == 3


def test_answers_that_are_not_rankings_are_told_of(ranker, server):
    server.orders += ["[4]", "no"]
    reranker = ranker(window=4, step=2)
    assert order(reranker, [1, 2, 3, 4, 5, 6]) == [0, 1, 5, 2, 3, 4]
    assert reranker.told == [
        "rankgpt: some answers of m leave passages out or repeat them; what they leave out "
        "follows in its former order",
        "WARNING: rankgpt: some answers of m are not rankings, or not clear ones; their windows "
        "keep their order",
    ]


def choice(content, finish="stop", **more):
    return {"choices": [{"message": {"content": content}, "finish_reason": finish, **more}]}


@pytest.mark.parametrize(
    "answer", [choice("[3] is better than [1]", "length"), choice(None, "content_filter")]
)
def test_an_answer_that_was_cut_is_counted_and_asked_again_by_the_next_run(ranker, server, answer):
    Chat.tally.clear()
    server.orders.append(answer)
    assert order(ranker(), [1, 3, 2]) == [0, 1, 2]
    assert Chat.tally["cut off"] == Chat.tally["unusable"] == 1
    assert order(ranker(), [1, 3, 2]) == [1, 2, 0]
    assert len(server.asked) == 2


@pytest.mark.java
@pytest.mark.usefixtures("cache_of_module")
def test_the_same_command_asks_again_for_what_was_cut(server, tmp_path):
    chosen_model = {"url": server.url, "model": "again", "depth": 2, "parallel": 1}
    settings = RunSettings(
        "demo",
        rerankers="rankgpt",
        settings=chosen_model,
        rerank_depth=2,
        interpolate=0,
        run_dir=tmp_path,
    )
    server.orders += [choice("[2] is", "length"), *["[2] > [1]"] * 20]
    run(settings)
    count = len(server.asked)
    run(settings)
    assert len(server.asked) == count + 1


def test_thoughts_and_chunks_are_read_before_a_ranking(ranker, server):
    thought = {"type": "thinking", "thinking": "[1] > [2] > [3]"}
    server.orders.append(choice([thought, {"type": "text", "text": "1. Passage 3\n2. Passage 1"}]))
    assert order(ranker(), [1, 3, 2]) == [2, 0, 1]


@pytest.mark.parametrize(
    "failure",
    [
        {"error": {"message": "too many calls", "code": 429}},
        choice("", "error", error={"code": 502, "message": "upstream"}),
        {"choices": []},
    ],
)
def test_an_error_inside_a_good_status_is_tried_again_and_never_kept(
    ranker, server, monkeypatch, failure
):
    waits = []
    monkeypatch.setattr("time.sleep", waits.append)
    server.orders.append(failure)
    assert order(ranker(), [1, 2]) == order(ranker(), [1, 2]) == [1, 0]
    assert (waits, len(server.asked)) == ([1.0], 2)


def test_an_error_that_stays_ends_in_one_line(ranker, server, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    server.orders += [{"error": {"message": "busy"}}] * 8
    with pytest.raises(PlatformError, match="failed 8 times, at last: busy") as raised:
        order(ranker(), [1, 2])
    assert "\n" not in str(raised.value)
    server.orders.append({"error": {"message": "no credits", "code": 402}})
    with pytest.raises(InputError, match="does not answer as a chat API does: no credits"):
        order(ranker(), [1, 2])


def test_a_model_that_refuses_the_temperature_is_told_how_to_leave_it_out(ranker, server):
    said = "Unsupported value: 'temperature' does not support 0 with this model."
    server.orders += [(400, {"error": {"message": said}})] * 2
    with pytest.raises(InputError, match=r"settings=\{'rankgpt\.temperature': 'none'\}"):
        order(ranker(), [1, 2])
    with pytest.raises(InputError, match=r"Compare rankgpt\.url"):
        order(ranker(temperature=None), [1, 2])


def test_a_busy_server_is_asked_again(ranker, server, monkeypatch):
    waits = []
    monkeypatch.setattr("time.sleep", waits.append)
    server.orders += [429, 503]
    assert order(ranker(), [1, 2]) == [1, 0]
    assert waits == [0.0, 2.0]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (
            401,
            r"refuses the request: the stand-in says no \(status 401\)\. "
            r"settings=\{'rankgpt\.key_variable': NAME\}",
        ),
        (404, "answers with status 404: the stand-in says no. Compare rankgpt.url, rankgpt.model"),
        ("not chat", "does not answer as a chat API does"),
    ],
)
def test_a_server_that_refuses_is_quoted_in_a_line(ranker, server, status, message):
    server.orders.append(status)
    with pytest.raises(InputError, match=message) as raised:
        order(ranker(), [1, 2])
    assert "\n" not in str(raised.value)


def test_a_server_that_is_away_is_named_with_what_to_do(ranker, server):
    server.__exit__()
    with pytest.raises(PlatformError, match=r"cannot be reached \(connection refused\). Start the"):
        order(ranker(), [1, 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": ""}, "needs a model"),
        ({"url": "localhost:8000"}, "rankgpt.url is 'localhost:8000'; it is the beginning"),
        ({"url": "http://[::1/v1"}, "it is the beginning of a chat API"),
        ({"url": "https://me:word@host/v1"}, "may not hold a user, a password or a query"),
        ({"url": "https://host/v1?api-key=word"}, "may not hold a user, a password or a query"),
        ({"key_variable": "sk-word-of-mine"}, "not the key itself"),
        ({"key_variable": "NO_SUCH_KEY_HERE"}, "names an environment variable that is not set"),
        (
            {"key_variable": "A_KEY", "url": "http://host/v1"},
            "would be sent to http://host/v1",
        ),
        ({"window": 4, "step": 5}, "rankgpt.step is 5, more than rankgpt.window"),
        ({"prompt": "absent.txt"}, "absent.txt: this prompt cannot be read"),
    ],
)
def test_options_that_cannot_work_are_refused(ranker, monkeypatch, options, message):
    monkeypatch.setenv("A_KEY", "word")
    with pytest.raises(InputError, match=message) as raised:
        ranker(**options)
    assert "word" not in str(raised.value).replace("a password", "")


def test_a_prompt_without_its_places_is_refused(ranker, tmp_path):
    (tmp_path / "prompt.txt").write_text("{query} {passages}")
    with pytest.raises(InputError, match=r"a prompt needs \{count\} in it"):
        ranker(prompt=str(tmp_path / "prompt.txt"))


def test_only_a_key_that_is_named_is_sent(ranker, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    order(ranker(), [1, 2])
    order(ranker("other", key_variable="OPENAI_API_KEY"), [1, 2])
    assert [h.get("Authorization") for h in server.headers] == [None, "Bearer sk-secret"]


def test_several_topics_are_sorted_at_the_same_time_and_as_one_by_one(ranker, server):
    relevances = [[1, 2, 3], [3, 1, 2], [2, 3, 1], [5], [1, 2, 3, 4, 5, 6]]
    batch = [(Topic(str(n), f"q{n}"), documents(r), []) for n, r in enumerate(relevances)]
    alone = [ranker("one", parallel=1).rescore(*entry) for entry in batch]
    server.together = 3  # nobody is answered before three have asked
    results = ranker("several", parallel=3, depth=3).rescore_batch(batch[:3])
    assert results == alone[:3]
    server.together = 1
    assert ranker("rest", parallel=3).rescore_batch(batch) == alone


def test_an_error_of_one_topic_ends_all(ranker, server):
    server.orders += [400] * 3
    batch = [(Topic(str(n), f"q{n}"), documents([1, 2]), []) for n in range(20)]
    with pytest.raises(InputError, match="status 400"):
        ranker(parallel=2).rescore_batch(batch)
    assert len(server.asked) < 20


@pytest.mark.java
def test_a_run_keeps_no_secret_and_says_what_it_asked(
    server, tmp_path, monkeypatch, capsys, cache_of_module
):
    monkeypatch.setenv("A_KEY", "sk-secret")
    Chat.tally.clear()
    settings = RunSettings(
        "demo",
        rerankers="rankgpt",
        settings={
            "url": server.url,
            "model": "m",
            "key_variable": "A_KEY",
            "depth": 4,
            "parallel": 1,
        },
        rerank_depth=6,
        interpolate=0,
        run_dir=tmp_path,
    )
    server.orders += ["no", "[2]", *["[2] > [1] > [4] > [3]"] * 18]
    report = run(settings)
    for topic, places in (("41", range(6)), ("42", (1, 0, 2, 3, 4, 5)), ("43", (1, 0, 3, 2, 4, 5))):
        first = read_run(tmp_path / "bm25.run").rankings[topic].doc_ids
        second = read_run(tmp_path / "rankgpt.run").rankings[topic].doc_ids
        assert second[:6] == tuple(first[place] for place in places)
    assert (
        "rankgpt: 20 answers, 0 of them kept before, 1 repaired, 1 unusable, 20,000 tokens read, "
        "1,000 written"
    ) in " ".join(capsys.readouterr().err.split())
    assert report
    meta = json.loads((tmp_path / "rankgpt.run.meta.json").read_text())
    assert "A_KEY" in json.dumps(meta)
    for path in [*tmp_path.rglob("*"), *cache_of_module.rglob("*")]:
        assert not path.is_file() or b"sk-secret" not in path.read_bytes()
    Chat.tally["answers"] = 0
    irplatform_rankgpt.run_finished(None)  # says nothing where nothing was asked
    assert "rankgpt" not in capsys.readouterr().err
