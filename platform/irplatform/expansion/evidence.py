"""Evidence in the index about names: which occur at all, and which mean what they should.

Short names often mean something else: MTC is NTRK1 and medullary thyroid carcinoma. An alias of a
gene, or an abbreviation of a disease, counts if enough of the documents with it also have a sure
name. Kinds of a disease that are far more frequent than the disease must occur with it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from irplatform.expansion.expression import Boolean, Phrase
from irplatform.expansion.names import initials

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from irplatform.expansion.expression import Expression
    from irplatform.expansion.lucene_query import Compiler
    from irplatform.expansion.names import Synonym

_SHORTEST = 3
"""Shorter aliases, such as H2 of FGFR1, are never taken."""
_ABBREVIATED = 0.3
"""Share of the documents with an abbreviation that must have a name for which it stands."""
_SHORT_NAME = 5
"""Letters of a disease's name that may mean something else as well: ALL, CUP."""
_REMEMBERED = 1 << 14
"""Names whose documents are counted once."""
_FREQUENT = 0.3
"""Share of a disease's documents above which a kind would dominate the results."""
_FEW = 20
"""Documents below which such a share means nothing."""
_TOGETHER = 0.05
"""Share of the documents with such a kind that must have the disease: melanoma, a neuroendocrine
tumour by its cells, has 0.00, bile duct cancer in cholangiocarcinoma 0.07."""
_BACKED = 0.25
"""Share of the documents with a gene's sure names that must have an alias, if this often means
something else, or if its authors never use the symbol: PD-L1 for CD274, MEK1 for MAP2K1."""


class Evidence:
    """Counts names in an index."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._count = lru_cache(_REMEMBERED)(lambda name: self._together([Phrase(name)]))

    def count(self, name: str) -> int:
        """How many documents have a name."""
        return self._count(name)

    def occurring(self, names: Iterable[Synonym]) -> list[Synonym]:
        """The names that occur; of spellings that analysis makes equal, one."""
        by_terms: dict[tuple[str, ...], Synonym] = {}
        for name in names:
            terms = tuple(self._compiler.terms(name.text))
            if (
                terms
                and terms not in by_terms
                and (name.relation == "topic" or self.count(name.text))
            ):
                by_terms[terms] = name
        return list(by_terms.values())

    def agreement(self, name: str, others: Sequence[Synonym]) -> float:
        """The share of the documents with a name that also have one of the others, 0 to 1."""
        total = self.count(name)
        return self._shared(name, others) / total if total and others else 0.0

    def backed(self, name: str, sure: Sequence[Synonym]) -> bool:
        """Whether enough of the documents with sure names also have a name."""
        total = self._together([Phrase(other.text) for other in sure])
        return bool(total) and self._shared(name, sure) / total >= _BACKED

    def _shared(self, name: str, others: Sequence[Synonym]) -> int:
        either = Boolean(should=tuple(Phrase(other.text) for other in others), minimum=1)
        return self._together([Boolean(must=(Phrase(name), either))])

    def _together(self, parts: Iterable[Expression]) -> int:
        return self._compiler.count([self._compiler(part) for part in parts])

    def trusted(
        self, names: Sequence[Synonym], share: float, unlike: Sequence[str] = ()
    ) -> list[Synonym]:
        """The names without aliases that mean something else; the topic's name is the first one.

        An alias stays if a share of its documents has a trusted name, and then supports others. For
        aliases in `unlike`, which also name something else, only that share counts.
        """
        own_name = names[0].text if names else ""
        sure = [name for name in names if _beyond_doubt(name, own_name)]
        doubtful = [n for n in names if n not in sure and len(n.text) >= _SHORTEST]
        while doubtful:
            vouched = [
                n
                for n in doubtful
                if (self.agreement(n.text, sure) >= share)
                or (n.text not in unlike and self.backed(n.text, sure))
            ]
            if not vouched:
                break
            sure += vouched
            doubtful = [n for n in doubtful if n not in vouched]
        return [name for name in names if name in sure]

    def of_disease(self, names: Sequence[Synonym]) -> list[Synonym]:
        """A disease's names without short ones that mean something else, and with its initials."""
        long = [n for n in names if n.relation == "topic" or len(n.text) > _SHORT_NAME]
        sure = [n for n in long if n.relation != "narrow"]
        trusted = [n for n in names if n in long or self.agreement(n.text, sure) >= _ABBREVIATED]
        return self.occurring([*trusted, *self.abbreviations(trusted, _ABBREVIATED)])

    def abbreviated(self, short: str, diseases: Iterable[list[Synonym]]) -> str:
        """The most frequent name of the disease that an abbreviation mostly stands for, or ""."""
        shares = ((self.agreement(short, names), names) for names in diseases)
        share, names = max(shares, key=lambda pair: pair[0], default=(0.0, []))
        if share < _ABBREVIATED:
            return ""
        return max(names, key=lambda name: self.count(name.text)).text

    def kinds(self, exact: Sequence[Synonym], kinds: Sequence[Synonym]) -> list[Synonym]:
        """The most frequent kinds of a disease, without those that would take its place."""
        most = max(_FEW, _FREQUENT * self._together([Phrase(name.text) for name in exact]))
        by_frequency = sorted(kinds, key=lambda name: -self.count(name.text))
        return [
            name
            for name in by_frequency
            if self.count(name.text) <= most or self.agreement(name.text, exact) >= _TOGETHER
        ]

    def abbreviations(self, names: Sequence[Synonym], share: float) -> list[Synonym]:
        """Initials of names that texts use for them: NSCLC, AML."""
        by_initials: dict[str, Synonym] = {}
        for name in names:
            short = initials(name.text)
            if len(short) >= _SHORTEST and short not in by_initials:
                alike = [n for n in names if initials(n.text) == short]
                if self.agreement(short, alike) >= share:
                    by_initials[short] = replace(
                        name, text=short, source=f"initials of {name.text}"
                    )
        return list(by_initials.values())


def _beyond_doubt(name: Synonym, own_name: str) -> bool:
    """True for a full name, a spelling of the topic's, or a gene of a family: N-ras for NRAS."""
    if name.relation in ("topic", "spelling", "narrow") or (
        " " in name.text and name.relation == "synonym"
    ):
        return True
    plain, symbol = (re.sub(r"[^a-z0-9]", "", text.lower()) for text in (name.text, own_name))
    return plain == symbol or (plain in symbol and any(c.isdigit() for c in plain[1:]))
