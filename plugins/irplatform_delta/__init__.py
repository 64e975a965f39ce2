"""Delta, its predecessor of 2017, and SevMos, the model that both papers compare with."""

from pathlib import Path

from irplatform.plugin import RegisterFile, RegisterReranker, hookimpl

_RESULTS = Path(__file__).with_name("results")


class Delta:
    """Delta, the relevance model of Mohan, Fiorini, Kim and Lu (WWW 2018)."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        """Delta-32-Lex3, which is the default, and its variants without some or all features."""
        place = "irplatform_delta.reranker:Delta"
        register("delta", place)
        register("delta-32-lex3", place)
        register("delta-32", place, lexical=())
        register("delta-no-difference", place, lexical=(), difference=False)
        register("delta-no-features", place, lexical=(), delta_features=False)

    @hookimpl
    def register_results(self, register: RegisterFile) -> None:
        register(_RESULTS / "rows.toml")
        register(_RESULTS / "claims.toml")
        register(_RESULTS / "options.toml")
        register(_RESULTS / "clicks.toml")


class Delta2017:
    """The Delta relevance classifier of Mohan, Fiorini, Kim and Lu (BioNLP 2017)."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        """The classifier as it is, and trained on samples that count by their grade."""
        place = "irplatform_delta.reranker:Delta2017"
        register("delta-2017", place)
        register("delta-2017-w", place, weighted=True)

    @hookimpl
    def register_results(self, register: RegisterFile) -> None:
        register(_RESULTS / "bionlp.toml")
        register(_RESULTS / "claims-bionlp.toml")


class SevMos:
    """The model of Severyn and Moschitti (SIGIR 2015) as both Delta papers compare with it."""

    @hookimpl
    def register_rerankers(self, register: RegisterReranker) -> None:
        """One wide convolution or three narrow ones, with samples weighted by grade or not."""
        place = "irplatform_delta.reranker:SevMos"
        register("sevmos-c1", place, layers=1, width=5)
        register("sevmos-c1-w", place, layers=1, width=5, weighted=True)
        register("sevmos-c3", place)
        register("sevmos-c3-w", place, weighted=True)

    @hookimpl
    def register_results(self, register: RegisterFile) -> None:
        register(_RESULTS / "sevmos.toml")


delta, delta2017, sevmos = Delta(), Delta2017(), SevMos()
