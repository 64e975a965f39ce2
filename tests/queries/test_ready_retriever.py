"""A retriever that is ready searches again with what it has loaded."""

import irplatform as ir
from irplatform.plugin import Retriever
from irplatform.runs import Ranking, Run


class Loading(Retriever):
    """Counts how often it loads."""

    loads = 0
    _loaded = False

    def retrieve(self, topics, depth, resources):
        if not self._loaded:
            self._loaded = True
            type(self).loads += 1
        ranking = Ranking.of(["demo0001"], [1.0])
        return Run("loading", {topic.id: ranking for topic in topics})

    def explain(self, topic, resources):
        return {"loaded before": self._loaded}


def test_it_loads_once_for_all_searches():
    Loading.loads = 0
    ready = ir.retriever(Loading, "demo")
    for query in ("melanoma", "BRAF"):
        assert ready.search(query).rankings["query"].doc_ids == ("demo0001",)
    assert Loading.loads == 1


def test_its_explanation_is_of_the_one_that_searched():
    answer = ir.search("demo", "melanoma", retriever=Loading, explain=True)
    assert answer["explanation"] == {"loaded before": True}
