"""Articles come from E-utilities whole, once, in order, whatever the server does meanwhile."""

import pytest
from eutils_stand_in import StandIn

from irplatform.building.pubmed_articles import (
    access,
    fetch_articles,
    fetched_documents,
    kept_batches,
)
from irplatform.errors import InputError, PlatformError
from irplatform.plugin import Document

IDS = [str(number) for number in range(1, 451)]


def _article(pmid):
    return Document(pmid, f"Title {pmid} <&>", f"Text of {pmid}.", {"mesh": ("Humans", "A & B")})


@pytest.fixture
def server(monkeypatch):
    with StandIn([_article(pmid) for pmid in IDS]) as stand_in:
        monkeypatch.setenv("IRPLATFORM_EUTILS_URL", stand_in.url)
        monkeypatch.delenv("NCBI_API_KEY", raising=False)
        yield stand_in


def _fetch(folder, ids=IDS, **settings):
    missing = fetch_articles(ids, access(rate=1000, **settings), folder)
    return missing, list(fetched_documents(ids, folder))


def test_all_articles_come_in_order_with_their_texts(server, tmp_path):
    missing, documents = _fetch(tmp_path)
    assert missing == []
    assert [document.id for document in documents] == IDS
    assert documents[6].title == "Title 7 <&>"
    assert documents[6].abstract == "Text of 7."
    assert documents[6].fields["mesh"] == ("Humans", "A & B")


def test_calls_are_as_ncbi_asks_for(server, tmp_path):
    _fetch(tmp_path, email="me@example.org")
    assert [len(call["id"].split(",")) for call in server.calls] == [200, 200, 50]
    del server.calls[0]["id"]
    assert server.calls[0] == {
        "db": "pubmed",
        "retmode": "xml",
        "tool": "irplatform",
        "email": "me@example.org",
    }


def test_an_api_key_is_sent_and_never_told(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NCBI_API_KEY", "secret")
    _fetch(tmp_path)
    assert {call["api_key"] for call in server.calls} == {"secret"}
    assert "secret" not in str(access())
    server.orders.append("bad-key")
    with pytest.raises(PlatformError, match="API key invalid") as error:
        _fetch(tmp_path / "again")
    assert "secret" not in str(error.value) + capsys.readouterr().err


@pytest.mark.parametrize(
    "order",
    [
        "throttle",
        "throttle:2",
        "status:500",
        "status:502",
        "half-body",
        "half-document",
        "hang-up",
        "not-well-formed",
        "error-as-success",
        "relayed-error",
        "json-error",
        "forget",
    ],
)
def test_whatever_goes_wrong_the_articles_are_the_same(server, tmp_path, waits, order):
    calm = _fetch(tmp_path / "calm")
    server.orders.extend(["answer", order])
    assert _fetch(tmp_path / "troubled") == calm
    assert len(server.calls) == 3 + 4
    assert len(waits) == (0 if order == "forget" else 1)


def test_an_error_that_stays_ends_with_what_the_server_said(server, tmp_path, waits):
    server.orders.extend(["answer"] + ["error-as-success"] * 8)
    with pytest.raises(PlatformError, match=r"failed 8 times.*backend is down\. The same command"):
        _fetch(tmp_path)
    assert kept_batches(IDS, tmp_path) == 1


def test_finished_batches_are_not_asked_for_again(server, tmp_path, waits):
    server.orders.extend(["answer", "answer"] + ["status:500"] * 8)
    with pytest.raises(PlatformError):
        _fetch(tmp_path)
    del server.calls[:]
    _, documents = _fetch(tmp_path)
    assert [document.id for document in documents] == IDS
    assert [call["id"] for call in server.calls] == [",".join(IDS[400:])]


def test_kept_batches_are_the_same_bytes(server, tmp_path, waits):
    _fetch(tmp_path / "a")
    server.orders.extend(["status:500", "half-body", "answer", "throttle:1"])
    _fetch(tmp_path / "b")
    files = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}


