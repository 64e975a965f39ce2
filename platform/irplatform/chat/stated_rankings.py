"""The ranking that a model's answer states, of passages that are numbered from 1.

A model is asked for "[2] > [1] > [3]" and may write a list, a table or JSON. The numbers of ranks
are told from those of passages by what stands beside them. Of several chains with ">" the longest
counts, and of equally long ones the last that is not called the original order. Of other forms, all
that are there have to agree.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIGNS = str.maketrans("【】［］〔〕＞≻»→≥，、،：｜＝⃣", "[][][]>>>>>,,,:|=.", "\ufe0f")
_ARROW = re.compile(r"[-=]{1,3}>|\\(?:succ|gt)\b")
_DECORATION = re.compile(r"```\w*|[*`_~]")
_BREAK = re.compile(r"<[/|]?[a-z][^<>]{0,80}>", re.IGNORECASE)
_FORMER = re.compile(
    r"\b(?:original|initial|former|input|starting|example)\b[^.;\n\d]*$", re.IGNORECASE
)
"""Before an order that is not the answer's own."""
_UPWARDS = re.compile(
    r"\b(?:least|lowest|worst)\b[\w\s-]{0,40}?\b(?:to (?:the )?(?:most|highest|best)|first)\b"
    r"|\b(?:ascending|increasing) (?:order|relevance)|\breversed? order",
    re.IGNORECASE,
)
"""Words for an order that begins with the worst passage."""
_NAMED = re.compile(
    r"(\[\s*)?\b(?:passage|document|doc|text|article|abstract|paragraph|id) *"
    r"(?:no\.?|number|id)?[ :#.-]*(?:\[\s*(\d+)\s*\]|(\d+)\b)(?(1)\s*\])",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"\[\s*(\d+)\s*\]")
