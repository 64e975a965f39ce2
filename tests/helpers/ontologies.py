"""Addresses that ontologies share."""

OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
OBO_PURL = "http://purl.obolibrary.org/obo/"
