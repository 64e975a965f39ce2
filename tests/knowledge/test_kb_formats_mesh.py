"""MeSH in the four forms in which it comes."""

import pytest

from irplatform.errors import InputError
from irplatform.knowledge import add, open_knowledge
from irplatform.knowledge.formats.mesh import MESH_ASCII
from irplatform.knowledge.model import Name

TABLE = (
    "D009369\tNeoplasms\tNeoplasm|Cancer\tC04\t\n"
    "D008545\tMelanoma\tMelanoma, Malignant|MM\tC04.557\t\n"
    "D000077484\tVemurafenib\t\tD02.065|D03.633\t\n"
    "D066246\tErbB Receptors\t\tD08.811|D12.776\t\n"
    "D000068878\tTrastuzumab\t\tD12.776.124.486.485.114\t\n"
    "D000005\tAbdomen\t\tA01.923.047\t\n"
)

DESCRIPTORS = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20250101.dtd">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord DescriptorClass="1">
 <DescriptorUI>D009369</DescriptorUI>
 <DescriptorName><String>Neoplasms</String></DescriptorName>
 <TreeNumberList><TreeNumber>C04</TreeNumber></TreeNumberList>
 <ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M1</ConceptUI>
  <TermList><Term LexicalTag="NON"><TermUI>T1</TermUI><String>Neoplasms</String></Term></TermList>
 </Concept></ConceptList>
</DescriptorRecord>
<DescriptorRecord DescriptorClass="1">
 <DescriptorUI>D001943</DescriptorUI>
 <DescriptorName><String>Breast Neoplasms</String></DescriptorName>
 <TreeNumberList><TreeNumber>C04.588</TreeNumber><TreeNumber>C17.800</TreeNumber></TreeNumberList>
 <ConceptList>
  <Concept PreferredConceptYN="Y"><ConceptUI>M2</ConceptUI>
   <ConceptRelationList><ConceptRelation RelationName="NRW">
    <Concept1UI>M2</Concept1UI><Concept2UI>M3</Concept2UI></ConceptRelation></ConceptRelationList>
   <TermList>
    <Term LexicalTag="NON"><String>Breast Neoplasms</String></Term>
    <Term LexicalTag="NON"><String>Breast &amp; Nipple Tumors</String></Term>
    <Term LexicalTag="ACR"><String>breast ca</String></Term></TermList>
  </Concept>
  <Concept PreferredConceptYN="N"><ConceptUI>M3</ConceptUI>
   <TermList><Term LexicalTag="NON"><String>Malignant Breast Tumor</String></Term></TermList>
  </Concept>
 </ConceptList>
</DescriptorRecord>
</DescriptorRecordSet>
"""

SUPPLEMENT = """<?xml version="1.0"?>
<SupplementalRecordSet LanguageCode="eng">
<SupplementalRecord SCRClass="1">
 <SupplementalRecordUI>C551177</SupplementalRecordUI>
 <SupplementalRecordName><String>PLX 4720</String></SupplementalRecordName>
 <HeadingMappedToList><HeadingMappedTo><DescriptorReferredTo>
  <DescriptorUI>*D007211</DescriptorUI><DescriptorName><String>Indoles</String></DescriptorName>
 </DescriptorReferredTo></HeadingMappedTo></HeadingMappedToList>
 <ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M4</ConceptUI>
  <TermList><Term LexicalTag="LAB"><String>PLX-4720</String></Term></TermList>
 </Concept></ConceptList>
</SupplementalRecord>
<SupplementalRecord SCRClass="3">
 <SupplementalRecordUI>C535326</SupplementalRecordUI>
 <SupplementalRecordName><String>Melanoma, familial</String></SupplementalRecordName>
</SupplementalRecord>
</SupplementalRecordSet>
"""

ASCII = """*NEWRECORD
RECTYPE = D
MH = Neoplasms
MN = C04
UI = D009369

*NEWRECORD
RECTYPE = D
MH = Calcimycin
DE =
ENTRY = A-23187|T109|T195|LAB|NRW|NLM (1991)|900308|abbcdef
ENTRY = Antibiotic A23187|T109|T195|NON|EQV|UNK (19XX)|1|abbcdef
PRINT ENTRY = Ionophore A23187
MN = C04.100
UI = D000001
"""

IN_ASCII = """*NEWRECORD
RECTYPE = C
NM = PLX4032
RN = 918504-65-1
SY = RG7204|T116|NLM (2011)|101027|abbd
SY = PLX-4032 salt|T109|T121|NON|NRW|NLM (2011)|101027|abbcdef
HM = *Indoles/metabolism
HM = Sulfonamides
UI = C551177

