"""Topics are read in every format, with the query that the template makes; bad files are named."""

import pytest
from topic_files import read

from irplatform.collections.topic_formats import FORMATS, QueryTemplate, read_topics
from irplatform.errors import InputError
from irplatform.plugin import Topic

TREC = """\
<top>
<num> Number: 301
<title> Topic: International Organized Crime

<desc> Description:
Identify organizations
that participate.
<narr> Narrative:
A relevant document…
</top>

<top><num>302</num><title>Poliomyelitis</title></top>
"""


def test_classic_trec_topics_with_and_without_closing_tags(tmp_path):
    assert read(tmp_path, TREC, "trec") == [
        Topic(
            "301",
            "International Organized Crime",
            {
                "title": "International Organized Crime",
                "description": "Identify organizations that participate.",
                "narrative": "A relevant document…",
            },
        ),
        Topic("302", "Poliomyelitis", {"title": "Poliomyelitis"}),
    ]


def test_a_label_that_tripclick_misspells_is_no_description(tmp_path):
    content = "<top><num>7</num><title>gout</title><desc> Descrption:\n</desc></top>"
    assert read(tmp_path, content, "trec") == [Topic("7", "gout", {"title": "gout"})]


def test_a_template_can_join_fields_and_a_topic_may_lack_one(tmp_path):
    topics = read(tmp_path, TREC, "trec", "{title} {description}")
    assert [topic.query for topic in topics] == [
        "International Organized Crime Identify organizations that participate.",
        "Poliomyelitis",
    ]


def test_tab_separated_topics(tmp_path):
    assert read(tmp_path, "1\tlung cancer\n2\t EGFR  L858R \n", "tsv") == [
        Topic("1", "lung cancer", {"query": "lung cancer"}),
        Topic("2", "EGFR L858R", {"query": "EGFR L858R"}),
    ]


def test_entities_are_characters_and_the_encoding_is_checked(tmp_path):
    (topic,) = read(tmp_path, "<top><num>1</num><title>RET &amp; &lt;5 µm</title></top>", "trec")
    assert topic.query == "RET & <5 µm"
    path = tmp_path / "topics"
    path.write_bytes("<top><num>1</num>\n<title>Sjögren</title></top>".encode("latin-1"))
    with pytest.raises(InputError, match=r"topics:2: this line is not UTF-8"):
        read_topics(path, "trec", None)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_columns_in_utf_16_are_told_to_be_saved_as_utf_8(tmp_path, encoding):
    path = tmp_path / "topics"
    path.write_bytes("1\tlung cancer\n".encode(encoding))
    with pytest.raises(InputError, match=r"topics:.* UTF-16.* Save the file as UTF-8\."):
        read_topics(path, "tsv", None)


def test_marked_words_stay_within_their_text_and_repeated_tags_are_joined(tmp_path):
    marked = (
        "<top>\n<num>1\n<title> role of <i>EGFR</i>-mutant H<SUB>2</SUB>O\n"
        "<desc>First.<br/>Second.\n<desc>Third.\n</top>"
    )
    (topic,) = read(tmp_path, marked, "trec")
    assert topic.fields == {
        "title": "role of EGFR-mutant H2O",
        "description": "First. Second. Third.",
    }


def test_tags_may_have_attributes(tmp_path):
    marked = (
        '<top lang="en">\n<num type="int"> 1\n<title> p < 0.05 in <a href="x">trials</a>\n</top>\n'
        "<top>\n<num> 2\n<title> <see also> y\n</top>"
    )
    topics = read(tmp_path, marked, "trec")
    assert [(topic.id, topic.query) for topic in topics] == [
        ("1", "p < 0.05 in trials"),
        ("2", "<see also> y"),
    ]


def test_elements_that_come_twice_are_joined_and_nested_ones_parted(tmp_path):
    xml = (
        '<topics><topic number="1"><gene>EGFR</gene><gene>TP53</gene></topic><topic number="2">'
        "<gene><symbol>RET</symbol><variant>M918T</variant></gene></topic>"
        '<topic number="3"><gene>TNF<i>α</i></gene></topic>'
        '<topic number="4"><gene><b>BRAF</b>-mutant</gene></topic></topics>'
    )
    topics = read(tmp_path, xml, "trec-pm", "{gene}")
    assert [topic.query for topic in topics] == ["EGFR, TP53", "RET M918T", "TNFα", "BRAF-mutant"]