def test_articles_that_there_are_not_are_asked_for_twice_and_reported(server, tmp_path):
    ids = [*IDS[:10], "777", "888"]
    missing, documents = _fetch(tmp_path, ids)
    assert missing == ["777", "888"]
    assert len(documents) == 10
    assert [call["id"] for call in server.calls[1:]] == ["777,888"]


def test_an_article_that_came_late_takes_its_place(server, tmp_path):
    late = server.articles.pop("5")
    ids = IDS[:10]
    server.orders.append("answer")
    first = StandIn.answer

    def answer(stand_in, pmids):
        text = first(stand_in, pmids)
        stand_in.articles["5"] = late
        return text

    server.answer = answer.__get__(server)
    assert [document.id for document in _fetch(tmp_path, ids)[1]] == ids


def test_only_unknown_ids_are_no_error(server, tmp_path):
    assert _fetch(tmp_path, ["999999"]) == (["999999"], [])
    server.orders.append("answer")
    server.answer = lambda _: "<eFetchResult><ERROR>ID list is empty! Possibly…</ERROR>"
    assert _fetch(tmp_path / "other", ["999998"]) == (["999998"], [])


def test_articles_that_nobody_asked_for_are_left_out_and_the_last_version_counts(server, tmp_path):
    old, new = server.articles["3"], server.articles["3"].replace('Version="1"', 'Version="2"')
    server.articles["3"] = new.replace("Text of 3.", "Revised.") + old + server.articles["4"]
    _, documents = _fetch(tmp_path, ["3"])
    assert [(document.id, document.abstract) for document in documents] == [("3", "Revised.")]


def test_never_more_than_three_calls_a_second(server, tmp_path):
    server.limit = 3
    ids = [str(number) for number in range(1, 1401)]
    server.articles |= {pmid: server.articles["1"].replace(">1<", f">{pmid}<") for pmid in ids}
    fetch_articles(ids, access(), tmp_path)
    assert len(server.calls) == 7, "none was refused"
    spans = [late - early for early, late in zip(server.times, server.times[3:], strict=False)]
    assert min(spans) >= 1.0


def test_ten_calls_a_second_with_a_key(monkeypatch):
    monkeypatch.delenv("IRPLATFORM_EUTILS_URL", raising=False)
    monkeypatch.delenv("NCBI_API_KEY", raising=False)
    assert access().rate == 3
    assert access().url.startswith("https://eutils.ncbi.nlm.nih.gov/")
    monkeypatch.setenv("NCBI_API_KEY", "k")
    assert access().rate == 10


@pytest.mark.parametrize("url", ["https://[::1", "http://example.org", "ftp://x", "https://"])
def test_an_address_that_is_none_is_refused(url, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_EUTILS_URL", url)
    with pytest.raises(InputError, match="It must be an https:// URL"):
        access()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate": 4}, "NCBI takes 3 calls a second, not 4. With an API key in NCBI_API_KEY"),
        ({"rate": 0}, "must be a number above 0"),
        ({"rate": float("nan")}, "must be a number above 0"),
        ({"rate": float("inf")}, "must be a number above 0"),
        ({"email": "me"}, "'me' is not an e-mail address"),
        ({"email": "me@x y"}, "is not an e-mail address"),
    ],
)
def test_wrong_ways_to_call_are_refused(settings, message, monkeypatch):
    monkeypatch.delenv("IRPLATFORM_EUTILS_URL", raising=False)
    monkeypatch.delenv("NCBI_API_KEY", raising=False)
    with pytest.raises(InputError, match=message):
        access(**settings)


def test_a_server_without_encryption_is_refused(monkeypatch):
    monkeypatch.setenv("IRPLATFORM_EUTILS_URL", "http://example.org/eutils")
    with pytest.raises(InputError, match=r"IRPLATFORM_EUTILS_URL is 'http://example\.org/e"):
        access()
