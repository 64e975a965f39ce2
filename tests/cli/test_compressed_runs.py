"""Run folders with `--compress`: what is in them, who reads them, and what replaces what."""

import gzip
import json

import pytest

pytestmark = pytest.mark.java
RUN = ("run", "--collection", "small", "--reranker", "revdocid", "--interpolate", "0.5")
NAMES = ("bm25", "revdocid", "revdocid-alone")
ABOUT_ALL = ["ir-metadata.yml", "report.json", "scores.json"]
GZIP_WITHOUT_NAME_AND_TIME = b"\x1f\x8b\x08\0\0\0\0\0"


@pytest.fixture
def runs_folder(platform, folder):
    """The same runs in the folders `plain` and `packed`."""
    assert platform(*RUN, "--run-dir", "plain").code == 0
    assert platform(*RUN, "--run-dir", "packed", "--compress").code == 0
    return folder


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def run_files(ending):
    return sorted([*(f"{n}{ending}{end}" for n in NAMES for end in ("", ".meta.json")), *ABOUT_ALL])


def test_a_compressed_folder_has_the_same_lines_and_scores(runs_folder):
    assert files(runs_folder / "plain") == run_files(".run")
    assert files(runs_folder / "packed") == run_files(".run.gz")
    for name in NAMES:
        packed = (runs_folder / "packed" / f"{name}.run.gz").read_bytes()
        assert packed.startswith(GZIP_WITHOUT_NAME_AND_TIME)
        assert gzip.decompress(packed) == (runs_folder / "plain" / f"{name}.run").read_bytes()
    scores = [(runs_folder / place / "scores.json").read_bytes() for place in ("plain", "packed")]
    assert scores[0] == scores[1]
    reports = [
        json.loads((runs_folder / p / "report.json").read_text()) for p in ("plain", "packed")
    ]
    digests = [{*report["files"].values()} for report in reports]
    assert digests[0] == digests[1]  # of the lines
    metadata = json.loads((runs_folder / "packed" / "bm25.run.gz.meta.json").read_text())
    assert metadata["implementation"]["call"]["settings"]["compress"] is True


@pytest.mark.parametrize(
    "command",
    [
        "evaluate --collection small FOLDER",
        "evaluate --collection small --among FOLDER/bm25.run@1 FOLDER/revdocid-alone.run",
        "compare --collection small FOLDER",
        "report FOLDER --collection small --html report.html",
        "cite FOLDER",
        "cite FOLDER/revdocid.run",
        "verify FOLDER",
        "verify FOLDER/bm25.run",
        "fuse FOLDER/bm25.run FOLDER/revdocid-alone.run --out fused.run --force",
        "submit check FOLDER/bm25.run --collection small",
        "submit fix FOLDER/bm25.run -o fixed.run --force",
    ],
)
def test_commands_read_compressed_runs_as_others(platform, runs_folder, command):
    def answer(folder, ending):
        words = [
            word.replace("FOLDER", folder).replace(".run", ending) if "FOLDER" in word else word
            for word in command.split()
        ]
        outcome = platform(*words)
        said = (outcome.out + outcome.err).replace(ending, ".run").replace(folder, "FOLDER")
        return outcome.code, " ".join(said.split())

    plain, packed = answer("plain", ".run"), answer("packed", ".run.gz")
    assert plain[0] == 0
    assert packed == plain


@pytest.mark.parametrize("target", ["revdocid.run.gz", "revdocid.run.gz.meta.json", "", "unpacked"])
def test_compressed_runs_are_made_again_and_their_lines_compared(platform, runs_folder, target):
    packed = runs_folder / "packed"
    if target == "unpacked":
        for name in NAMES:
            path = packed / f"{name}.run.gz"
            path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
            path.unlink()
        target = "ir-metadata.yml"
    again = platform("rerun", "--cached", f"packed/{target}", "--out", "again", "--json")
    assert (again.code, again.json["same"]) == (0, True)
    assert {path.name for path in (runs_folder / "again").glob("revdocid.run*")} == {
        "revdocid.run.gz",
        "revdocid.run.gz.meta.json",
    }


def test_one_form_replaces_the_other(platform, runs_folder):
    packed, again = runs_folder / "packed", ("--run-dir", "packed")
    bytes_before = (packed / "bm25.run.gz").read_bytes()
    assert platform(*RUN, *again).code == 0
    assert files(packed) == run_files(".run")
    (packed / "bm25.run.gz").write_bytes(bytes_before)  # both stand
    assert platform(*RUN, *again, "--compress").code == 0
    assert files(packed) == run_files(".run.gz")
    assert (packed / "bm25.run.gz").read_bytes() == bytes_before


