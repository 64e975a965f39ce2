"""Words of general English, in the singular, that are also names of drugs, genes or headings.

As mentions they are nearly always the word. Found by reading what the names of knowledge bases
match in abstracts.
"""

ORDINARY_WORDS = frozenset(
    """
    abstract accounting address affect aftercare animal arm association attention awareness balance
    bear capsule character chart chi clone complement consensus control drive efficiency element
    environment exhibit exhibition face fall falling form foundation genesis goal hand hedgehog
    history hope impact index indicator joint knowledge lead library life light literature luminal
    maintenance map mass method minor mole nature objective observation overall paper parent pilot
    power program record repression research respect retinal review role separation society
    solution spatial statistic suggestion suspension systematic tail thyroid time translation
    understanding university white who will work
    """.split()  # noqa: SIM905 - a list would take a page
)
