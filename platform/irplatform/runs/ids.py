"""Ids of documents as others spell them: numbers, addresses, with labels, in objects and lists.

A PMID is a whole number of at most nine digits; PMC ids and DOIs are read likewise. Reading guesses
nothing: a number in an address that is not PubMed's, or a text that may be one number or several,
has no PMID.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from irplatform.runs import fields

if TYPE_CHECKING:
    from collections.abc import Iterable

_HOSTS = re.compile(r"(?:.+\.)?(?:ncbi\.nlm\.nih\.gov|pubmed\.(?:gov|org|com))")
_OF_OTHERS = {
    **dict.fromkeys(("europepmc.org", "ebi.ac.uk"), "med"),
    **dict.fromkeys(("identifiers.org", "bio2rdf.org", "linkedlifedata.com"), "pubmed"),
}
"""Hosts that name articles of PubMed's, and what stands before the number there."""
_ADDRESS = re.compile(r"(?:https?:)?//|(?:[a-z0-9-]+\.)+(?:gov|org|com)/", re.IGNORECASE)
_LABEL = re.compile(
    r"^(?:(?:info|urn)\s*:\s*)?(?:(?:pmids?|pubmed|medline|med(?=[:/]))(?:\s*(?:ids?|no\.?|number))?"
    r"\s*[:#=/_-]*\s*)+",
    re.IGNORECASE,
)
_AROUND = re.compile(r"""^[\s"'<(\[{`]+|[\s"'>)\]}`,;.]+$""")
_ENDING = re.compile(r"\.(?:n?xml|txt|json|html?)$", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.0*)?|\d\.\d+[eE]\+?0?\d")
_BETWEEN = re.compile(r"[,;|\n\[\](){}<>\"'`]+|\s+(?:and|&)\s+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_LARGEST = 10**9
_PMCID = re.compile(
    r"(?:PMC\s*ID\s*:?\s*)?(?:PMC)?\s?0*([1-9]\d*)(?:\.\d+)?"
    r"|\S*(?:ncbi\.nlm\.nih\.gov|europepmc\.org)\S*?/(?:PMC|(?:articles?|pmc)/)0*(\d+)\b\S*",
    re.IGNORECASE,
)
DOI = (
    r"10\.\d{4,9}/[^\s\"]+?(?=[;,|]+(?:PMC?ID|doi:|https?:|10\.\d{4})|\.(?-i:Epub)\b"
    r"|\[(?:published|e?pub)\b|[\s\"]|$)"
)
"""Up to the next space or identifier, as in "10.1002/…20:3<377::AID-SIM799>3.0.CO;2-N"."""
_DOI = re.compile(DOI, re.IGNORECASE)
_ASKED = re.compile(r"(doi\.org/[^\s?#]*)[?#]\w\S*", re.IGNORECASE)
"""A DOI's address, and what is asked of it."""
_OPENING = {")": "(", "]": "[", ">": "<"}
_HYPHENS = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
"""Characters that typesetters put for the hyphen in a DOI."""
_NAMES = ("pmid", "pubmedid", "pubmed", "pmids", "pubmedids")
"""Keys of objects that say what they hold, in plain form."""
_OTHERS = (
    *("document", "documentid", "docid", "docno", "doc", "id", "uid", "identifier"),
    *("citation", "citationid", "reference", "url", "uri", "link", "source", "value"),
)


def pmid_of(value: object) -> str | None:
    """Return the PMID that a value spells, without leading zeros; None if it is not one PMID.

    Examples:
        >>> pmid_of("https://pubmed.ncbi.nlm.nih.gov/0222/"), pmid_of(222.0), pmid_of("PMID: 222.0")
        ('222', '222', '222')
        >>> pmid_of({"docid": "222", "score": 1.5}), pmid_of("PMC222"), pmid_of("222, 333")
        ('222', None, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return str(int(value)) if 0 < value < _LARGEST and value == int(value) else None
    if isinstance(value, dict):
        return _of_object(value)
    return _of_text(value) if isinstance(value, str) else None


def pmids_of(value: object) -> tuple[list[str], list[Any]]:
    """Return the PMIDs that a value spells, in their order, and the parts that are none.

    Empty texts, lists and objects, and None, are passed over. Lists may be nested. A text may have
    several; so may an object, as keys: of numbered PMIDs, `{"1": PMID, "2": PMID}`, neither the
    keys nor the values are taken.

    Examples:
        >>> pmids_of(["222.0", ["PMID:333"], None, "n/a"])
        (['222', '333'], ['n/a'])
        >>> pmids_of("30,123,222")  # three, or one with commas between thousands?
        ([], ['30,123,222'])
    """
    if (pmid := pmid_of(value)) is not None:
        return [pmid], []
    if value is None or value in ("", [], {}):
        return [], []
    if (parts := _parts_of(value)) is None:
        return [], [value]
    read = [pmids_of(part) for part in parts]
    return [name for names, _ in read for name in names], [part for _, no in read for part in no]


def _parts_of(value: object) -> list[Any] | None:
    """The parts of a value that may have several ids; None if it is one thing."""
    if isinstance(value, list | tuple):
        return [*value]
    if isinstance(value, dict):
        keys = [pmid_of(key) for key in value]
        numbered = keys == [str(n) for n in range(1, len(keys) + 1)]
        sound = None not in keys and not (numbered and any(map(pmid_of, value.values())))
        return _values(value, _NAMES)[:1] or (keys if sound else None)
    if not isinstance(value, str) or _THOUSANDS.fullmatch(value.strip()):
        return None
    pieces = [piece for piece in map(str.strip, _BETWEEN.split(plain(value))) if piece]
    parts = [piece for piece in pieces if _LABEL.sub("", piece)]
    words = _LABEL.sub("", parts[0]).split() if len(parts) == 1 else []
    if len(words) > 1 and all(map(_of_text, words)):  # with blanks alone between them
        return words
    read = [_of_text(part) for part in parts]
    if None in read and any(
        pmid and part[0].isdigit() for pmid, part in zip(read, parts, strict=True)
    ):
        return None  # a number among words may be a year
    return None if parts == [value] else parts


def whole_number(value: object) -> int | None:
    """Return the whole number that a number or a text is, as in 12.0 and "12"; None without one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value).strip())
        small = abs(number) < 10**15  # of a larger one, a float has lost digits
        return int(number) if small and number == number.to_integral_value() else None
    except (ArithmeticError, ValueError):
        return None


