"""Words of general English, in the singular, that are also names of drugs, genes or headings.

As mentions they are nearly always the word. Found by reading what the names of knowledge bases
match in abstracts.
"""

ORDINARY_WORDS = frozenset(
    """
    abstract accounting address affect aftercare animal architecture arm association atlas attention
    awareness balance bear capsule character chart chi clone color complement consensus control
    dependence digestion drive efficiency element environment exhibit exhibition face fall falling
    feedback form foundation genesis goal hand hedgehog history hope impact index indicator
    interview investigator joint knowledge lead library life ligation light literature luminal
    maintenance map mass method mining minor mole nature objective observation organization overall
    paper parent pilot power program pulse radio record repression research respect retinal review
    role secretion separation society solution spatial statistic suggestion suspension systematic
    tail thyroid time translation understanding university viewpoint white who will work worker
    """.split()  # noqa: SIM905 - a list would take a page
)
