"""`platform doctor`: what is here, what works, and what to do."""

import sys

import pytest
from commands import call

from irplatform.cli import doctor
from irplatform.lucene.java import jar as lucene_jar


@pytest.fixture(autouse=True)
def no_imports(monkeypatch):
    """Leave the extras' packages alone, which take seconds to import."""
    monkeypatch.setattr(doctor, "failure", lambda module: None)


@pytest.fixture
def findings(capsys, monkeypatch, fresh_home):
    def examine():
        outcome = call(capsys, monkeypatch, "doctor", "--json")
        return outcome.code, {f["subject"]: f for f in outcome.json["findings"]}

    return examine


@pytest.mark.java
def test_lucene_indexes_and_finds(findings):
    code, subjects = findings()
    assert (code, subjects["Lucene"]["state"], subjects["Python"]["state"]) == (0, "ok", "ok")
    assert "indexed and searched" in subjects["Lucene"]["found"]
    assert "delta" in subjects["plugins"]["found"]


def test_what_is_missing_is_no_fault_and_is_named(findings, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    monkeypatch.setattr(lucene_jar, "_installed", lambda: None)
    code, subjects = findings()
    assert code == 0
    assert subjects["extra wmd"]["state"] == "-"
    assert "without POT" in subjects["extra wmd"]["found"]
    assert subjects["extra wmd"]["advice"] == "If you need it: pip install 'irplatform[wmd]'"
    assert subjects["Lucene"]["state"] == "-"
    assert "pip install --no-deps 'pyserini>=1.4,<3'" in subjects["Lucene"]["advice"]


@pytest.mark.parametrize(
    ("system", "processor", "state", "words"),
    [
        ("Linux", "x86_64", "ok", "Linux on x86_64: tested; "),
        ("Linux", "aarch64", "ok", "Linux on aarch64: tested under emulation; native"),
        ("Linux", "riscv64", "-", "not tested, should work. `make test` shows"),
        ("Darwin", "arm64", "-", "macOS on arm64: not tested, should work. `make test` shows"),
        ("Windows", "AMD64", "WRONG", "not supported. Use it in WSL"),
    ],
)
def test_it_says_if_this_machine_is_tested(monkeypatch, system, processor, state, words):
    monkeypatch.setattr(doctor.platform, "system", lambda: system)
    monkeypatch.setattr(doctor.platform, "machine", lambda: processor)
    monkeypatch.setattr(doctor, "portable", lambda: processor == "x86_64")
    finding = doctor.machine()
    assert finding.state == state
    assert words in f"{finding.found} {finding.advice}"


@pytest.mark.parametrize(
    ("subject", "patch", "words"),
    [
        ("Lucene", ("_search", lambda: ["1"]), "where document 2 was right"),
        ("Python", ("_TESTED", ((3, 9), (3, 10))), "3.11 to 3.13"),
        ("cache", ("_LEAST_FREE", 2**60), "`platform cache remove` makes room"),
    ],
)
def test_what_is_wrong_ends_with_1(capsys, monkeypatch, fresh_home, subject, patch, words):
    monkeypatch.setattr(doctor, "_search", lambda: ["2"])
    monkeypatch.setattr(doctor, *patch)
    outcome = call(capsys, monkeypatch, "doctor")
    assert outcome.code == 1
    assert outcome.out.endswith("1 wrong.\n")
    (line,) = [line for line in outcome.out.splitlines() if line.startswith("WRONG")]
    assert subject in line
    assert words in line


def test_a_package_that_fails_while_it_is_imported_is_wrong(capsys, monkeypatch, fresh_home):
    broken = {"lightgbm": ("lightgbm", "OSError: libgomp"), "spacy": ("numba", "ValueError: ABI")}
    monkeypatch.setattr(doctor, "failure", broken.get)
    monkeypatch.setattr(doctor, "_search", lambda: ["2"])
    outcome = call(capsys, monkeypatch, "doctor")
    assert outcome.code == 1
    wrong = [line for line in outcome.out.splitlines() if line.startswith("WRONG")]
    assert [line.split()[1:3] for line in wrong] == [["extra", "ltr"], ["extra", "concepts"]]
    assert "lightgbm fails while it is imported: OSError: libgomp. Install it again" in wrong[0]
    assert wrong[1].endswith("Install it again: pip install --force-reinstall numba")
