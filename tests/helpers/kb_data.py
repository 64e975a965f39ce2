"""A small knowledge base in a table."""

OWN = """id\tname\tkind\tsynonyms\tparents\txrefs
X:1\tneoplasm\tdisease\t\t\t
X:2\tmelanoma\tdisease\tmalignant melanoma|MM\tX:1\tMESH:D008545
X:3\tskin melanoma\tdisease\t\tX:2\t
X:4\tuveal melanoma\tdisease\t\tX:2\t
X:5\tMET\tgene\tHGFR\t\tNCBIGENE:4233
X:6\tSLTM\tgene\tMet\t\t
X:7\tGefitinib\tdrug\tIressa\t\tDRUGBANK:DB00317
"""