def test_topics_of_2020_have_a_treatment(tmp_path):
    xml = (
        '<topics><topic number="1"><disease>melanoma</disease><gene>BRAF</gene>'
        "<treatment>Dabrafenib</treatment></topic></topics>"
    )
    (topic,) = read(tmp_path, xml, "trec-pm", "{disease} {gene} {treatment}")
    assert topic.query == "melanoma BRAF Dabrafenib"


def test_topics_of_clinical_trials_are_text_without_elements(tmp_path):
    xml = '<topics><topic number="1">\nA 45-year-old\nman &amp; a glioma.\n</topic></topics>'
    (topic,) = read(tmp_path, xml, "trec-pm", "{text}")
    assert topic == Topic("1", topic.query, {"text": topic.query})
    assert topic.query == "A 45-year-old man & a glioma."
    marked = (
        '<topics><topic number="1">A 45-year-old <b>man</b> with a <i>glioma</i>.</topic></topics>'
    )
    (topic,) = read(tmp_path, marked, "trec-pm", "{text}")
    assert topic.query == "A 45-year-old man with a glioma."
    beside = '<topics><topic number="1">Draft: <disease>melanoma</disease></topic></topics>'
    (topic,) = read(tmp_path, beside, "trec-pm", "{disease}")
    assert topic.fields == {"disease": "melanoma", "text": "Draft: melanoma"}
    with pytest.raises(InputError, match=r"it is not clear which fields make the query: text\."):
        read(tmp_path, xml, "trec-pm")
    empty = '<topics><topic number="1"><disease/></topic></topics>'
    with pytest.raises(InputError, match=r"make the query: none\."):
        read(tmp_path, empty, "trec-pm")


def test_attributes_of_a_topic_are_fields_but_its_number(tmp_path):
    xml = (
        '<topics><topic number="1" type="diagnosis" age=""><summary>A cough.</summary></topic>'
        '<topic number="2" type="x" age="45 years"><type>test</type></topic>'
        '<topic number="3" type="treatment">A man with a cough.</topic></topics>'
    )
    topics = read(tmp_path, xml, "trec-pm", "{summary}{text} {type}")
    queries = ["A cough. diagnosis", "test", "A man with a cough. treatment"]
    assert [topic.query for topic in topics] == queries
    assert topics[0].fields == {"type": "diagnosis", "summary": "A cough."}
    assert topics[1].fields == {"type": "test", "age": "45 years"}


