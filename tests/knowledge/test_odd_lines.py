"""A file is read without its odd lines, and a notice counts them and shows the first."""

import json

import pytest

from irplatform.errors import InputError

_FIRST = "format-version: 1.2\n\n[Term]\nid: MY:1\nname: first thing\nis_a: MY:2\n"
_LAST = "\n[Term]\nid: MY:2\nname: second thing\n"
ODD = [
    'xref: WIKI PEDIA:7 "a page"',
    "xref: thing (ABC:7)",
    'xref: ABC:7 {source="x"',
    "synonym: thing EXACT []",
    "alt_id: MY:8 MY:9",
    "a line of a definition that goes on",
    "namespace: of two words",
    "name:",
    "equivalent_to: A B",
    b"name: caf\xe9",
]
HARMLESS = {
    'synonym: "other" EXACT [DB:Two Words 1999]': "other",
    'synonym: "other" EXACT layperson term []': "other",
    'synonym: "other" EXACT': "other",
    'synonym: "other"': "other",
    'synonym: "other" [DB:1 "x"] {a="b"} {c="d"}': "other",
    'synonym: "the "other" one" EXACT []': 'the "other" one',
    'exact_synonym: "other" [DB:1]': "other",
    'synonym:\t"other"\tEXACT\t[]': "other",
    'xref: ABC:7 {a="b"} {c="d"}': "ABC:7",
    "alt_id: ABC:7 {source=x}": "ABC:7",
    "def: unquoted\nunknown_tag: x\ncreated_by\\: x: y": "",
    "comment: caf\u00e9 {not a modifier": "",
    "name: another name": "",
}


@pytest.mark.parametrize("line", ODD)
def test_an_odd_line_of_obo_is_left_out_and_told(read, capsys, line):
    line = line if isinstance(line, bytes) else line.encode()
    _, concepts, relations = read("mine", "t.obo", _FIRST.encode() + line + b"\n" + _LAST.encode())
    assert [concept.name for concept in concepts.values()] == ["first thing", "second thing"]
    assert list(relations) == [("MY:1", "is-a", "MY:2")]
    output = capsys.readouterr().err
    assert "WARNING: 1 line left out that cannot be read. The first is" in output
    assert "t.obo:7: " in output


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("line", "expected"), HARMLESS.items())
def test_what_is_not_used_of_a_line_does_no_harm(read, capsys, line, expected, end):
    text = f"{_FIRST}{line}\n{_LAST}".replace("\n", end)
    _, concepts, relations = read("mine", "t.obo", text)
    first = concepts["MY:1"]
    assert first.name == "first thing"
    assert expected in {"", *(name.text for name in first.names), *first.xrefs}
    assert ("MY:1", "is-a", "MY:2") in relations
    assert "left out" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        _FIRST.replace("id: MY:1\nname: first thing", "name: first thing\nid: MY:1"),
        _FIRST.replace("[Term]", "[Term] ! the first"),
        _FIRST.replace("[Term]", "[term]"),
        _FIRST.replace("first thing", "first thing {source=7} ! x"),
        _FIRST.replace("MY:2", "MY:2 {source=7} ! the second"),
        _FIRST.replace("format-version: 1.2", "an odd header\nimport\ndate: 1999:99"),
        _FIRST + "\n[Typedef]\nid: a b\nodd",
        _FIRST + _FIRST.partition("\n\n")[2],
        _FIRST + _LAST.replace("[Term]\n", ""),
        _FIRST + "\n[Term]\nname: without an id\n",
    ],
)
def test_an_odd_term_does_not_touch_the_others(read, text):
    _, concepts, relations = read("mine", "t.obo", text + _LAST.rstrip())
    assert {concept.name for concept in concepts.values()} == {"first thing", "second thing"}
    assert list(relations) == [("MY:1", "is-a", "MY:2")]


def test_many_terms_with_a_few_odd_lines(read, capsys):
    terms = [f"[Term]\nid: MY:{n}\nname: thing {n}\n" for n in range(20_000)]
    terms[7] += "xref: a b\n"
    terms[19_000] += "xref: a b\n"
    assert len(read("mine", "t.obo", "\n".join(terms))[1]) == 20_000
    assert "WARNING: 2 lines left out that cannot be read." in capsys.readouterr().err


def test_an_odd_id_leaves_out_its_term(read):
    text = f"{_FIRST}\n[Term]\nid: A B:3\nname: third thing\n{_LAST}"
    assert list(read("mine", "t.obo", text)[1]) == ["MY:1", "MY:2"]


_GENES = "hgnc_id\tsymbol\tname\tlocus_type\n" + "".join(
    f"HGNC:{n}\tTHN{n}\tthing {n}\t\n" for n in range(1, 4)
)


@pytest.mark.parametrize(
    "line",
    [
        "HGNC:9\tcut",
        "9\tTHN9\tthing 9\t",
        "\tTHN9\tthing 9\t",
        "HGNC:1\tOTHER\tthing 9\t",
        b"HGNC:9\tTHN9\tcaf\xe9\t",
    ],
)
def test_an_odd_line_of_a_table_is_left_out_and_told(read, capsys, line):
    line = line if isinstance(line, bytes) else line.encode()
    _, concepts, _ = read("hgnc", "genes.txt", _GENES.encode() + line + b"\n")
    assert list(concepts) == ["HGNC:1", "HGNC:2", "HGNC:3"]
    assert "WARNING: 1 line left out that cannot be read. The first is" in capsys.readouterr().err


def test_an_odd_gene_of_json_is_left_out_and_told(read, capsys):
    genes = [{"hgnc_id": f"HGNC:{n}", "symbol": f"THN{n}"} for n in range(3)]
    genes += [{"hgnc_id": "HGNC:9"}, {"hgnc_id": "HGNC:1", "symbol": "OTHER"}]
    text = json.dumps({"response": {"docs": genes}})
    assert len(read("hgnc", "genes.json", text)[1]) == 3
    assert "WARNING: 2 genes left out" in capsys.readouterr().err


def test_a_file_of_odd_lines_is_refused(read):
    with pytest.raises(InputError, match=r"genes.txt:2: 2 columns where the header has 4"):
        read("hgnc", "genes.txt", _GENES.replace("\tthing", "thing").replace("\t\n", "\n"))
    with pytest.raises(InputError, match="no term with a name"):
        read("mine", "t.obo", "[Term]\nid: A B\nname: x\n")
