"""The real files: what is in them, and what is found."""

import time

import pytest

from irplatform.knowledge import add, open_knowledge

pytestmark = pytest.mark.real

FILES = {
    "mesh": ["mesh_descriptors.tsv.gz"],
    "doid": ["doid.json.gz"],
    "hgnc": ["hgnc_entries.tsv.gz"],
    "civic": ["civic_biomarkers_2016.tsv.gz"],
    "dgidb": [
        "dgidb_CancerCommons_INTERACTIONS.tsv",
        "dgidb_ClearityFoundation_INTERACTIONS.tsv",
        "dgidb_ClearityFoundationClinicalTrials_INTERACTIONS.tsv",
    ],
    "pharmacotherapydb": ["pharmacotherapydb_catalog_indications.tsv.gz"],
    "hetionet": [
        "hetionet-v1.0-nodes.tsv.gz",
        "edges-5k.sif.gz",
        "DaG-association.tsv.gz",
        "CbG-binding.tsv.gz",
    ],
    "drugs": ["drug_ner_dictionary.json.gz"],
    "mesh-xrefs": ["gilda_mesh_mappings.tsv.gz"],
}
CONCEPTS = {
    "mesh": 30_764,
    "doid": 11_454,
    "hgnc": 43_837,
    "civic": 1_153,
    "dgidb": 343,
    "pharmacotherapydb": 698,
    "hetionet": 47_031,
    "drugs": 20_067,
    "mesh-xrefs": 32_067,
}


@pytest.fixture(scope="module")
def manifests(test_data, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRPLATFORM_HOME", str(tmp_path_factory.mktemp("kb-home")))
        yield {
            name: add(name, [test_data / "kb" / file for file in files])
            for name, files in FILES.items()
        }


@pytest.fixture(scope="module")
def knowledge(manifests):
    return open_knowledge(list(manifests))


def test_every_file_is_read_as_it_is(manifests):
    assert {name: manifest.total("concepts") for name, manifest in manifests.items()} == CONCEPTS
    assert manifests["mesh"].counts["relations"] == {"is-a": 42_021}
    assert manifests["doid"].counts["relations"] == {"is-a": 15_938}
    assert manifests["pharmacotherapydb"].counts["relations"] == {"drug-disease": 755 + 390}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("melanoma", {"MESH:D008545", "DOID:1909"}),
        ("BRAF", {"HGNC:1097", "NCBIGENE:673"}),
        ("non-small cell lung cancer", {"MESH:D002289", "DOID:3908"}),
        ("Carcinoma, Non-Small-Cell Lung", {"MESH:D002289", "DOID:3908"}),
        ("HER-2", {"HGNC:3430"}),
        ("vemurafenib", {"MESH:D000077484", "DRUGBANK:DB08881", "DRUG:vemurafenib"}),
        ("PLX4032", {"DRUG:vemurafenib"}),
    ],
)
def test_what_is_found(knowledge, text, expected):
    assert expected <= {concept.id for concept in knowledge.find(text)}


def test_sources_meet(knowledge):
    assert "HGNC:3236" in {same.id for same in knowledge.same_as("NCBIGENE:1956")}
    assert "DOID:3908" in {same.id for same in knowledge.same_as("MESH:D002289")}
    assert "DRUG:vemurafenib" in {same.id for same in knowledge.same_as("DRUGBANK:DB08881")}
    drugs = {relation.source_id for relation in knowledge.relations("HGNC:1097", "drug-gene")}
    assert {"DRUG:vemurafenib", "DRUGBANK:DB08881"} <= drugs
    above = {concept.name for concept in knowledge.ancestors("DOID:3498")}
    assert {"pancreatic cancer", "carcinoma"} <= above


def test_every_name_of_a_concept_finds_it(knowledge):
    for base in knowledge.bases:
        for number, concept in enumerate(base.concepts()):
            if number % 997 == 0:
                for name in concept.names:
                    ids = {match.id for match in knowledge.find(name.text)}
                    assert concept.id in ids or not any(map(str.isalnum, name.text))


def test_a_look_up_takes_far_less_than_a_millisecond(knowledge):
    names = [concept.name for concept in knowledge.bases[1].concepts()][::50]
    for name in names:
        knowledge.find(name)
    started = time.perf_counter()
    for name in names:
        knowledge.find(name)
    assert (time.perf_counter() - started) / len(names) < 2e-3  # generous: machines are shared
