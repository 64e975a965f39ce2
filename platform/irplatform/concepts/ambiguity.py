"""Conditions of names: which names mean the same everywhere.

Gene symbols and abbreviations are short, and many are words (MET, KIT) or have several meanings
(ALL, MS). Such a name needs the capitals of its source, or support: the article names the concept
in another way too. Names that the article defines need neither. The lists come from reading what
short names match in abstracts on cancer; HGNC gives no frequency of its aliases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntFlag
from functools import lru_cache
from typing import TYPE_CHECKING

from irplatform.knowledge.model import literal_key, stored_key
from irplatform.text.tokenizer import STOP_WORDS, fold

if TYPE_CHECKING:
    from irplatform.knowledge import ConceptKind, NameKind

_KNOWN = """
    ABL1 cabl; AFF1 af4; AIF1 iba1; ALDH1A1 aldh1; ANO1 dog1; APEX1 ape1 ref1; AURKA stk15;
    B3GAT1 leu7; BCL2A1 bfl1; BCL2L1 bclx bclxl bclxs; BCL2L11 bimel; BIRC2 ciap1; BIRC3 ciap2;
    CASP3 cpp32; CCL2 mcp1; CCND1 prad1; CD274 b7h1 pdl1; CD276 b7h3; CD80 b71; CD86 b72; CDKN1A
    cip1 waf1; CDKN1B kip1; CDKN2A cdkn2 ink4 ink4a mts1; CDKN2B ink4b; CDKN2B-AS1 anril; CDKN2C
    ink4c; CDKN2D ink4d; CFLAR cflip; CHEK1 chk1; CHEK2 chk2; CSF1R cfms; CSF3 gcsf; CXCL10
    ip10; CXCL12 sdf1; CYBB nox2; DCT trp2; DUSP1 mkp1; DUSP6 mkp3; EGFR erbb1 her1; EGLN3 phd3;
    EIF4EBP1 4ebp1; EP300 p300; ERBB2 her2; ERBB3 her3; ERBB4 her4; ERN1 ire1; ERRFI1 mig6; FGF4
    hst1; FGFR2 ksam; FLT3 flk2; FOSL1 fra1; GPER1 gpr30; HAVCR2 tim3; HIF1A hif1; HSP90AA1
    hsp90; HSP90B1 gp96 grp94; HSPA1A hsp70; HSPA5 grp78; HSPA8 hsc70; HSPB1 hsp27; IGF1R igfir;
    IL1RN il1ra; KDR flk1 vegfr; KLRK1 nkg2d; KRAS kras2; LIN28A lin28; MAGEA3 mage3; MAP2K1
    mek1; MAP2K2 mek2; MAP3K1 mekk1; MAP3K5 ask1; MAPK1 erk2; MAPK3 erk1; MAPK7 erk5; MAPK8
    jnk1; MAPK9 jnk2; MCAM muc18; MDM2 hdm2; MDM4 hdmx mdmx; MKI67 ki67; MLLT3 af9; MUC16 ca125;
    MYCL lmyc mycl1; MYCN nmyc; NCOA1 src1; NFE2L2 nrf2; NKX2-1 ttf1; NME1 nm23; NTRK1 trka;
    NTRK2 trkb; NTRK3 trkc; P2RX7 p2x7; PARK7 dj1; PDCD1 pd1; PDCD1LG2 pdl2; PDGFB csis; PDIA3
    erp57; PKM pkm2; PMEL gp100 hmb45; POU5F1 oct3 oct4; PTEN mmac1 tep1; PTGS2 cox2; PTPN11
    shp2; PTPN6 shp1; PTPRC b220; RAF1 craf; RBL1 p107; RPS6KA3 rsk2; RPS6KB1 ps6k; RRM2B p53r2;
    RUNX1 aml1; SCGB1A1 cc10; SEPTIN9 sept9; SLC1A1 eaac1; SLC2A1 glut1; SLC2A3 glut3; SLC2A4
    glut4; SLC6A9 glyt1; SMAD4 dpc4; SNAI1 snail; STAT5A stat5; STK11 lkb1; TEK tie2; TERF1
    trf1; TERF2 trf2; TFRC tfr1; TGFBR1 alk5; TJP1 zo1; TNFRSF4 ox40; TNFRSF9 41bb; TNFSF10
    trail; TNFSF11 rankl; TNK2 ack1; TP53 p53; TP53BP1 53bp1; TRIP10 cip4; TWIST1 twist; TYRP1
    trp1; WASF2 wave2; XRCC5 ku80 ku86; XRCC6 ku70; YES1 cyes