def test_a_treatment_is_searched_where_topics_have_one(tmp_path):
    topic = '<topic number="{}"><disease>{}</disease><gene>KRAS</gene>{}</topic>'
    treated = topic.format(1, "melanoma", "<treatment>trametinib</treatment>")
    plain = topic.format(2, "glioma", "")
    topics = read(tmp_path, f"<topics>{treated}{plain}</topics>", "trec-pm")
    assert [topic.query for topic in topics] == ["melanoma KRAS trametinib", "glioma KRAS"]
    (result,) = read(tmp_path, f"<topics>{treated}</topics>", "trec-pm", "{disease}")
    assert result.query == "melanoma"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("tsv", "1\ta\n2 b\n", ":2: 1 column; a line is id, tab, query"),
        ("tsv", "1\ta\tb\n", ":1: 3 columns"),
        ("tsv", "1 2\ta\n", ":1: the id '1 2'"),
        ("tsv", "1\ta\n1\tb\n", ":2: topic '1' comes twice (first in line 1)"),
        ("tsv", "1\t \n", ":1: the query of topic '1', made by '{query}', is empty"),
        ("tsv", "\n", ": there are no topics here (read as 'tsv': 1, tab, query)"),
        ("beir", '{"_id": "1", "text": ""}\n', ":1: the query of topic '1'"),
        ("beir", '{"id": "1", "text": "x"}\n', ":1: no id: the key '_id' is missing"),
        ("beir", "1\tx\n", ":1: this line is not JSON"),
        ("trec", "<top>\n<title> x\n</top>", ":1: a topic without <num>"),
        ("trec", "\n<top>\n<num> 1\n<title> x\n", ":2: this <top> has no </top>"),
        (
            "trec",
            "<top>\n<num> 1\n<title> x\n\n<TOP>\n<num> 2\n<title> y\n</TOP>\n",
            ":1: this <top> has no </top>",
        ),
        ("trec-pm", "<topics>\n<topic>\n</topic></topics>", ":2: a topic without a number"),
        ("trec-pm", "<topics>\n<topic number='1'>", ":2: this is not well-formed XML"),
        ("trec-pm", "<topics>\nA & B</topics>", "(invalid token)). Write '&' as '&amp;'"),
        ("trec-pm", "<?xml version='1.0' encoding='foo'?><topics/>", "unknown encoding: foo"),
        ("trec-pm", "<?xml version='1.0' encoding='big5'?><topics/>", ". Save it as UTF-8."),
        ("trec-pm", "<topics/>", "here (read as 'trec-pm': <topic number=\"1\">…</topic>)"),
    ],
)
def test_a_wrong_file_is_named_with_the_line(tmp_path, name, text, message):
    with pytest.raises(InputError) as error:
        read(tmp_path, text, name)
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "topics"))


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        (
            '<!DOCTYPE t [\n<!ENTITY x SYSTEM "file:///etc/passwd">]>',
            ":2: the entity 'x' is declared",
        ),
        ('<!DOCTYPE t [<!ENTITY a "aa"><!ENTITY x "&a;&a;">]>', ":1: the entity 'a' is declared"),
        ('<!DOCTYPE t [\n<!ENTITY % x "">]>', ":2: the entity 'x' is declared"),
        ('<!DOCTYPE t SYSTEM "http://example.org/t.dtd">', "'&x;' is not declared"),
    ],
)
def test_xml_that_declares_entities_or_fetches_files_is_refused(tmp_path, declaration, message):
    xml = f'{declaration}\n<topics><topic number="1"><disease>&x;</disease></topic></topics>'
    with pytest.raises(InputError) as raised:
        read(tmp_path, xml, "trec-pm")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "declaration",
    [
        "<!DOCTYPE track [\n<!ELEMENT track (topic)*>\n<!ATTLIST topic\n n CDATA #IMPLIED>\n]>",
        '<!DOCTYPE track PUBLIC "-//X//Y" "track.dtd">',
        '<!DOCTYPE track SYSTEM "track.dtd" [<!-- none -->]>',
    ],
)
def test_a_document_type_without_entities_is_accepted(tmp_path, declaration):
    entity = "&eacute;" if "track.dtd" in declaration else "é"
    xml = (
        f'<?xml version="1.0"?>\n{declaration}\n<track>\n<topic number="9">\n<query>caf{entity}'
        " au lait</query>\n</topic></track>"
    )
    (topic,) = read(tmp_path, xml, "trec-pm", "{query}")
    assert (topic.id, topic.query) == ("9", "café au lait")


def test_elements_named_by_an_attribute_are_fields_of_that_name(tmp_path):
    xml = (
        '<topics><topic number="1" template="eye"><field name="visual  acuity">0.3</field>'
        '<field name="prior surgery">no</field><field name="drug"/><age value="64"/>'
        '<field name="visual acuity">0.4</field></topic></topics>'
    )
    (topic,) = read(tmp_path, xml, "trec-pm", "{template}: {visual acuity}, {prior surgery}")
    assert topic.query == "eye: 0.3, 0.4, no"
    assert topic.fields == {
        "template": "eye",
        "visual acuity": "0.3, 0.4",
        "prior surgery": "no",
        "age": "64",
        "field": "visual acuity: 0.3; prior surgery: no; visual acuity: 0.4",
    }
    with pytest.raises(InputError, match=r"the field 'acuity'.*Did you mean 'visual acuity'\?"):
        read(tmp_path, xml, "trec-pm", "{acuity}")


