"""Which spellings of a name meet, and which do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.concepts.spelling import Speller
from irplatform.knowledge.model import (
    is_abbreviation,
    keys,
    literal_key,
    stored_key,
    stored_keys,
    without_dosage,
    without_salt,
)


def meet(looked_up, stored):
    return bool(set(keys(looked_up)) & set(stored_keys(stored)))


@pytest.mark.parametrize(
    ("looked_up", "stored"),
    [
        ("MELANOMA", "melanoma"),
        ("HER2", "HER-2"),
        ("her-2", "HER2"),
        ("non small cell lung cancer", "Non-small-cell lung cancer"),
        ("nonsmall cell lung cancer", "Non-Small Cell Lung Cancer"),
        ("non-small-cell lung carcinoma", "Carcinoma, Non-Small-Cell Lung"),
        ("Carcinoma, Non-Small-Cell Lung", "Non-Small-Cell Lung Carcinoma"),
        ("type 2 diabetes mellitus", "Diabetes Mellitus, Type 2"),
        ("BCR-ABL positive chronic leukemia", "Leukemia, Chronic, BCR-ABL Positive"),
        ("carcinomas", "Carcinoma"),
        ("breast neoplasm", "Breast Neoplasms"),
        ("liver biopsies", "liver biopsy"),
        ("leukaemia", "Leukemia"),
        ("oesophageal tumours", "esophageal tumor"),
        ("oestrogens", "Estrogens"),
        ("diarrhoea", "Diarrhea"),
        ("dyspnoea", "Dyspnea"),
        ("neutropaenia", "Neutropenia"),
        ("naevi of the foetus", "nevi of the fetus"),
        ("leucocytes", "Leukocytes"),
        ("zinc sulphate", "zinc sulfate"),
        ("health behaviours", "Health Behavior"),
        ("aetiology of coeliac disease", "etiology of celiac disease"),
        ("homologue of patched", "homolog of patched"),
        ("generalised anxiety disorders", "Generalized Anxiety Disorder"),
        ("catheterisations", "Catheterization"),
        ("paralysed muscle fibres", "paralyzed muscle fiber"),
        ("leucoderma and leucaemia", "leukoderma and leukemia"),
        ("goitres", "goiter"),
        ("phaeochromocytoma", "pheochromocytoma"),
        ("MAPK signalling", "MAPK signaling"),
        ("neurofibromata", "neurofibroma"),
        ("brain metastases", "Brain Metastasis"),
        ("bronchiectases", "bronchiectasis"),
        ("diagnoses of prostheses", "diagnosis of prosthesis"),
        ("lung abscesses", "Lung Abscess"),
        ("coronaviruses", "coronavirus"),
        ("thoracic vertebrae", "thoracic vertebra"),
        ("kinases", "kinase"),
        ("doses", "dose"),
        ("headaches", "headache"),
        ("diseases", "disease"),
        ("TNF-α", "TNF alpha"),
        ("Hodgkin lymphoma", "Hodgkin's lymphoma"),
        ("Alzheimers disease", "Alzheimer's disease"),
        ("Sjogren syndrome", "Sjögren syndrome"),
        ("gefitinib 250 mg tablets", "Gefitinib"),
        ("firrs", "FIRRS"),
        ("egfrs", "EGFR"),
    ],
)
def test_spellings_that_meet(looked_up, stored):
    assert meet(looked_up, stored)


@pytest.mark.parametrize(
    ("looked_up", "stored"),
    [
        ("KRAS", "KRA"),
        ("kras", "KRA"),
        ("FIRRS", "FIRR"),
        ("NKX21", "NKX2-1"),
        ("colon cancer", "cancer"),
        ("thrombosis", "thrombus"),
        ("Rosaceae", "rosacea"),
        ("glasses", "glass"),
        ("Mycoplasma pneumoniae", "mycoplasma pneumonia"),
        ("kinases", "kinasis"),
        ("revised", "revision"),
        ("lung cancer", "cancer of the lung"),
    ],
)
def test_names_that_stay_apart(looked_up, stored):
    query_keys, file_keys = set(keys(looked_up)), set(stored_keys(stored))
    if looked_up == "FIRRS":
        query_keys = set(stored_keys(looked_up))  # both as they stand in a file
    assert not query_keys & file_keys


@given(
    st.lists(
        st.sampled_from(
            ["metastases", "fibres", "of", "neurofibromata", "organised", "centre", "HER2", "leuco"]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_name_is_spelled_word_by_word_as_articles_are(words):
    """Or it would be found by `kb show`, and not in an article."""
    text = " ".join(words).lower()
    speller = Speller()
    spelling = speller.words(text)
    assert speller.key(spelling, 0, len(words))[0] == stored_key(text)


def test_ids_that_are_names_keep_their_usual_spelling():
    assert literal_key("Leucovorin") == "leucovorin"
    assert literal_key("Vemurafenib") == "vemurafenib"


@given(st.text(max_size=40))
def test_a_name_meets_itself_whatever_it_is(text):
    assert meet(text, text) == bool(stored_keys(text))


@given(st.text(alphabet="abcXYZ09 -,'()sα", max_size=30))
def test_a_name_meets_itself_in_capitals_or_without_any(text):
    assert not stored_keys(text) or meet(text.lower(), text)


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("aspirin 81 mg oral tablet", "aspirin"),
        ("insulin 100 units/ml injection", "insulin"),
        ("sodium chloride 0.9%", "sodium chloride"),
        ("5-fluorouracil", "5-fluorouracil"),
        ("vitamin b 12", "vitamin b 12"),
        ("500 mg", "500 mg"),
        ("eif-4g inhibitor", "eif-4g inhibitor"),
    ],
)
def test_dosage_is_no_part_of_a_drugs_name(name, bare):
    assert without_dosage(name) == bare


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("imatinib mesylate", "imatinib"),
        ("Lapatinib ditosylate", "Lapatinib"),
        ("dasatinib monohydrate", "dasatinib"),
        ("sodium", "sodium"),
        ("sodium chloride", "sodium chloride"),
    ],
)
def test_a_salt_is_no_part_of_a_drugs_name(name, bare):
    assert without_salt(name) == bare


def test_what_is_an_abbreviation():
    assert all(map(is_abbreviation, ["NSCLC", "GIST", "HER2", "MALT"]))
    assert not any(
        map(is_abbreviation, ["Melanoma", "lung cancer", "GIST tumor", "A", "ABCDEFGHIJ"])
    )
