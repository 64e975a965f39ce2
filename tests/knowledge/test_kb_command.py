"""`platform kb`."""

import pytest
from commands import call
from kb_data import OWN

from irplatform.knowledge import installation


@pytest.fixture
def platform(fresh_home, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.tsv").write_text(OWN)
    return lambda *arguments: call(capsys, monkeypatch, *arguments)


def test_add_list_show_remove(platform):
    added = platform("kb", "add", "own", "own.tsv")
    assert (added.code, added.out) == (0, "own: 7 concepts, 12 names, 3 relations (table)\n")
    listing = platform("kb", "list")
    assert listing.out.splitlines()[0].split() == [
        "own",
        "7",
        "concepts",
        "3",
        "relations",
        "own.tsv",
    ]
    assert platform("kb", "remove", "own").code == 0
    assert "7 concepts" not in platform("kb", "list").out


def test_what_was_not_added_cannot_be_removed(platform):
    platform("kb", "add", "own", "own.tsv")
    removed = platform("kb", "remove", "dgidb")
    assert removed.code == 2
    assert removed.err == (
        "platform: the knowledge base 'dgidb' is not installed. Installed: own.\n"
    )


@pytest.mark.parametrize(
    ("name", "guess"),
    [("nonexist", ""), ("hetoinet", ""), ("onw", " Did you mean 'own'?")],
)
def test_only_what_is_installed_is_suggested_for_removal(platform, name, guess):
    platform("kb", "add", "own", "own.tsv")
    assert platform("kb", "remove", name).err == (
        f"platform: the knowledge base '{name}' is not installed.{guess} Installed: own.\n"
    )


def test_list_says_where_what_is_missing_is_published(platform):
    listing = platform("kb", "list")
    rows = {line.split()[0]: line for line in listing.out.splitlines()[1:]}
    assert "genenames.org" in rows["hgnc"]
    assert "nlm.nih.gov" in rows["mesh"]
    assert listing.out.startswith("Not added yet")


def test_add_and_list_as_json(platform):
    added = platform("kb", "add", "own", "own.tsv", "--json").json
    facts = platform("kb", "list", "--json").json
    assert facts["installed"] == [added]
    assert facts["installed"][0]["counts"]["concepts"] == {"disease": 4, "drug": 1, "gene": 2}
    assert len(facts["installed"][0]["sources"][0]["sha256"]) == 64
    assert {"mesh", "doid", "civic"} <= {source["name"] for source in facts["available"]}


def test_show(platform):
    platform("kb", "add", "own", "own.tsv")
    result = platform("kb", "show", "Melanomas")
    assert result.code == 0
    assert result.out.splitlines() == [
        "X:2  melanoma  (disease, own)",
        "  synonym       malignant melanoma",
        "  abbreviation  MM",
        "  parents       neoplasm",
        "  children      skin melanoma; uveal melanoma",
    ]


def test_show_takes_the_names_of_published_sources_before_the_users_own(platform, tmp_path):
    header = "id\tname\tkind\n"
    (tmp_path / "doid.tsv").write_text(f"{header}X:2\tmelanoma of the skin\tdisease\n")
    platform("kb", "add", "own", "own.tsv")
    platform("kb", "add", "doid", "doid.tsv", "--format", "table")
    output = platform("kb", "show", "X:2").out
    assert output.startswith("X:2  melanoma of the skin  (disease, doid)")
    output = platform("kb", "show", "X:2", "--kb", "own,doid").out
    assert output.startswith("X:2  melanoma  (disease, own)")


def test_an_ids_prefix_is_found_in_any_case(platform):
    platform("kb", "add", "own", "own.tsv")
    assert platform("kb", "show", "x:2").out == platform("kb", "show", "X:2").out


def test_show_by_id_with_relations(platform, tmp_path):
    drugs = ["Aa", "Bb", "Cc"]
    nodes = [f"Compound::DB{n}\t{drug}\tCompound\n" for n, drug in enumerate(drugs)]
    edges = [f"Compound::DB{n}\tCtD\tDisease::X:2\n" for n in range(len(drugs))]
    (tmp_path / "nodes.tsv").write_text("id\tname\tkind\n" + "".join(nodes))
    (tmp_path / "edges.sif").write_text("source\tmetaedge\ttarget\n" + "".join(edges))
    platform("kb", "add", "own", "own.tsv")
    platform("kb", "add", "hetionet", "nodes.tsv", "edges.sif")
    result = platform("kb", "show", "X:2", "--relations", "2")
    assert result.out.splitlines()[-4:] == [
        "  drug-disease (3)",
        "    Aa  DRUGBANK:DB0  hetionet: treats",
        "    Bb  DRUGBANK:DB1  hetionet: treats",
        "    …",
    ]
    (concept,) = platform("kb", "show", "melanoma", "--json").json["concepts"]
    assert [relation["name"] for relation in concept["relations"]] == drugs
    only = platform("kb", "show", "X:2", "--kb", "own", "--json").json
    assert only["concepts"][0]["relations"] == []
    facts = platform("kb", "show", "X:2", "--kb", "own,hetionet", "--json").json
    assert [relation["name"] for relation in facts["concepts"][0]["relations"]] == drugs


def test_show_by_a_former_id_or_one_of_another_source(platform, tmp_path):
    path = tmp_path / "d.obo"
    path.write_text(
        "[Term]\nid: DOID:7\nname: foo\nalt_id: DOID:70\nxref: MESH:D000007\n\n"
        "[Term]\nid: DOID:8\nname: bar\nxref: MESH:D000007\n"
    )
    platform("kb", "add", "mine", path)
    assert platform("kb", "show", "doid:70", "--kb", "mine").out.startswith("DOID:7  foo ")
    concepts = platform("kb", "show", "D000007", "--kb", "mine", "--json").json["concepts"]
    assert [concept["id"] for concept in concepts] == ["DOID:7", "DOID:8"]
    assert platform("kb", "show", "DOID:71", "--kb", "mine").code == 1


def test_show_of_the_unknown_names_the_nearest(platform):
    platform("kb", "add", "own", "own.tsv")
    result = platform("kb", "show", "melanomma")
    assert result.code == 1
    assert result.out == "'melanomma' is not known. Near it: melanoma (X:2)\n"
    facts = platform("kb", "show", "melanomma", "--json").json
    assert facts["concepts"] == []
    assert facts["nearest"][0]["id"] == "X:2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "melanoma"), "no knowledge base is installed"),
        (("show", "melanoma", "--kb", "mesh"), "`platform kb add mesh FILE`"),
        (("remove", "mesh"), "the knowledge base 'mesh' is not installed"),
        (("add", "mesh", "own.tsv", "--format", "mesh-xml"), "own.tsv:1: this is not well-formed"),
        (("add", "mesh", "missing.xml"), "missing.xml: there is no such file."),
        (("add", "mesh", "no.xml", "--format", "mesh-xml"), "no.xml: there is no such file."),
        (("add", "mesh", ".", "--format", "mesh-xml"), ".: this is a folder; name a file."),
        (("add", "hgnc", "noise.tsv"), "noise.tsv:1: this is not in a format of 'hgnc'"),
    ],
)
def test_mistakes_are_one_line(platform, tmp_path, arguments, said):
    (tmp_path / "noise.tsv").write_text("noise\n")
    outcome = platform("kb", *arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""
    assert platform("kb", "list", "--json").json["installed"] == []


def _damage(home, damage):
    (file,) = (home / "kb" / "own").glob("*.sqlite")
    content = file.read_bytes()
    middle = len(content) // 2
    file.chmod(0o644)
    file.write_bytes(
        {
            "empty": b"",
            "cut off": content[:middle],
            "zeros": content[:5000] + bytes(len(content) - 5000),
        }[damage]
    )


@pytest.mark.parametrize("damage", ["empty", "cut off", "zeros"])
def test_a_damaged_knowledge_base_is_told_and_mended_by_adding_it_again(platform, tmp_path, damage):
    platform("kb", "add", "own", "own.tsv")
    before = platform("kb", "show", "melanoma").out
    _damage(tmp_path / "home", damage)
    installation._opened.cache_clear()  # as in another process
    result = platform("kb", "show", "melanoma")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "damaged" in result.err
    assert "`platform kb add own FILE`" in result.err
    assert platform("kb", "add", "own", "own.tsv").code == 0
    installation._opened.cache_clear()
    assert platform("kb", "show", "melanoma").out == before
    assert "already there" in platform("kb", "add", "own", "own.tsv").err


def test_no_half_page_that_is_lost_ends_in_more_than_a_line(platform, tmp_path):
    platform("kb", "add", "own", "own.tsv")
    (file,) = (tmp_path / "home" / "kb" / "own").glob("*.sqlite")
    content = file.read_bytes()
    file.chmod(0o644)
    refusals = 0
    for start in range(0, len(content), 2048):
        file.write_bytes(content[:start] + bytes(2048) + content[start + 2048 :])
        installation._opened.cache_clear()
        result = platform("kb", "show", "melanoma")
        assert result.code in (0, 1, 2)
        if result.code == 2:
            refusals += 1
            assert result.err.count("\n") == 1
            assert "damaged" in result.err
    assert refusals > 2
