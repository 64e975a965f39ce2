"""Requests of the server, as JSON: their fields, limits and descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    Field,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema  # noqa: TC002  # pydantic reads it

from irplatform.errors import listing, unknown
from irplatform.serving.document_forms import TEXT_KEYS, read_documents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_QUERY = 10_000
"""Characters of a query."""
MOST_RESULTS = 1000
"""Of a search."""


def _whole_characters(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("there is half a character (a lone surrogate)") from error
    return text


Words = Annotated[str, AfterValidator(_whole_characters)]
Fields = dict[str, Words | list[Words]]


class Text(BaseModel):
    """A document: its text and title, or its id in the collection, as `document_forms` reads it."""

    text: Words = Field("", description=f"any text; also as {', '.join(TEXT_KEYS[1:])}")
    title: Words = ""
    id: Words = Field("", description="of a document of the collection, instead of a text")
    fields: Fields = Field({}, description="further fields, such as year or mesh")
    sent: SkipJsonSchema[dict[str, Any]] = {}
    unread: SkipJsonSchema[list[str]] = []

    @property
    def by_id(self) -> bool:
        """The document is given by its id alone."""
        return bool(self.id)


def texts_of(document: str | Text) -> tuple[str, str]:
    """Return the title and the text of a document."""
    return ("", document) if isinstance(document, str) else (document.title, document.text)


class _OfQuery(BaseModel):
    query: Words = Field(max_length=LONGEST_QUERY, description="words to search or score for")
    fields: Fields = Field({}, description="parts of the topic by name, such as disease or gene")

    @field_validator("query")
    @classmethod
    def _has_words(cls, query: str) -> str:
        if not query.strip():
            raise ValueError("the query is empty")
        return query


class _WithKnownKeys(BaseModel):
    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                raise ValueError(unknown("key", key, cls.model_fields).message)
        return data


class Search(_WithKnownKeys, _OfQuery):
    """A search of the collection."""

    top_n: int = Field(10, ge=1, le=MOST_RESULTS, description="results, at most")
    rerank: bool = Field(True, description="rerank the results, if there is a reranker")
    return_documents: bool = Field(False, description="send abstracts, too")


class _OfDocuments(_OfQuery):
    rank_fields: list[Words] | None = Field(None, description="keys of documents that are read")
    documents: list[Words | Text] = Field(
        min_length=1, description='texts, or documents of the collection as {"id": "…"}'
    )

    @model_validator(mode="before")
    @classmethod
    def _read_documents(cls, data: Any) -> Any:
        return read_documents(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _are_of_one_kind(self) -> Self:
        kinds = {not isinstance(document, str) and document.by_id for document in self.documents}
        if len(kinds) > 1:
            raise ValueError("some documents are texts and some are ids; send two requests")
        return self

    @property
    def by_id(self) -> bool:
        """The documents are given by their ids in the collection."""
        return not isinstance(self.documents[0], str) and self.documents[0].by_id

    @property
    def ids(self) -> list[str]:
        """The ids of documents of the collection."""
        return [document.id for document in self.documents if isinstance(document, Text)]


class Rerank(_OfDocuments, extra="allow"):
    """Documents to score for a query, in the form of Cohere and Jina, which have further keys."""

    top_n: int | None = Field(
        None,
        ge=1,
        validation_alias=AliasChoices("top_n", "top_k"),
        description="results, at most; all by default",
    )
    return_documents: bool = Field(False, description="send the documents back, too")

    @property
    def unread_keys(self) -> list[str]:
        """Keys of the request that have no effect."""
        return [key for key in self.model_extra or () if key != "model"]

    @property
    def warnings(self) -> list[str]:
        """What of the request was not read, a sentence for each."""
        told = [unknown("key", key, type(self).model_fields).message for key in self.unread_keys]
        texts = [document for document in self.documents if isinstance(document, Text)]
        keys = dict.fromkeys(key for document in texts for key in document.unread)
        if keys:
            told.append(f"these keys of documents were not read: {listing(keys)}.")
        return told

    @property
    def words(self) -> int:
        """The number of words that were sent, between blanks."""
        texts = (text for document in self.documents for text in texts_of(document))
        return sum(len(text.split()) for text in (self.query, *texts))


class Explain(_WithKnownKeys, _OfDocuments):
    """Documents whose scores are explained."""


Request = Search | Rerank | Explain


def first_problem(errors: Sequence[Mapping[str, Any]]) -> str:
    """The place of the first problem in a request, and the problem: "top_n: …".

    Places begin with the part of the request, such as "body".
    """
    problem = errors[0]
    if problem["type"] == "json_invalid":
        return f"the body is not JSON: {problem['ctx']['error']}."
    if tuple(problem["loc"]) == ("body",) and problem["type"] == "missing":
        return "the body is missing: send JSON."
    # Of the two forms of a document, that one is told which reached further into it.
    place = problem["loc"][:3]
    problem = max((e for e in errors if e["loc"][:3] == place), key=lambda e: len(e["loc"]))
    parts = map(str, problem["loc"][1:])
    where = [part for part in parts if part.replace("_", "").isalnum() and part != Text.__name__]
    message = problem["msg"].removeprefix("Value error, ")
    message += "" if message.endswith((".", "?")) else "."
    return f"{'.'.join(where)}: {message}" if where else message
