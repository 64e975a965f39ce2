"""Requests of the server, as JSON: their fields, limits and descriptions."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from irplatform.errors import unknown

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
    """A document: its text, its title and abstract, or its id in the collection."""

    text: Words = Field("", description="any text")
    title: Words = ""
    abstract: Words = ""
    id: Words = Field("", description="of a document of the collection, instead of a text")
    fields: Fields = Field({}, description="further fields, such as year or mesh")

    @property
    def by_id(self) -> bool:
        """The document is given by its id alone."""
        return bool(self.id) and not (self.text or self.title or self.abstract)

    def given(self) -> dict[str, Any]:
        """Return the fields that were sent."""
        return self.model_dump(exclude_defaults=True)


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
    documents: list[Words | Text] = Field(
        min_length=1, description='texts, or documents of the collection as {"id": "…"}'
    )

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


class Rerank(_OfDocuments):
    """Documents to score for a query, in the form of Cohere and Jina, which have further keys."""

    top_n: int | None = Field(None, ge=1, description="results, at most; all by default")
    return_documents: bool = Field(False, description="send the documents back, too")


class Explain(_WithKnownKeys, _OfDocuments):
    """Documents whose scores are explained."""


Request = Search | Rerank | Explain
