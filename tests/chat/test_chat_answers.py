"""What a chat model answered, without its thoughts, and responses that hold no answer."""

import json

import pytest

from irplatform.chat.answers import AnswerError, read_answer, reason_in

LIST = "[5] > [4]"
THOUGHT = "[4] looks better than [5]"


def body(content, finish="stop", error=None, **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"content": content, **message}}
    return json.dumps({"choices": [choice if error is None else {**choice, "error": error}]})


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        *(
            f"<{name}>{THOUGHT}</{name}>\n{LIST}"
            for name in ("think", "thinking", "thought", "reasoning", "seed:think", "THINK")
        ),
        f'<think seconds="4">{THOUGHT}</think >{LIST}',
        f"[THINK]{THOUGHT}[/THINK]{LIST}",
        f"◁think▷{THOUGHT}◁/think▷{LIST}",
        f"{THOUGHT}\n</think>\n{LIST}",
        f"<think>{THOUGHT} <think>no</think> {THOUGHT}</think>{LIST}",
        f"<think>{THOUGHT}</think><think>{THOUGHT}</think>{LIST}",
        f"<think></think>{LIST}",
        f"{LIST}\n<think>{THOUGHT}",
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{LIST}<|return|>",
        f"<|channel|>commentary<|message|>{THOUGHT}<|channel|>final<|message|>{LIST}",
        f"analysisWe see that {THOUGHT}.assistantfinal{LIST}",
        f"<|channel>thought\n{THOUGHT}<channel|>{LIST}",
        f"<unused94>thought\n{THOUGHT}<unused95>{LIST}",
        f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{LIST}<|END_RESPONSE|>",
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>{LIST}",
        f"<|inner_prefix|>{THOUGHT}<|inner_suffix|>{LIST}",
        f"&lt;think&gt;{THOUGHT}&lt;/think&gt;{LIST}",
        f'<details type="reasoning" done="true">{THOUGHT}</details>{LIST}',
        f"Thinking...\n{THOUGHT}\n...done thinking.\n{LIST}",
        f"<think>{THOUGHT}</think><answer>{LIST}</answer> For {THOUGHT}.",
        f"<think>I write <answer>{THOUGHT}</answer> now.</think>{LIST}",
        f"{LIST}<|end|>",
    ],
)
def test_thoughts_in_marks_and_channels_are_no_part_of_an_answer(text):
    assert read_answer(body(text)).said == LIST


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, {"text": LIST}],
        [{"type": "reasoning", "text": THOUGHT}, {"type": "output_text", "text": LIST}],
        [{"text": THOUGHT, "thought": True}, {"text": LIST}],
        [{"type": "message", "content": [{"type": "text", "text": LIST}]}],
        [{"type": "text", "text": {"value": LIST}}, {"type": "image_url", "image_url": {}}],
        [[LIST]],
        {"type": "text", "text": LIST},
    ],
)
def test_an_answer_in_chunks_is_their_text(content):
    assert read_answer(body(content)).said == LIST


def test_chunks_are_lines_and_parsed_answers_are_json():
    assert read_answer(body(["1. [5]", "2. [4]"])).said == "1. [5]\n2. [4]"
    assert read_answer(body({"ranking": [5, 4]})).said == '{"ranking": [5, 4]}'
    assert read_answer(body([5, 4])).said == "[5, 4]"
    assert read_answer(json.dumps({"choices": [{"text": LIST}]})).said == LIST


def test_a_byte_order_mark_before_a_response_is_passed_over():
    assert read_answer("\ufeff" + body(LIST)).said == LIST


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
def test_thoughts_in_a_field_of_their_own_are_never_the_answer(name):
    assert read_answer(body(LIST, **{name: THOUGHT})).said == LIST
    assert read_answer(body(None, **{name: THOUGHT})).said == ""
    assert read_answer(body(LIST, "length", **{name: THOUGHT})).said == LIST


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (THOUGHT, ""),
        (f"<think>{THOUGHT}", ""),
        (f"I should write <answer>{THOUGHT}", ""),
        (f"<think>{THOUGHT}</think>{LIST} > [3", f"{LIST} > ["),
        ("5 > 4 > 1", "5 > 4 > "),
        ("", ""),
    ],
)
def test_of_an_answer_that_was_cut_only_what_cannot_be_a_thought_counts(text, said):
    answer = read_answer(body(text, "length"))
    assert answer.cut
    assert answer.said == said


@pytest.mark.parametrize(
    "text", [f"<think>{THOUGHT}", f"analysisWe see {THOUGHT}", f"<|channel|>analysis{THOUGHT}"]
)
def test_a_thought_that_is_never_closed_is_no_answer(text):
    assert read_answer(body(text)).said == ""


@pytest.mark.parametrize(
    "message",
    [
        body(None, refusal="I cannot do that"),
        body(None, "tool_calls", tool_calls=[{"id": "a"}]),
        body(None, "content_filter"),
        body([{"type": "refusal", "refusal": "no"}]),
        body([{"type": "thinking", "thinking": THOUGHT}], "length"),
        body(""),
        body(None, None),
    ],
)
def test_a_model_that_refuses_or_calls_a_tool_has_not_answered(message):
    assert read_answer(message).said == ""


@pytest.mark.parametrize(
    ("response", "reason", "lasting"),
    [
        ('{"error": {"message": "too many calls", "code": 429}}', "too many calls", False),
        ('{"error": "busy"}', "busy", False),
        ('[{"error": {"code": 503, "message": "busy"}}]', "busy", False),
        ('{"detail": "busy"}', "busy", False),
        ('{"detail": [{"msg": "busy"}]}', "busy", False),
        ('{"message": "busy", "object": "error"}', "busy", False),
        ('{"choices": []}', "choices", False),
        ('{"choices": [{"fin', "fin", False),
        ("", "it is empty", False),
        (body("", "error"), "finish_reason error", False),
        (body("[5]", "error", {"code": 502, "message": "upstream"}), "upstream", False),
        ('{"error": {"message": "no credits", "code": 402}}', "no credits", True),
        ('{"error": {"message": "bad", "code": "invalid_api_key"}}', "bad", True),
        ('{"object": "list"}', "list", True),
        ('data: {"choices": []}\n\ndata: [DONE]\n', "streams", True),
        ('{"message": {}}\n{"message": {}}\n', "streams", True),
        ("<html><style>p {}</style><h1>Log <i>in</i></h1></html>", "Log in", True),
        ("null", "null", True),
    ],
)
def test_a_response_without_an_answer_says_why_and_whether_it_passes(response, reason, lasting):
    with pytest.raises(AnswerError, match=reason) as raised:
        read_answer(response)
    assert raised.value.lasting == lasting


def test_the_reason_of_an_error_is_a_line_of_its_words():
    assert reason_in('{"error": {"message": "a\\n b", "type": "x"}}') == "a b"
    assert reason_in('{"errors": [{"message": "a"}, {"message": "b"}]}') == "a; b"
    assert reason_in('{"error": {"code": 5}}') == '{"error": {"code": 5}}'
    assert len(reason_in("a " * 5000)) == 300


@pytest.mark.parametrize("part", ["<think>", "<think ", "<script", "<", "</think>", "&lt;", "a_"])
def test_a_long_answer_takes_linear_time(part):
    reason_in(part * 6000)
    read_answer(body(part * 6000))
