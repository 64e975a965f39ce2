"""What articles mean by short gene names, where the sources of genes do not tell.

HGNC lists every symbol and alias that was ever used, without saying how often: PC-3 is an alias of
MSMP and in articles a cell line, HER2 is ERBB2 wherever it stands. The lists here come from reading
what short names match in abstracts on cancer. A short alias that is in none of them is ambiguous
(`ambiguity`), which costs mentions of genes that few articles speak of.
"""

from __future__ import annotations

import re

from irplatform.knowledge.names import literal_key

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
"""Genes, each with aliases of five characters or fewer that articles use for it. The name of a
family (HSP90, STAT5, VEGFR) stands for its best-known member."""

_ALIASES = {gene: set(names) for gene, *names in map(str.split, _KNOWN.split(";"))}
_ANTIGEN = re.compile(r"cd\d{1,3}[a-z]?")
"""Clusters of differentiation are given out once: CD20 is MS4A1."""
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
(F10, OCM, DLD, MIA PaCa), an antibody (MIB-1), a primer (GP5), a panel (IMPACT), a detergent (SDS),
survival (EFS), a remission (CR1), a part of the hippocampus (CA1), methylated DNA (MINT1), a
breakpoint (bcr3), another gene (TTF-1, TEP1)."""
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
"""Names in articles that no source has. Without them, what HER2 abbreviates would be EGFR, and RET
would stand for something unknown."""


def is_known_alias(text: str, symbol: str) -> bool:
    """Whether a short alias of a gene means this gene wherever it stands."""
    key, official = literal_key(text), literal_key(symbol)
    return (
        key == official
        or key in _ALIASES.get(symbol, ())
        or _ANTIGEN.fullmatch(key) is not None
        or key in {prefix + official for prefix in _PREFIXES}
        or (official.startswith("krt") and key == official.replace("krt", "ck", 1))  # cytokeratin 7
    )


def is_mostly_something_else(symbol: str) -> bool:
    """Whether a gene's own symbol is a word, a unit, an abbreviation or a code in most articles."""
    return symbol in _OTHERS or _CODON.fullmatch(symbol) is not None