"""
"""Genes, each with aliases of up to five characters that articles use for it. The name of a family
(HSP90, STAT5, VEGFR) stands for its best-known member."""
_ALIASES = {gene: set(names) for gene, *names in map(str.split, _KNOWN.split(";"))}
_ANTIGEN = re.compile(r"cd\d{1,3}[a-z]?")
"""Each number of a cluster of differentiation is given once: CD20 is MS4A1."""
_PREFIXES = ("c", "h")
"""Cellular, human: c-MYC, hMLH1."""
_OTHERS = frozenset(
    """
    ACD ACR ACT ADM BCR3 BID BLM BTC CA1 CA3 CAMP CISH CPD CPE CPM CR1 CR2 CTRL DDT DES DLD ECD
    EFS ELA2 ELN EMD ESD F10 FAP FEV FLG GEM GP5 GPI GSC HPD HRG IMPACT LOX LPA MCC MIA MIB1 MICE
    MINT1 MINT2 MIP MSC MVD NCL NHS NOG OCM OTC PAH PAM PART1 PDC PDF PER1 PGP PI3 PIP PTS RPE SCA1
    SCD SCT SDS SEA SET SKI SLN SMS SPR SRM SSB STAR STS TEP1 TRAP TRG TST TTF1
    """.split()  # noqa: SIM905 - a list would take a page
)
"""Symbols, official or once so, that are mostly something else: twice daily (BID), a cell line
(F10), an antibody (MIB-1), a primer (GP5), survival (EFS), methylated DNA (MINT1), another gene
(TTF-1, TEP1)."""
_CODON = re.compile("[ACGT]{3}")
_OLD_NAMES = """
AKT1: v-akt murine thymoma viral oncogene homolog 1
ALK: anaplastic large cell lymphoma kinase
ATM: ataxia telangiectasia mutated
ATR: ataxia telangiectasia and Rad3 related
BCR: breakpoint cluster region
BRAF: v-raf murine sarcoma viral oncogene homolog B1
EML4: echinoderm microtubule-associated protein-like 4
ERG: ETS-related gene
HRAS: Harvey rat sarcoma viral oncogene homolog
KIT: v-kit Hardy-Zuckerman 4 feline sarcoma viral oncogene homolog
KRAS: Kirsten ras
KRAS: Kirsten rat sarcoma
KRAS: Kirsten rat sarcoma viral oncogene
KRAS: Kirsten rat sarcoma viral oncogene homolog
LIF: leukemia inhibitory factor
MDM2: mouse double minute 2
MDM2: murine double minute 2
MET: mesenchymal-epithelial transition factor
MET: mesenchymal to epithelial transition factor
NRAS: neuroblastoma ras
NRAS: neuroblastoma ras viral oncogene homolog
PML: promyelocytic leukemia protein
PTEN: phosphatase and tensin homolog deleted on chromosome 10
PTEN: phosphatase and tensin homolog deleted on chromosome ten
RET: rearranged during transfection
"""
ORDINARY_WORDS = frozenset(
    """
    abstract acceleration accounting achievement address adoption affect aftercare aged animal
    architecture archive arm art association atlas attention awareness back balance bear bed
    behavior capsule character chart chi city clone cold collection color comment communication
    complement consensus control cue culture dependence diffusion digestion drive efficiency
    electron electronic element environment exhibit exhibition face fall falling feedback
    flexibility form foundation freedom generic genesis goal habit hand hedgehog history hope
    housekeeping impact index indicator intention interview investigator joint knowledge language
    lead library life ligation light literature luminal magnetic maintenance map mass mediation
    memory method mining minor modus mole mother name nature objective observation orbit
    organization orientation outline overall paca paper parent perception philadelphia pilot
    policy power program projection proxy pulse radio reading record recycling reflex repression
    research respect rest retinal review role rose running scratch secretion separation society
    solution sound spatial spindle statistic suggestion suspension systematic table tail tear
    tension thyroid time transducer translating translation tree triplet understanding university
    viewpoint virtue voice white who will work worker
    """.split()  # noqa: SIM905 - a list would take a page
)
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_INITIAL = re.compile(r"[A-Za-z]-[A-Za-z][a-z]{2,}")
_LAST_LETTER = re.compile(r"[^\W\d_]{3}[ -][A-Za-z]")
_COUNTED = re.compile(r"(?:[a-z]+|Arm|Case|Day|Grade|Group|Part|Past|Per|Phase|Stage|Type)\s\d+")
_PER_UNIT = re.compile(r"(?:d|day|g|h|hr|kg|l|m|mg|min|ml|mol|s|week|wk)\W[1-3]", re.IGNORECASE)
Definitions = Mapping[str, int | None]
"""A text's abbreviations with their concepts; None for something unknown."""
_SYMBOL = re.compile(r"(?=.*[A-Z0-9])[^\s,;()]{1,10}")
_AMBIGUOUS = {(True, True): 2, (True, False): 4, (False, True): 2, (False, False): 3}
"""Characters of the longest symbol that needs support; keys: letters alone, and the gene's own."""
_SHORT_ALIAS = 5
"""Characters of the longest alias of a gene that probably names other things too: PC-3."""
_GREEK = re.compile(r"(?:alpha|beta|gamma|delta|epsilon|kappa)\W?\d*$", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_TOO_NEAR = {"broad", "related"}


class Condition(IntFlag):
    """When a name counts.

    `CAPITALS`: in the capitals of its source. `SUPPORT`: if the article also names the concept in
    another way. `WHOLE`: only as a whole query or heading. `ALONE`: unless a hyphen joins it to a
    code, as the symbol F10 in B16-F10.
    """

    NONE = 0
    CAPITALS = 1
    SUPPORT = 2
    WHOLE = 4
    ALONE = 8


def condition(  # noqa: PLR0911 - a list of cases
    text: str, name_kind: NameKind, concept_kind: ConceptKind, symbol: str = ""
) -> Condition | None:
    """The condition of a name; None if it never counts. `symbol` is that of a gene."""
    key = literal_key(text)
    if name_kind in _TOO_NEAR or len(key) < 2 or not any(map(str.isalpha, key)):
        return None
    words = _WORD.findall(text.lower())
    odd = all(word in STOP_WORDS or not word.isalpha() for word in words)
    if len(words) > 1 and (odd or (words[0] in STOP_WORDS and len(words) == 2)):
        if text.islower() or len(key) < 4:
            return Condition.WHOLE
        return Condition.CAPITALS  # AND-1, AN inhibitor
    letters = "".join(words[:2])
    if len(words) > 2 and len(letters) == 2 and letters in STOP_WORDS:  # "at protein": A-T protein
        return Condition.WHOLE if text.islower() else Condition.CAPITALS
    if " " in text.strip():
        return Condition.NONE if len(key) > 4 else Condition.CAPITALS | Condition.SUPPORT
    if key in STOP_WORDS:
        return Condition.CAPITALS | Condition.SUPPORT if text.isupper() else Condition.WHOLE
    if concept_kind == "gene":
        return _of_gene(text, key, name_kind, symbol)
    if _SYMBOL.fullmatch(text) and text != text.capitalize():
        return _of_abbreviation(key)
    return _of_word(text, key, concept_kind)


def shared(one: ConceptKind, other: ConceptKind, key: str) -> bool:
    """Whether a name of two concepts is ambiguous, by its length and their kinds."""
    if {one, other} in ({"gene", "drug"}, {"gene", "other"}) and len(key) > 3:
        return False  # a gene and its protein
    return len(key) <= 5 or one == other == "gene"


def _of_gene(text: str, key: str, name_kind: NameKind, symbol: str) -> Condition:
    official = name_kind == "preferred"
    if not _SYMBOL.fullmatch(text):  # a word: insulin, titin; as an alias, any word: spatial, clone
        alone = len(key) > 5 and name_kind == "synonym" and key not in ORDINARY_WORDS
        return Condition.NONE if alone or official else Condition.SUPPORT
    if (official or name_kind == "previous") and is_mostly_something_else(text):
        return Condition.CAPITALS | Condition.SUPPORT | Condition.ALONE
    usual = _of_symbol(text, key, official=official)
    if official or name_kind == "previous" or len(key) > _SHORT_ALIAS:
        return usual
    if is_known_alias(text, symbol):
        return usual & ~Condition.SUPPORT if len(key) > 2 else usual
    return usual | Condition.SUPPORT


def _of_symbol(text: str, key: str, *, official: bool) -> Condition:
    longest = _AMBIGUOUS[key.isalpha(), official]
    if _GREEK.match(text) and not official:  # beta 3
        return Condition.SUPPORT
    if "-" in text and len(key) > 2:  # PD-1, C-Kit: nobody writes a word like that
        return Condition.NONE if len(key) > 3 else Condition.CAPITALS
    if len(key) <= 2:
        return Condition.CAPITALS | Condition.SUPPORT if official else Condition.WHOLE
    if len(key) <= longest:
        return Condition.CAPITALS | Condition.SUPPORT
    return Condition.CAPITALS if key.isalpha() or len(key) == 3 else Condition.NONE


def _of_abbreviation(key: str) -> Condition:
    if len(key) <= 3 or key in ORDINARY_WORDS:
        return Condition.CAPITALS | Condition.SUPPORT
    return Condition.CAPITALS if key.isalpha() else Condition.NONE


def _of_word(text: str, key: str, kind: ConceptKind) -> Condition:
    word = text.lower()
    if not ORDINARY_WORDS.isdisjoint((stored_key(word), word.removesuffix("s"))):
        return Condition.WHOLE if kind == "other" else Condition.SUPPORT
    if kind in {"drug", "variant"} and len(key) <= 4:
        return Condition.SUPPORT  # "tea", "ice" and, in small letters, abbreviations
    return Condition.NONE if len(key) > 2 else Condition.WHOLE


def _extra_names() -> dict[str, list[str]]:
    names = {
        gene: [
            f"epidermal growth factor receptor {number}",
            f"epidermal growth factor receptor type {number}",
            f"human epidermal growth factor {number}",
            f"human epidermal growth factor type {number}",
        ]
        for number, gene in enumerate(("EGFR", "ERBB2", "ERBB3", "ERBB4"), start=1)
    }
    for line in _OLD_NAMES.split("\n")[1:-1]:
        gene, name = line.split(": ")
        names.setdefault(gene, []).append(name)
    return names


EXTRA_NAMES = _extra_names()
"""Names in articles that no source has; without them, HER2's long form would be EGFR."""


def is_known_alias(text: str, symbol: str) -> bool:
    """Whether a short alias of a gene means this gene everywhere."""
    key, official = literal_key(text), literal_key(symbol)
    return (
        key == official
        or key in _ALIASES.get(symbol, ())
        or _ANTIGEN.fullmatch(key) is not None
        or key in {prefix + official for prefix in _PREFIXES}
        or (official.startswith("krt") and key == official.replace("krt", "ck", 1))  # cytokeratin 7
    )


def is_mostly_something_else(symbol: str) -> bool:
    """Whether a gene's symbol is a word, a unit, an abbreviation or a code in most articles."""
    return symbol in _OTHERS or _CODON.fullmatch(symbol) is not None


@lru_cache(maxsize=1 << 15)
def bare(text: str) -> str:
    """Letters and digits unchanged; Greek letters are spelled out."""
    if not text.isascii():
        text = "".join(letter if letter.isascii() else fold(letter) for letter in text)
    return _NOT_ALPHANUMERIC.sub("", text)


def lacks_hyphen(surface: str, name: str) -> bool:
    """Whether a word lacks the hyphen of a name: talk, and the alias T-ALK."""
    return surface.isalpha() and not name.isalpha()


def is_initial_and_word(surface: str) -> bool:
    """Whether a text is a letter, a hyphen and a word, as old gene symbols are: K-ras, B-Raf."""
    return _INITIAL.fullmatch(surface) is not None


def ends_in_a_letter(surface: str, name: str) -> bool:
    """Whether a name of two words is one word by chance: Cyclin G, and cycling."""
    return surface.isalpha() and surface.islower() and _LAST_LETTER.search(name[-5:]) is not None


def is_count(surface: str, name: str) -> bool:
    """Whether a text counts something or gives a unit, and the name is one word.

    "past 3 decades", "Part 1" and "2 mg min-1" have the letters and digits of gene symbols.
    """
    if " " in name:
        return False
    return bool(_COUNTED.fullmatch(surface) or _PER_UNIT.fullmatch(surface))


def is_acronym_of_nothing(surface: str, name: str) -> bool:
    """Whether a text has a word in capitals where the name is a word: PET, and pet."""
    return len(surface) <= 5 and surface.isalpha() and surface.isupper() and not name.isupper()