*NEWRECORD
RECTYPE = C
NM = Melanoma, familial
ST = T191
UI = C535326

*NEWRECORD
RECTYPE = C
NM = Zika
ST = T005
HM = Viruses
UI = C000001
"""


def test_the_table(read):
    format_name, concepts, relations = read("mesh", "mesh.tsv.gz", TABLE)
    assert format_name == "mesh-table"
    melanoma = concepts["MESH:D008545"]
    assert melanoma.names == (
        Name("Melanoma", "preferred"),
        Name("Melanoma, Malignant", "synonym"),
        Name("MM", "abbreviation"),
    )
    assert relations == {("MESH:D008545", "is-a", "MESH:D009369"): ""}


def test_kinds_follow_the_tree(read):
    _, concepts, _ = read("mesh", "mesh.tsv", TABLE)
    kinds = {concept.name: concept.kind for concept in concepts.values()}
    assert kinds == {
        "Neoplasms": "disease",
        "Melanoma": "disease",
        "Vemurafenib": "drug",
        "Trastuzumab": "drug",
        "ErbB Receptors": "other",
        "Abdomen": "other",
    }


@pytest.mark.parametrize(
    ("trees", "kind"),
    [
        ("D09.400.430.100|D12.776.395.1", "other"),  # a glycoprotein
        ("D05.500.672|D12.776.260.600", "other"),
        ("D10.532.515|D12.776.521.1", "other"),
        ("D05.750.078.730.1|D12.776.220.1", "other"),  # actin
        ("D05.750.078.562.1", "drug"),  # cellulose
        ("D06.472.699.1|D12.644.548.1|D12.776.1", "drug"),  # a hormone
        ("D09.400.430.100|D12.776.124.486.485.114", "drug"),  # an antibody
        ("D05.500.890", "other"),
    ],
)
def test_a_further_place_makes_no_protein_a_drug(read, trees, kind):
    (concept,) = read("mesh", "mesh.tsv", f"D000001\tAnything\t\t{trees}\t\n")[1].values()
    assert concept.kind == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Darbepoetin alfa", "drug"),
        ("Filgrastim", "drug"),
        ("Abatacept", "drug"),
        ("Erythropoietin", "other"),
        ("Interleukin-2", "other"),
        ("Receptors, Ghrelin", "other"),
    ],
)
def test_a_protein_with_the_name_of_a_drug_is_one(read, name, kind):
    trees = "D09.400.430.775.150.500|D12.776.395.240.150.500"
    (concept,) = read("mesh", "mesh.tsv", f"D000001\t{name}\t\t{trees}\t\n")[1].values()
    assert concept.kind == kind


@pytest.mark.parametrize("name", ["desc2025.xml", "desc2025.xml.gz"])
def test_the_descriptors_in_xml(read, name):
    format_name, concepts, relations = read("mesh", name, DESCRIPTORS)
    assert format_name == "mesh-xml"
    breast = concepts["MESH:D001943"]
    assert breast.kind == "disease"
    assert Name("Breast & Nipple Tumors", "synonym") in breast.names
    assert Name("breast ca", "abbreviation") in breast.names
    assert Name("Malignant Breast Tumor", "narrow") in breast.names
    assert relations == {("MESH:D001943", "is-a", "MESH:D009369"): ""}


def test_an_empty_tree_number_is_above_nothing(read):
    text = DESCRIPTORS.replace("<TreeNumber>C17.800</TreeNumber>", "<TreeNumber/>")
    relations = read("mesh", "desc2025.xml", text)[2]
    assert relations == {("MESH:D001943", "is-a", "MESH:D009369"): ""}


def test_the_supplementary_concepts(read):
    format_name, concepts, relations = read("mesh", "supp2025.xml", SUPPLEMENT)
    assert format_name == "mesh-supplement"
    assert [concept.kind for concept in concepts.values()] == ["drug", "disease"]
    assert relations == {("MESH:C551177", "mapped-to", "MESH:D007211"): ""}


@pytest.mark.parametrize(
    ("name", "number", "heading", "kind"),
    [
        ("KRAS protein, human", "0", "Anything", "other"),
        ("alpha-peptide", "EC 3.4.21.1", "Anything", "other"),
        ("survivin", "0", "Inhibitor of Apoptosis Proteins", "other"),
        ("SERT", "0", "Serotonin Plasma Membrane Transport Proteins", "other"),
        ("romiplostim protein", "0", "Thrombopoietin", "other"),
        ("peg-filgrastim", "0", "Recombinant Proteins", "drug"),
        ("PLX 4032", "918504-65-1", "Protein Kinase Inhibitors", "drug"),
        ("a mab", "0", "Antibodies, Monoclonal, Humanized", "drug"),
    ],
)
def test_a_substance_that_is_a_protein_is_no_drug(read, name, number, heading, kind):
    text = SUPPLEMENT.replace("PLX 4720", name).replace("Indoles", heading)
    text = text.replace("<TermList>", f"<RegistryNumber>{number}</RegistryNumber><TermList>", 1)
    assert read("mesh", "supp2025.xml", text)[1]["MESH:C551177"].kind == kind
    lines = ["*NEWRECORD", "RECTYPE = C", f"NM = {name}", f"RN = {number}", f"HM = *{heading}"]
    text = "\n".join([*lines, "UI = C551177"])
    assert read("mesh", "c2025.bin", text)[1]["MESH:C551177"].kind == kind


def test_supplementary_records_in_ascii(read):
    format_name, concepts, _ = read("mesh", "c2025.bin", IN_ASCII)
    assert format_name == "mesh-ascii"
    kinds = {concept.name: concept.kind for concept in concepts.values()}
    assert kinds == {"PLX4032": "drug", "Melanoma, familial": "disease", "Zika": "other"}
    assert Name("RG7204", "abbreviation") in concepts["MESH:C551177"].names
    assert Name("PLX-4032 salt", "narrow") in concepts["MESH:C551177"].names


@pytest.mark.parametrize(("trees", "kind"), [("D12.776.1", "other"), ("D03.633.1", "drug")])
def test_the_headings_say_what_supplementary_records_are(fresh_home, write, trees, kind, capsys):
    descriptors = write(
        "d2025.bin", f"*NEWRECORD\nRECTYPE = D\nMH = Indoles\nMN = {trees}\nUI = D007211\n"
    )
    add("mesh", [write("c2025.bin", IN_ASCII), descriptors])
    knowledge = open_knowledge(["mesh"])
    assert knowledge.concept("MESH:C551177").kind == kind
    (mapped,) = knowledge.relations("MESH:C551177", "mapped-to")
    assert mapped.target_id == "MESH:D007211"
    assert "left out: 2 mappings to headings" in capsys.readouterr().err


def test_qualifiers_are_named(read):
    with pytest.raises(InputError, match="has no UI or no MH"):
        read("mesh", "q2025.bin", "*NEWRECORD\nRECTYPE = Q\nSH = abnormalities\nUI = Q000002\n")


def test_the_descriptors_in_ascii(read):
    format_name, concepts, relations = read("mesh", "d2025.bin", ASCII)
    assert format_name == "mesh-ascii"
    assert set(concepts["MESH:D000001"].names) == {
        Name("Calcimycin", "preferred"),
        Name("A-23187", "narrow"),
        Name("Antibiotic A23187", "synonym"),
        Name("Ionophore A23187", "synonym"),
    }
    assert relations == {("MESH:D000001", "is-a", "MESH:D009369"): ""}


def test_an_encoding_is_not_guessed(tmp_path):
    path = tmp_path / "d2010.bin"
    path.write_bytes(ASCII.replace("Calcimycin", "Sjögren").encode("latin-1"))
    with pytest.raises(InputError, match=r"d2010\.bin:9: byte 8 of this line is not UTF-8"):
        list(MESH_ASCII.read(path))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.tsv", TABLE + "D1\tshort id\t\t\t\n", 7),
        ("b.tsv", TABLE + "D000006\tcut off\n", 7),
        ("c.xml", DESCRIPTORS.replace("</TreeNumberList>", "", 1), 11),
        ("d.xml", DESCRIPTORS.replace("<DescriptorUI>D001943</DescriptorUI>", ""), 12),
        ("e.bin", ASCII + "no equals sign\n", 16),
        ("f.bin", ASCII.replace("UI = D000001", ""), 7),
    ],
)
def test_errors_name_the_line(read, name, text, line):
    with pytest.raises(InputError) as caught:
        read("mesh", name, text)
    assert caught.value.line == line
    assert f"{name}:{line}: " in str(caught.value)


def test_entities_are_neither_expanded_nor_fetched(read, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    declared = f"""<!DOCTYPE DescriptorRecordSet [
      <!ENTITY file SYSTEM "{secret.as_uri()}">
      <!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"> ]>"""
    head, _, rest = DESCRIPTORS.partition("\n")[2].partition("\n")
    for entity in ("&file;", "&b;"):
        text = declared + rest.replace("Breast Neoplasms", entity, 1)
        assert head.startswith("<!DOCTYPE")
        with pytest.raises(InputError, match="entities are not accepted"):
            read("mesh", "mesh.xml", text)
