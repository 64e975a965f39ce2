"""Small parts of datasets of ir_datasets."""

from ir_datasets.formats import (
    BaseDocs,
    BaseQrels,
    BaseQueries,
    BaseScoredDocs,
    GenericDoc,
    GenericQuery,
    GenericScoredDoc,
    TrecQrel,
)


class Docs(BaseDocs):
    def docs_iter(self):
        return iter([GenericDoc("a", "alpha"), GenericDoc("b", "beta")])

    def docs_count(self):
        return 2


class Queries(BaseQueries):
    def __init__(self, query_id):
        self.query_id = query_id

    def queries_iter(self):
        return iter([GenericQuery(self.query_id, "words")])


class Qrels(BaseQrels):
    def __init__(self, query_id):
        self.query_id = query_id

    def qrels_iter(self):
        return iter([TrecQrel(self.query_id, "a", 1, "0")])


class Scored(BaseScoredDocs):
    def scoreddocs_iter(self):
        return iter([GenericScoredDoc("test", "b", 2.5), GenericScoredDoc("test", "a", 1.5)])
