"""Words of general English, in the singular, that are also names of drugs, genes or headings.

As mentions they are nearly always the word. Found by reading what the names of knowledge bases
match in abstracts.
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
