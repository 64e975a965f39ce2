"""Topics in JSON: their ids, queries and fields."""

import pytest
from topic_files import read

from irplatform.collections.topic_formats import read_topics
from irplatform.errors import InputError
from irplatform.plugin import Topic

BIOGEN = """\
{"topics": [
 {"id": 116, "topic": "ankle brace", "question": "Does a  brace help?", "narrative": "To know."}
]}
"""
TOPIC = Topic("1", "ankle brace", {"query": "ankle brace", "year": "2020"})


@pytest.mark.parametrize(
    "text",
    [
        '{"qid": "1", "query": "ankle brace", "year": 2020}\n',
        '{"_id": 1, "query": "ankle brace", "year": 2020, "empty": ""}\n\n',
        '[{"question_id": "1", "query": "ankle brace", "year": 2020}]',
        '{"queries": [{"queryID": "1", "query": "ankle brace", "year": 2020}], "version": "1"}',
        '{"1": {"query": "ankle brace", "year": 2020}}',
        '{"topics": {"1": {"query": "ankle brace", "year": 2020}}}',
        '{"request_id": "1", "query": "ankle brace", "year": 2020}\n',
        '{"narrative_id": "1", "query": "ankle brace", "year": 2020}\n',
        '[{"qa_id": "1", "year": 2020, "query": "ankle brace"}]',
        '\ufeff[\n{"topic-id": "1",\n"query": "ankle brace",\n"year": 2020}\n]\n',
    ],
)
@pytest.mark.parametrize("name", ["biogen", "json", "jsonl"])
def test_json_is_read_in_whatever_container_and_the_id_found_by_its_name(tmp_path, name, text):
    assert read(tmp_path, text, name) == [TOPIC]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        (
            '{"request_id": "1001", "title": "a", "background": "b", "problem_statement": "c"}\n',
            {"1001": "a b c"},
        ),
        ('{"narrative_id": "rag2026-0", "narrative": "why"}\n', {"rag2026-0": "why"}),
        (BIOGEN, {"116": "Does a brace help?"}),
        ('{"id": "7", "title": "a"}\n{"id": "8", "title": "b"}\n', {"7": "a", "8": "b"}),
        ('[{"question_id": "E1", "question": "q", "query": "k", "background": "b"}]', {"E1": "k"}),
        ('{"7": "a", "8": "b"}', {"7": "a", "8": "b"}),
        ('{"queries": {"7": "a", "8": "b"}}', {"7": "a", "8": "b"}),
        ('[{"Question_ID": "E1", "Question": "q", "Query": "k"}]', {"E1": "k"}),
        (
            '[{"metadata": {"qa_id": "116", "question": "q"}, "answer": [{"text": "a"}]}]',
            {"116": "q"},
        ),
        (
            '{"meta_data": {"qa_id": 7, "question": "q"}}\n'
            '{"meta_data": {"qa_id": 8, "question": "r"}}\n',
            {"7": "q", "8": "r"},
        ),
        (
            '{"metadata": {"qa_id": "116", "question": "q"}, "answer": [{"text": "a"}]}\n',
            {"116": "q"},
        ),
        ('{"metadata": {"qa_id": 7}, "question": "q", "answer": [{"text": "a"}]}', {"7": "q"}),
        ('[{"metadata": {"qa_id": "7"}, "question": "q"}]', {"7": "q"}),
        ('{"questions": [{"meta_data": {"topic_id": 7}, "question": "q"}]}', {"7": "q"}),
        (
            '{"metadata": {"qa_id": 7}, "question": "q"}\n'
            '{"metadata": {"qa_id": 8}, "question": "r"}',
            {"7": "q", "8": "r"},
        ),
        ('{"id": "7", "query": "a", "metadata": {"id": "8", "query": "b"}}', {"7": "a"}),
        (
            '{"queryId": "7", "queryText": "a"}\r\n\r\n{"queryText": "b", "queryId": 8}',
            {"7": "a", "8": "b"},
        ),
    ],
)
def test_the_query_of_json_is_the_likeliest_text(tmp_path, text, queries):
    assert {topic.id: topic.query for topic in read(tmp_path, text, "json")} == queries


def test_keys_of_json_can_be_named(tmp_path):
    path = tmp_path / "topics.json"
    path.write_text('{"a": {"case": "7", "id": "x", "need": "b"}, "c": {"case": "8", "need": "d"}}')
    topics = read_topics(path, "json", "{need} {id}", "case")
    assert [(topic.id, topic.query) for topic in topics] == [("7", "b x"), ("8", "d")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("json", '{"case": "1", "query": "x"}', r"(keys: 'case', 'query'). Name it with `id`"),
        ("json", '{"id": "1", "query": "x"}\n{"query": "y"}', ":2: no id: the key 'id' is missing"),
        ("json", '{"id": "1", "query": "x"}\n{"id": "2"', ":2: this line is not JSON"),
        ("json", '[{"id": "1"},\n{"id": }]', ":2: this is not JSON"),
        ("json", '["a", "b"]', "a topic has to be a JSON object, but one is a string"),
        ("json", '"a"', "topics are JSON objects, but this is a string"),
        ("json", '[{"id": "1", "need": "x"}]', "which fields make the query: need."),
        ("json", '{"a": [{"id": "1"}], "b": [{"id": "2"}]}', "holds the topics: 'a', 'b'"),
        ("json", '[{"id": "1", "query": "a"}, {"id": "1", "query": "b"}]', "'1' comes twice."),
        ("json", '[{"id": "1 2", "query": "a"}]', "the id '1 2'"),
        ("json", "[]", "there are no topics here (read as 'json'"),
        ("beir", BIOGEN, "over several lines. Format 'json' reads topics"),
        ("beir", '[{"_id": "1", "text": "a"}]', "a list. Every line needs one JSON object. F"),
        ("beir", '{"qid": "1", "query": "a"}', "(keys: 'qid', 'query'). Format 'json' reads"),
        ("bioasq", BIOGEN, "Topics in other JSON have the format 'json'."),
    ],
)  # fmt: skip
def test_a_wrong_json_file_is_told_what_it_is(tmp_path, name, text, message):
    with pytest.raises(InputError) as raised:
        read(tmp_path, text, name)
    assert message in str(raised.value)