_ASIDE = r"\([^()\[\]]{0,80}\)"
_OTHERS = rf"(?:{_ASIDE}|[^\[\]()<>=\d]){{0,80}}"
_CHAIN = re.compile(
    rf"\[\d+\]{_OTHERS}(?:[>=]+\s*\[\d+\]{_OTHERS})+"
    rf"|(?<![\w.])[(#]?\d+\)?(?:\s*{_ASIDE})?(?:\s*[>=]+\s*[(#]?\d+\)?(?:\s*{_ASIDE})?)+(?!\.?\d)"
)
_LISTED = re.compile(
    r"^(?:[^\]:\n]*(?:[:=]|\b(?:is|as|them|be)\b))?[ \t]*(?:passages|documents|docs)?\s*[\[(]?\s*"
    r"((?:\[\d+\]|\d+)(?:(?:[,; \t]|\b(?:and|then|followed|by|next|finally|lastly)\b)+"
    r"(?:\[\d+\]|\d+))*)\s*,?\s*[\])]?\s*(?:\([^()\d]*\))?[.!]?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_RANKED = re.compile(
    r"(?:(?:rank|place|position|number|top|no\.?)\W{0,2}(?P<word>\d+)\b|\#(?P<sharp>\d+)\b"
    rf"|(?P<nth>\d+)(?:st|nd|rd|th)\b|(?P<ordinal>{'|'.join(_ORDINALS)})\b"
    r"|\(?(?P<item>\d+)[.)](?=[\s\[])|(?P<pair>\d+)\s*[:–—-]\s*(?=\[))"
    r"(?:\s*place\b)?\s*[:.)–—>-]*\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_RUN_ON = re.compile(
    r"(?<!rank)(?<!\d[.)])[\s,;]+(?=(?:\d+[.)]|\d+(?:st|nd|rd|th)|rank\s*#?\d+\s*[:.=–—-])[\s:])",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[^\w\s\[\](){}|#<]|(?:[a-z]|[ivx]+)[.)])\s+", re.IGNORECASE)
_FROM_ONE = re.compile(r"[^\d\[\]]*\b1(?:st\b|\s*[.):=–—-])", re.IGNORECASE)
_BARE = re.compile(r"[#(]?(\d+)(?=\s*(?:$|[-:–—(,;)]|\.\s|\.$))")
_ID = re.compile(r"passage|doc|article|abstract|^[pd]?id$|number|identifier|index|item|^no$")
_RANK = re.compile(r"rank|position|place|order")
_RANKING = re.compile(r"\D*(?:rank|order|answer|result|output)\D*")
_RANKS = re.compile(r"\W*(?:ranks?|positions?|places?)\W*")
_SCORE = re.compile(r"relevan|scor|rating|grade", re.IGNORECASE)
_SCORED = re.compile(
    rf"(?:\D{{0,40}}(?:{_SCORE.pattern})\D{{0,20}})?\W*(\d+(?:\.\d+)?)(?:\s*/\s*\d+)?\W*",
    re.IGNORECASE,
)
Record = tuple[int | None, str, str]
"""A rank, if it is stated, a passage, and what is said of it."""


def permutation(said: str, count: int) -> tuple[list[int], str]:
    """The order that an answer, without thoughts, gives to `count` passages, from 0.

    Numbers that are out of range or come again are ignored. Passages that are left out follow in
    their former order.

    Returns:
        The order, and "" for a whole ranking, "repaired", or "unusable" if it states none or may
        be read in two ways.
    """
    stated = None if _UPWARDS.search(said) else _numbers(_plain(said))
    numbers = [number.lstrip("0") or "0" for number in stated or ()]
    places = {str(place + 1): place for place in range(count)}
    order = [places[number] for number in dict.fromkeys(numbers) if number in places]
    if not order or ("0" in numbers and str(count) not in numbers):  # perhaps they count from 0
        return [*range(count)], "unusable"
    rest = sorted({*range(count)} - {*order})
    return [*order, *rest], "" if len(numbers) == len(order) == count else "repaired"


def _plain(said: str) -> str:
    """An answer without decoration, in which passages that are called so are in brackets."""
    text = re.sub(r"\d", lambda digit: str(int(digit[0])), html.unescape(said).translate(_SIGNS))
    text = _BREAK.sub("\n", _DECORATION.sub("", _ARROW.sub(">", text))).strip()
    text = re.sub(r"([,;])\s*\n\s*", r"\1 ", text)
    if not re.search(r"[^\W\dPD]", text):  # P3 > P1
        text = re.sub("[PD]", "", text)
    return _LOOSE.sub(r"[\1]", _NAMED.sub(lambda name: f"[{name[2] or name[3]}]", text))


def _numbers(text: str) -> list[str] | None:
    """The numbers of passages in the order that a text states."""
    rows, core = _rows(text), text.strip("(){}| ")
    if len(rows) < 2 and not re.search(r"[^\s\d\[\]#>,;|]|>.*\n", core):  # nothing but a list
        return re.findall(r"\d+", core)
    if (value := _parsed(text)) is not None:
        return _of_json(value)
    chains = [chain for chain in _CHAIN.finditer(text) if ">" in chain[0]]
    if chains:
        torn = any(re.search(r"\S[^\n\S]*>\s*$", text[: chain.start()][-80:]) for chain in chains)
        chains = [c for c in chains if not _FORMER.search(text[: c.start()][-80:])] or chains
        marked = [chain[0] for chain in chains if "[" in chain[0]]
        return None if torn else _longest(marked or [chain[0] for chain in chains])
    if re.search(r"\d[\])]*\s*<\s*[\[(]*\d", text):
        return None
    objects = re.findall(r"\{[^{}]*\}|\[[^\[\]]*\]", text)
    quoted = ",".join(value for value in objects if value[0] == "{" or '"' in value)
    embedded = _parsed(f"[{quoted}]")
    lists = [match[1] for match in _LISTED.finditer(text)]
    readings = (
        _of_json(embedded or []),
        _of_records(rows),
        _in_order(_items(text)),
        _longest(lists),
    )
    candidates = [numbers for numbers in readings if numbers]
    best = max(candidates, key=len, default=None)
    for other in candidates:
        shared = [number for number in best or () if number in other]
        if shared != [number for number in dict.fromkeys(other) if number in shared]:
            return None
    return best


def _in_order(records: Sequence[Record]) -> list[str] | None:
    """Passages by rank, or as they stand; None where only numbers or scores may order them."""
    if ranked := sorted((rank, passage) for rank, passage, _ in records if rank is not None):
        return [p for _, p in ranked] if len({rank for rank, _ in ranked}) == len(ranked) else None
    passages = [passage for _, passage, _ in records]
    remarks = [remark for _, _, remark in records if re.search(r"\w", remark)]
    scores = [float(n[1]) for n in map(_SCORED.fullmatch, remarks) if n]
    as_numbered = bool(remarks) and passages == sorted(passages, key=int)
    return None if as_numbered or scores != sorted(scores)[::-1] else passages


def _parsed(text: str) -> Any:
    """The list or object that a text is in JSON, or in Python; None if it is none."""
    for variant in (text, text.replace("'", '"')):
        try:
            value = json.loads(variant)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, (list, dict)) else None
    return None


def _of_json(value: Any) -> list[str] | None:
    if isinstance(value, str):
        return _numbers(_plain(value))
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], (list, dict)):
            return _of_json(value[0])
        if value and all(isinstance(item, dict) for item in value):
            header = [*dict.fromkeys(name for row in value for name in row)]
            return _of_records([header, *([row.get(name) for name in header] for row in value)])
        numbers = [_one(item) for item in value]
        return None if "" in numbers else numbers
    lists = {k: v for k, v in value.items() if isinstance(v, (list, dict, str)) and v}
    for names in (
        [k for k in lists if _RANKING.fullmatch(k.lower())],
        [k for k, v in lists.items() if not isinstance(v, str)],
    ):
        if names:
            order = _of_json(lists[names[0]]) if len(names) == 1 else None
            return _either(order or []) if _RANKS.fullmatch(names[0].lower()) else order
    return _in_order(_items("\n".join(f"{name}: {said}" for name, said in value.items())))