@pytest.mark.parametrize(
    "number",
    [
        "><number>101</number>",
        "><num> Number: 101 </num>",
        ' id="x"><number>101</number>',
        ' id="101">',
        "><qid>101</qid>",
    ],
)
def test_the_number_is_an_attribute_or_an_element(tmp_path, number):
    xml = f"<topics><topic{number}<query>ankle brace</query></topic></topics>"
    (topic,) = read(tmp_path, xml, "trec-pm", "{query}")
    assert (topic.id, topic.query) == ("101", "ankle brace")
    assert set(topic.fields) <= {"query", "id"}


def test_a_header_of_tab_separated_topics_is_no_topic(tmp_path, capsys):
    topics = read(tmp_path, "\ufeffQuery_ID\tQuery\r\n1\tankle brace\r\n", "tsv")
    assert [(topic.id, topic.query) for topic in topics] == [("1", "ankle brace")]
    assert "the first line is taken for a header: Query_ID, Query" in capsys.readouterr().err
    topics = read(tmp_path, "id\tmelanoma\n2\tquery\n", "tsv")
    assert [topic.id for topic in topics] == ["id", "2"]


@pytest.mark.parametrize(
    "text",
    [
        "<queries><query><id>1</id><title>ankle brace</title></query></queries>",
        '<queries><query id="1"><title>ankle brace</title></query></queries>',
        "<TOPICS><TOPIC NUMBER='1'><title>ankle brace</title></TOPIC></TOPICS>",
        "<topics><topic><Number>1</Number><title>ankle brace</title></topic></topics>",
        "<topics><top><num>Number: 1</num><title>ankle brace</title></top></topics>",
    ],
)
def test_what_topics_and_their_numbers_are_called_makes_no_difference_in_xml(tmp_path, text):
    (topic,) = read(tmp_path, text, "trec-pm", "{title}")
    assert topic == Topic("1", "ankle brace", {"title": "ankle brace"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<topic number="1"/>\n<topic number="2"/>', "Put one element around all topics"),
        ('\n<?xml version="1.0"?><topics/>', "<?xml …?> can only be the beginning"),
        ("<topics><query>a</query></topics>", "there are no topics here"),
    ],
)
def test_what_is_wrong_with_xml_is_said(tmp_path, text, words):
    with pytest.raises(InputError) as raised:
        read(tmp_path, text, "trec-pm", "{title}")
    assert words in str(raised.value)


def test_a_missing_file_is_named(tmp_path):
    for name in FORMATS:
        with pytest.raises(InputError, match="no such file"):
            read_topics(tmp_path / "nowhere", name)


def test_a_template_follows_no_attributes():
    template = QueryTemplate("{disease.__class__} {gene}")
    with pytest.raises(InputError, match="which no topic has"):
        template.check(["disease", "gene"])
    assert template.fill({"disease": "x", "gene": "y"}) == "y"


def test_several_values_of_a_field_are_joined():
    assert QueryTemplate("{mesh}").fill({"mesh": ("Mice", "Humans")}) == "Mice Humans"


def test_columns_of_tab_separated_topics_go_by_a_header(tmp_path):
    content = "narrative\tqid\tquestion\nwhich drugs\t7\tgout  drugs\n\t8\tasthma\n"
    assert read(tmp_path, content, "tsv") == [
        Topic("7", "gout drugs", {"narrative": "which drugs", "query": "gout drugs"}),
        Topic("8", "asthma", {"query": "asthma"}),
    ]


def test_a_narrative_is_the_query_where_there_is_no_other(tmp_path):
    content = "narrative_id\tnarrative\nrag2026-0\twhich drugs\n"
    assert read(tmp_path, content, "tsv") == [
        Topic("rag2026-0", "which drugs", {"query": "which drugs"})
    ]


@pytest.mark.parametrize("content", ["7\tgout\tdrugs\n", "id\tdisease\tage\n7\tgout\t40\n"])
def test_three_columns_need_a_header_with_id_and_query(tmp_path, content):
    with pytest.raises(InputError, match=r":1: 3 columns; .* first line with their names"):
        read(tmp_path, content, "tsv")
