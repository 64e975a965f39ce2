"""Names of measures: understood or refused before anything is computed."""

import pytest

from irplatform.errors import InputError
from irplatform.evaluation.judgments import default_measures
from irplatform.evaluation.kinds import OfPlugin
from irplatform.evaluation.measure_names import parse_measures


def test_names_come_back_in_their_one_right_form_in_order_and_once():
    names = ["P(rel=2)@10", " NDCG@20", "MAP", "AP", "nDCG@20", "Success@10"]
    assert list(parse_measures(names)) == ["P(rel=2)@10", "nDCG@20", "AP", "Success@10"]


def test_names_of_trec_eval_are_understood_where_they_are_of_one_measure(capsys):
    names = ["map", "P_10", "recall_100", "ndcg", "ndcg_cut_10", "map_cut.5", "recip_rank", "bpref"]
    right = ["AP", "P@10", "R@100", "nDCG", "nDCG@10", "AP@5", "RR", "Bpref"]
    assert list(parse_measures([*names, "Rprec", "infAP"])) == [*right, "Rprec", "infAP"]
    with pytest.raises(InputError):
        parse_measures(["official"])
    assert capsys.readouterr().out == ""


def test_a_whole_number_does_for_a_fraction():
    assert list(parse_measures(["SetF(beta=2)", "IPrec@1"])) == ["SetF(beta=2.0)", "IPrec@1.0"]


def test_measures_of_plugins_come_first():
    def measure(qrels, run):
        return {}

    parsed = parse_measures(["infNDCG", "AP"], {"infNDCG": measure, "AP": measure})
    assert parsed == {"infNDCG": OfPlugin(measure), "AP": OfPlugin(measure)}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ndcg@20", "unknown measure 'ndcg@20'. Did you mean 'nDCG@20'?"),
        ("nDCG20", "unknown measure 'nDCG20'. Did you mean 'nDCG@20'?"),
        ("p10", "Did you mean 'P@10'?"),
        ("AP1000", "Did you mean 'AP@1000'?"),
        ("Bpref5", "Did you mean 'Bpref'?"),
        ("Sucess@1", "Did you mean 'Success'?"),
        ("infndcg", "Did you mean 'infNDCG'?"),
        ("gm_map", "unknown measure 'gm_map'."),
        ("ndcg_cut", "unknown measure 'ndcg_cut'."),
        ("ndcg_at_5", "Did you mean 'nDCG@5'?"),
        ("map_at_100", "Did you mean 'AP@100'?"),
        ("recall@50", "Did you mean 'R@50'?"),
        ("precision_at_3", "Did you mean 'P@3'?"),
        ("mrr-10", "Did you mean 'RR@10'?"),
        ("hit_rate@3", "Did you mean 'Success@3'?"),
        ("f1@5", "Did you mean 'SetF'?"),
        ("R-precision", "Did you mean 'Rprec'?"),
        ("main_score", "Did you mean 'nDCG@10'?"),
        ("RBP(p=1,rel=1)", "does not take p=1.0: it takes numbers from 0 to below 1"),
        ("INST(max_rel=2,T=0)", "does not take T=0.0: it takes numbers above 0"),
        ("SDCG(min_rel=2,max_rel=2)@5", "needs a max_rel above min_rel"),
        ("official", "unknown measure 'official'."),
        ("P_0", "the measure 'P_0' does not take cutoff=0: it takes whole numbers from 1"),
        ("P_5,10", "cannot be understood"),
        ("P_10@5", "unknown measure 'P_10'"),
        ("P_10x", "unknown measure 'P_10x'"),
        ("own-ap@10", "unknown measure 'own-ap'. Did you mean 'Own-AP'?"),
        (
            "Own-AP@10",
            "'Own-AP' is a plugin's: it has no cutoff and no parameters",
        ),
        ("Own-AP(rel=2)", "Write 'Own-AP'."),
        ("zzzz", "Known: AP, "),
        ("nDCG@", "cannot be understood. Write a measure as nDCG@20"),
        ("", "cannot be understood"),
        ("AP; AP", "cannot be understood"),
        ("P(2)@10", "cannot be understood"),
        ("P(**{})@10", "cannot be understood"),
        ("P", "needs its parameter 'cutoff', as in 'P@10'"),
        ("P@0", "does not take cutoff=0: it takes whole numbers from 1 to 999,999"),
        (
            "P@99999999999999999999",
            "99999999999: it takes whole numbers from 1 to 999,999",
        ),
        ("P(rel=1000000)@5", "does not take rel=1000000: it takes whole numbers from 1 to 999,999"),
        (
            "nDCG(gains={1:0.5})@5",
            "does not take gains={1: 0.5}: it takes whole numbers from 0 to 999,999",
        ),
        ("nDCG(gains={1:1,2:1000000})@5", "1000000}: it takes whole numbers"),
        ("P(rel=0)@10", "does not take rel=0: it takes whole numbers from 1"),
        (
            "RBP(p=0.8)",
            "It needs a grade from which documents count: 'RBP(rel=1)'.",
        ),
        ("ERR", "It needs a cutoff: 'ERR@20'."),
        ("NumRel(rel=3)", "It is computed without rel only: 'NumRel'."),
        ("P@-1", "cannot be understood"),
        ("P@1.5", "invalid param cutoff=1.5. Its parameters: cutoff: ranking cutoff threshold;"),
        ("IPrec@10", "does not take recall=10.0: it takes numbers from 0 to 1"),
        ("alpha_nDCG@30", "does not take cutoff=30: it takes whole numbers from 1 to 20."),
        ("P_IA(judged_only=True)@5", "does not take judged_only=True"),
        ("IPrec@0.105", "of two decimals, by which trec_eval names a level"),
        ("Compat(p=1.5)", "does not take p=1.5: it takes numbers from 0 to 1"),
        ("nDCG(dcg='x')@5", "cannot be computed: invalid param dcg='x'"),
        ("SetP(relative=1)", "invalid param relative=1"),
        ("nDCG(gains=3)@5", "gains: custom gain mapping (int-to-int)"),
        ("nDCG(gains={'1':5})@5", "does not take gains={'1': 5}: it takes whole numbers"),
        ("nDCG(gains={1:1,'2':5})@5", "'2': 5}: it takes whole numbers"),
        ("P(level=2)@10", "unsupported params found: ['level']. Its parameters: cutoff:"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(name, words):
    with pytest.raises(InputError) as caught:
        parse_measures(["AP", name], dict.fromkeys(["infNDCG", "Own-AP"], lambda qrels, run: {}))
    assert words in str(caught.value)


def test_a_measure_without_its_package_is_refused_with_the_command_that_installs_it(monkeypatch):
    package = "ir_measures.providers.pyndeval_provider.PyNdEvalProvider"
    monkeypatch.setattr(f"{package}.is_available", lambda self: False)
    with pytest.raises(
        InputError, match=r"no installed .* Run pip install 'irplatform\[measures\]'"
    ):
        parse_measures(["alpha_nDCG@10"])


def test_inferred_measures_come_first_unless_the_collection_places_them():
    assert default_measures(["AP"], sampled=False) == ("AP",)
    assert default_measures(["AP"], sampled=True) == ("infNDCG", "infAP", "AP")
    assert default_measures(["infNDCG", "AP"], sampled=True) == ("infNDCG", "infAP", "AP")
    assert default_measures(["AP", "infAP"], sampled=True) == ("infNDCG", "AP", "infAP")