def _of_records(rows: Sequence[Sequence[Any]]) -> list[str] | None:
    """The passages of a table, of which the first row names columns or one column counts ranks."""
    if len(rows) < 2 or len({len(row) for row in rows}) > 1:
        return None
    has_header = not any(map(_one, rows[0]))
    body = rows[1:] if has_header else rows
    cells = [[*column] for column in zip(*body, strict=True)]
    columns = [[*map(_one, column)] for column in cells]
    counted = [str(place) for place in range(1, len(body) + 1)]
    names = ["rank" if column == counted else "id" for column in columns]
    marked = [all("[" in str(cell) for cell in column) for column in cells]
    if sum(marked) == 1:  # [3], 9: the other numbers are ranks if they count and are no scores
        names = [
            "" if n == "id" or _SCORE.search(str(c[0])) else n
            for n, c in zip(names, cells, strict=True)
        ]
        names[marked.index(True)] = "id"
    if has_header:
        names = [re.sub("[^a-z#]", "", str(cell).lower()).replace("#", "rank") for cell in rows[0]]
    elif names == ["rank", "rank"]:
        return counted
    elif names == ["rank", "id"] and not any(marked):  # or passages and ranks
        return _either(columns[1])
    kinds = ["rank" if _RANK.search(n) else "id" if _ID.search(n) else "" for n in names]
    ranks = [c for kind, c in zip(kinds, columns, strict=True) if kind == "rank"]
    ids = [c for kind, c in zip(kinds, columns, strict=True) if kind == "id" and all(c)]
    if len(ids) != 1 or len(ranks) > 1 or not all(map(all, ranks)):
        return None
    places = [int(rank) for rank in ranks[0]] if ranks else [None] * len(body)
    remarks = [" ".join(str(c) for k, c in zip(kinds, row, strict=True) if not k) for row in body]
    return _in_order([*zip(places, ids[0], remarks, strict=True)])


def _either(numbers: list[str]) -> list[str] | None:
    """Passages by rank; None if the same numbers, as ranks by passage, give another order."""
    ranks = [*map(int, numbers)]
    passages = [ranks.index(rank) + 1 for rank in sorted({*ranks})]
    return numbers if ranks == passages or sorted(ranks) != [*range(1, len(ranks) + 1)] else None


def _one(value: Any) -> str:
    """The only number in a value; "" if it has none, or several."""
    if isinstance(value, list) and len(value) == 1:
        return _one(value[0])
    plain = isinstance(value, (str, int)) and not isinstance(value, bool)
    match = re.fullmatch(r"\D*?(\d{1,9})\D*", str(value)) if plain else None
    return match[1] if match else ""


def _rows(text: str) -> list[list[str]]:
    """The cells of a table, or of lines of two numbers; [] if it is none."""
    lines = [line.strip() for line in text.splitlines() if re.search(r"[^\s|:+-]", line)]
    for separator in "|\t,":
        rows = [line.strip("|").split(separator) for line in lines if separator in line]
        if rows and (separator == "|" or len(rows) == len(lines)):
            return [[cell.strip() for cell in row] for row in rows]
    pairs = [re.findall(r"\d+|[^\d\s;\[\]]", line) for line in lines]
    return pairs if all(len(p) == 2 and "".join(p).isdigit() for p in pairs) else []


def _items(text: str) -> list[Record]:
    """The passages of a list, with the ranks before or after them."""
    records: list[Record] = []
    numbered: list[Record] = []
    lines = [_RUN_ON.sub("\n", s) if _FROM_ONE.match(s) else s for s in text.splitlines()]
    for line in "\n".join(lines).splitlines():
        item = _BULLET.sub("", line).strip()
        if mark := _RANKED.match(item):
            said, rest = next(filter(None, mark.groups())).lower(), mark["rest"]
            rank = _ORDINALS.index(said) + 1 if mark["ordinal"] else int(said[:9])
            if passage := re.search(r"\[(\d+)\]", rest) or _BARE.match(rest):
                records.append((rank, passage[1], ""))
            elif mark["item"]:
                numbered.append((None, said, rest))
        elif passage := re.match(r"\[?(\d+)(?:\]|\W*$)", item):
            rest = item[passage.end() :]
            at = re.search(r"\brank\w*\W*(?:is\W*)?(\d{1,9})", rest)
            records.append((int(at[1]) if at else None, passage[1], rest))
    return records or numbered


def _longest(texts: Sequence[str]) -> list[str] | None:
    """The numbers of the longest text, the last such; None if others have further numbers."""
    lists = [re.sub(r"\([^()\[\]]*[^()\[\]\d][^()\[\]]*\)", "", text) for text in texts]
    numbers = [re.findall(r"\d+", text) for text in lists]
    best: list[str] = max(reversed(numbers), key=len, default=[])
    return best if all({*other} <= {*best} for other in numbers) else None
