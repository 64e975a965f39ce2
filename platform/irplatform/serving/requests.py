"""Requests of the server, as JSON: their fields, limits and descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from irplatform.errors import listing, unknown
from irplatform.serving.document_forms import read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    """A document: its text and title, or its id in the collection, as `read_documents` reads it.

    `sent` is the document in the client's form, and `unread` those of its keys that nobody reads.
    """

    text: Words = ""
    title: Words = ""
    id: Words = ""
    fields: Fields = {}
    sent: dict[str, Any] = {}
    unread: list[str] = []


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

    model_config = ConfigDict(json_schema_extra={"example": {"query": "BRAF melanoma", "top_n": 3}})

    top_n: int = Field(10, ge=1, le=MOST_RESULTS, description="results, at most")
    rerank: bool = Field(True, description="rerank the results, if there is a reranker")
    return_documents: bool = Field(False, description="send abstracts, too")


_DOCUMENTS = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}


class _OfDocuments(_OfQuery):
    rank_fields: list[Words] | None = Field(None, description="keys of documents that are read")
    documents: Annotated[list[Text], WithJsonSchema(_DOCUMENTS)] = Field(
        min_length=1,
        description="texts, objects with a text or with title and abstract, or documents of the "
        'collection as {"id": "…"}',
    )

    @model_validator(mode="before")
    @classmethod
    def _read_documents(cls, data: Any) -> Any:
        return read_documents(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _are_of_one_kind(self) -> Self:
        if len({bool(document.id) for document in self.documents}) > 1:
            raise ValueError("some documents are texts and some are ids; send two requests")
        return self

    @property
    def by_id(self) -> bool:
        """The documents are given by their ids in the collection."""
        return bool(self.documents[0].id)

    @property
    def ids(self) -> list[str]:
        """The ids of documents of the collection."""
        return [document.id for document in self.documents]


class Rerank(_OfDocuments):
    """Documents to score for a query, in the form of Cohere and Jina, which have further keys."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "query": "BRAF melanoma",
                "documents": ["BRAF in melanoma", "Asthma in mice"],
            }
        },
    )

    top_n: int | None = Field(
        None,
        ge=1,
        validation_alias=AliasChoices("top_n", "top_k"),
        description="results, at most; all by default",
    )
    return_documents: bool = Field(False, description="send the documents back, too")

    @property
    def counts(self) -> dict[str, Any]:
        """What Jina's clients read of an answer (`usage`), and Cohere's (`meta`)."""
        texts = (f"{document.title} {document.text}" for document in self.documents)
        words = sum(len(text.split()) for text in (self.query, *texts))
        meta = {"billed_units": {"search_units": 1}, "warnings": [*self._warnings()]}
        return {"usage": {"total_tokens": words, "prompt_tokens": words}, "meta": meta}

    def _warnings(self) -> Iterator[str]:
        """What of the request was not read."""
        for key in self.model_extra or ():
            if key != "model":
                yield unknown("key", key, type(self).model_fields).message
        if keys := dict.fromkeys(key for document in self.documents for key in document.unread):
            yield f"these keys of documents were not read: {listing(keys)}."


class RerankForInfinity(Rerank):
    """The same for Infinity's clients, who read documents that are sent back as texts."""


class Explain(_WithKnownKeys, _OfDocuments):
    """Documents whose scores are explained."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"query": "BRAF melanoma", "documents": ["BRAF in melanoma"]}}
    )


Request = Search | Rerank | Explain


def first_problem(errors: Sequence[Mapping[str, Any]], places: int = 0) -> str:
    """The place of the first problem in a request, and the problem: "top_n: …".

    The first `places` of a place are not told, such as "body".
    """
    problem = errors[0]
    if problem["type"] == "json_invalid":
        return f"the body is not JSON: {problem['ctx']['error']}."
    if tuple(problem["loc"]) == ("body",) and problem["type"] == "missing":
        return "the body is missing: send JSON."
    parts = map(str, problem["loc"][places:])
    path = [part for part in parts if part.replace("_", "").isalnum()]
    message = problem["msg"].removeprefix("Value error, ")
    message += "" if message.endswith((".", "?")) else "."
    return f"{'.'.join(path)}: {message}" if path else message