def id_text(value: object) -> str:
    """Return the id of a topic or run as text, of whole numbers without a point; or ""."""
    if isinstance(value, str):
        return value.strip()
    number = whole_number(value)
    return "" if number is None else str(number)


def pmcid_of(text: str) -> str | None:
    """Return the PMC id that a text spells (PMC123), also as a number or address, or None."""
    match = _PMCID.fullmatch(_bare(text))
    return f"PMC{int(match[1] or match[2])}" if match else None


def doi_of(text: str) -> str | None:
    """Return the first DOI in a text, without stops and brackets around it, or None."""
    address = _ASKED.sub(r"\1", plain(text))
    match = _DOI.search(unquote(address).translate(_HYPHENS))
    doi = match[0] if match else ""
    while doi and (
        doi[-1] in ".,;:'”’" or doi.count(_OPENING.get(doi[-1], doi[-1])) < doi.count(doi[-1])
    ):
        doi = doi[:-1]
    return doi or None


def plain(text: str) -> str:
    """A text without marks that are not seen, with plain digits and blanks."""
    text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFKC", text).strip()


def _bare(text: str) -> str:
    return _AROUND.sub("", plain(text))


def _of_text(text: str) -> str | None:
    bare = _bare(text)
    if not _ADDRESS.match(bare):
        bare = _bare(_LABEL.sub("", bare))
    if _ADDRESS.match(bare):
        bare = _of_address(bare)
    bare = re.sub(r"\s*\[(?:pmid|uid)$", "", _ENDING.sub("", bare), flags=re.IGNORECASE)
    if not _NUMBER.fullmatch(bare):
        return None
    number = Decimal(bare)
    exponent = number.as_tuple().exponent
    # 2.2E7 may have lost its last digits; 2.2000333E7 has all.
    is_whole = number == int(number) and isinstance(exponent, int) and exponent <= 0
    return str(int(number)) if is_whole and 0 < number < _LARGEST else None


def _of_address(text: str) -> str:
    """The number in an address of PubMed's, Europe PMC's or the Semantic Web's; or ""."""
    try:
        address = urlsplit(text if "//" in text else f"//{text}")
    except ValueError:
        return ""
    if " " in text:  # several addresses
        return ""
    host, query = address.hostname or "", parse_qs(address.query.lower())
    *before, last = [part for part in re.split("[/:]", address.path.lower()) if part] or [""]
    if _HOSTS.fullmatch(host):
        if "pubmed" not in [*host.split("."), *before, last, *query.get("db", ())]:
            return ""
        parameters = (query[key] for key in ("term", "id", "uid", "list_uids") if key in query)
        return next((values[0] for values in parameters), last).removesuffix("]")
    return last if _OF_OTHERS.get(host.removeprefix("www."), host) in before else ""


def _values(value: dict[Any, Any], names: Iterable[str]) -> list[Any]:
    """The values of an object under some keys, in plain form."""
    entries = {fields.plain(str(key)): entry for key, entry in value.items()}
    return [entries[key] for key in names if key in entries]


def _of_object(value: dict[Any, Any]) -> str | None:
    """The PMID of an object: of a key that is called so, or of others that agree."""
    if entries := [entry for entry in _values(value, _NAMES) if entry is not None]:
        return pmid_of(entries[0])
    others = (entry for entry in _values(value, _OTHERS) if not isinstance(entry, dict))
    pmids = {*map(pmid_of, others)} - {None}
    return pmids.pop() if len(pmids) == 1 else None
