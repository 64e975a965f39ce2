"""Measures of judgments of subtopics, all computed by pyndeval, the program of TREC's Web track.

Clarke et al., "Novelty and diversity in information retrieval evaluation", SIGIR 2008 (alpha-nDCG);
Clarke, Kolla and Vechtomova, "An effectiveness measure for ambiguous and underspecified queries",
ICTIR 2009 (NRBP); Agrawal et al., "Diversifying search results", WSDM 2009 (those with IA).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.kinds import Standard, is_whole

if TYPE_CHECKING:
    from irplatform.evaluation.kinds import RegisterMeasure


NAMES = (
    *("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP"),
    *("AP_IA", "P_IA", "StRecall"),
)
TAKES = {
    "cutoff": (lambda cutoff: is_whole(cutoff, most=20), "whole numbers from 1 to 20"),
    "judged_only": (lambda judged_only: not judged_only, "False alone"),
}


def register_measures(register: RegisterMeasure) -> None:
    """Register the measures of subtopics."""
    for name in NAMES:
        register(name, Standard(takes=TAKES, of_subtopics=True, has_bounds=False))