@pytest.mark.parametrize("form", [(), ("--compress",)])
@pytest.mark.parametrize(("folder_name", "ending"), [("plain", "run"), ("packed", "run.gz")])
def test_a_run_of_other_settings_is_refused_in_either_form(
    platform, runs_folder, form, folder_name, ending
):
    before = files(runs_folder / folder_name)
    refused = platform(*RUN, "--run-dir", folder_name, "--depth", "2", "--rerank-depth", "2", *form)
    assert refused.code == 2
    assert f"{folder_name}/bm25.{ending}: this run was made with other settings" in refused.err
    assert files(runs_folder / folder_name) == before


def test_a_compressed_run_without_a_record_is_refused(platform, runs_folder):
    (runs_folder / "packed" / "bm25.run.gz.meta.json").unlink()
    refused = platform(*RUN, "--run-dir", "packed")
    assert refused.code == 2
    assert "packed/bm25.run.gz: this file already exists, and no bm25.run.gz.meta" in refused.err


@pytest.mark.parametrize("ending", ["run", "run.gz"])
def test_candidates_are_not_written_over_in_either_form(platform, runs_folder, ending):
    folder = "packed" if ending == "run.gz" else "plain"
    candidates = ("--first-stage", f"{folder}/revdocid.{ending}", "--run-dir", folder)
    for form in ((), ("--compress",)):
        refused = platform(*RUN, *candidates, *form)
        assert refused.code == 2
        assert "'revdocid' would be written over these candidates" in refused.err


def test_a_compressed_run_is_a_first_stage(platform, runs_folder):
    first_stage = ("--first-stage", "packed/bm25.run.gz", "--run-dir", "own", "--compress")
    assert platform(*RUN, *first_stage).code == 0
    assert files(runs_folder / "own") == run_files(".run.gz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"q1 Q0 d1 1 1.0 x\n", mtime=0)[:-5], "this is not a whole gzip file"),
        (b"q1 Q0 d1 1 1.0 x\n", "drop '.gz' from its name if it is not compressed"),
        (b"", "there are no results in this file"),
    ],
    ids=["cut off", "plain", "empty"],
)
def test_a_damaged_run_is_one_clear_error(platform, runs_folder, content, message):
    (runs_folder / "packed" / "bm25.run.gz").write_bytes(content)
    for words in (
        ("evaluate", "--collection", "small", "packed"),
        ("compare", "--collection", "small", "packed"),
        ("fuse", "packed/bm25.run.gz", "good.run", "--out", "fused.run"),
        (*RUN, "--first-stage", "packed/bm25.run.gz", "--run-dir", "own"),
    ):
        refused = platform(*words)
        assert refused.code == 2
        assert refused.err.startswith("platform: packed/bm25.run.gz: ")
        assert message in refused.err
        assert refused.err.count("\n") == 1
    outcome = platform("verify", "packed/bm25.run.gz")
    assert outcome.code == 1
    assert "CHANGED" in outcome.out


def test_the_name_without_its_ending_points_to_the_compressed_file(platform, runs_folder):
    refused = platform("evaluate", "--collection", "small", "packed/bm25.run")
    assert refused.err == (
        "platform: packed/bm25.run: there is no such file. There is bm25.run.gz.\n"
    )


def test_all_cells_of_a_matrix_are_compressed(platform, folder):
    matrix = (*RUN, "--first-stage", "bm25,qld", "--run-dir", "m", "--compress")
    assert platform(*matrix).code == 0
    for first_stage in ("bm25", "qld"):
        runs = {p.name for p in folder.glob(f"m/*/{first_stage}/*.run*")}
        assert {f"{first_stage}.run.gz", "revdocid.run.gz", "revdocid-alone.run.gz"} < runs
        assert all(".run.gz" in name for name in runs)
    assert platform("compare", "--collection", "small", "m").code == 0
    assert platform("verify", "m").code == 0
    assert platform("rerun", "--cached", "m").code == 0


def test_what_is_scored_is_what_is_written(platform, folder):
    cut = (*RUN, "--run-dir", "x", "--measure", "RR,P@2", "--written-depth", "1")
    outcome = platform(*cut, "--json")
    assert outcome.json["warnings"] == ["P@2: no run has more than 1 document per topic"]
    for name in NAMES:
        lines = (folder / "x" / f"{name}.run").read_text().splitlines()
        assert {line.split()[3] for line in lines} == {"1"}
    scored = platform("evaluate", "--collection", "small", "x", "--measure", "RR,P@2", "--json")
    evaluated = {run["name"]: run["measures"] for run in scored.json["runs"]}
    assert evaluated == {run["name"]: run["measures"] for run in outcome.json["runs"]}
    assert platform("rerun", "--cached", "x").code == 0
    refused = platform(*RUN, "--run-dir", "x")
    assert "other settings: written-depth 1 -> not set. Name" in refused.err


def test_a_depth_beyond_what_is_found_is_refused(platform):
    refused = platform(*RUN, "--depth", "600", "--written-depth", "700")
    assert refused.err == (
        "platform: --written-depth 700 has no effect beyond --depth 600: no more documents are "
        "found.\n"
    )
