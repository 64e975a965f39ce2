"""Names that other programs give to measures: BEIR's, mteb's, ranx's and pytrec_eval's."""

import re

_NAME = re.compile(r"(f1|[a-z_-]+?)(?:(?:@|[._-]?at[._-]?|[._-])?([0-9]+))?")
"""A name of BEIR's, mteb's, ranx's or pytrec_eval's, with its cutoff."""

_NAMES = {
    "f1": "SetF",
    "hit": "Success",
    "hit_rate": "Success",
    "hits": "Success",
    "main_score": "nDCG@10",
    "mean_average_precision": "AP",
    "mean_reciprocal_rank": "RR",
    "ndcg_cut": "nDCG",
    "prec": "P",
    "r_precision": "Rprec",
    "rbp": "RBP(rel=1)",
    "rprecision": "Rprec",
}
"""Names of other programs in small letters, beside those of ir-measures."""


def meant(name: str) -> str:
    """Return the measure that other programs call so, or "".

    >>> meant("ndcg_at_20"), meant("nDCG20"), meant("zzz")
    ('nDCG@20', 'nDCG@20', '')
    """
    import ir_measures

    names = {key.lower(): key for key in ir_measures.measures.registry} | _NAMES
    match = _NAME.fullmatch(name.lower())
    right = match and names.get(match[1].replace("-", "_"))
    if not match or not right:
        return ""
    measure = ir_measures.parse_measure(right)
    has_cutoff = measure.AT_PARAM == "cutoff" and not measure.params
    if match[2] and has_cutoff and "cutoff" in measure.SUPPORTED_PARAMS:
        measure = measure @ int(match[2])
    return str(measure)
