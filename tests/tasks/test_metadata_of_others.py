"""Metadata that other programs wrote are copied, or what they lack is said in a line."""

import pytest
import yaml
from longeval_files import FILLED, LONGEVAL, SNAPSHOTS

from irplatform.analysis.rerun import rerun
from irplatform.analysis.verify import verify
from irplatform.errors import InputError
from irplatform.run_folder.campaigns import prepare_upload
from irplatform.system import console
from irplatform.tasks.submissions import fix_run
from irplatform.tasks.upload import prepare_runs

LINES = "q1 Q0 d1 1 2 theirs\nq1 Q0 d2 2 1 theirs\n"


@pytest.fixture(autouse=True)
def facts(monkeypatch, tmp_path):
    monkeypatch.setattr(console, "_told", set())
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IRPLATFORM_TEAM", "Ours")
    monkeypatch.setenv("IRPLATFORM_REPOSITORY", "https://example.org/ours")


def headed(path, content):
    text = yaml.safe_dump(content, sort_keys=False)
    head = "".join(f"# {line}\n" for line in ["ir_metadata.start", *text.splitlines()])
    path.write_text(f"{head}# ir_metadata.end\n{LINES}")
    return path


def metadata_of(folder):
    return yaml.safe_load((folder / "ir-metadata.yml").read_text(encoding="utf-8"))


FOREIGN = {
    "all of it": FILLED,
    "another version": {"schema version": 0.2, **FILLED},
    "of repro_eval": {
        **FILLED,
        "platform": {"software": {"libraries": {"python": ["numpy==1.26.4"]}}},
        "implementation": {"executable": {"cmd": "python3 a.py"}, "source": {"lang": "python"}},
    },
    "of a tracker": {"resources": {"runtime": {"wallclock": "1 s"}}, "method": {}, "run": {}},
    "nulls": {**dict.fromkeys(FILLED), "method": {"retrieval": None}},
    "lists": {"method": {"retrieval": [None, {"name": "bm25"}]}, "data": [{"name": "x"}]},
    "texts": {"method": {"automatic": "true"}, "platform": "a laptop", "data": {"inputs": ["x"]}},
    "a digest": {"method": {}, "run": {"file": "x"}, "implementation": {"call": None}},
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_head_of_another_program_is_copied_verified_and_not_run_again(tmp_path, capsys, name):
    content = FOREIGN[name]
    run = headed(tmp_path / "theirs.run", content)
    prepare_upload(run, tmp_path / "up")
    copied = metadata_of(tmp_path / "up")
    assert copied["actor"]["team"] == ("Engines" if content.get("actor") else "Ours")
    others = [key for key in content if key not in ("actor", "implementation")]
    assert {key: copied[key] for key in others} == {key: content[key] for key in others}
    assert (tmp_path / "up" / "run.txt").read_text() == LINES
    assert ("TIRA asks for more" in capsys.readouterr().err) is (
        name not in ("all of it", "another version")
    )
    assert all(finding.verdict != "changed" for finding in verify(run))
    with pytest.raises(InputError, match="another program"):
        rerun(run)


def test_what_makes_no_sense_is_refused_in_a_line(tmp_path):
    run = headed(tmp_path / "a.run", {"method": {}, "actor": ["Engines"]})
    with pytest.raises(InputError, match="'actor' of its ir_metadata is not a mapping"):
        prepare_upload(run, tmp_path / "up")
    with pytest.raises(InputError, match="have no section 'method'"):
        verify(headed(tmp_path / "b.run", {"actor": {"team": "Engines"}}))
    run.write_text("# ir_metadata.start\n# a: [\n# ir_metadata.end\n" + LINES)
    for use in (verify, lambda path: prepare_upload(path, tmp_path / "up")):
        with pytest.raises(InputError, match="are not YAML"):
            use(run)


def submission(folder, **heads):
    folder.mkdir()
    paths = []
    for snapshot in SNAPSHOTS:
        (folder / snapshot).mkdir()
        paths.append(folder / snapshot / "run.txt")
        paths[-1].write_text(LINES)
        if heads:
            headed(paths[-1], heads)
    return paths


@pytest.mark.parametrize(
    "name", ["ir-metadata.yml", "ir_metadata.yaml", "snapshot-3/ir-metadata.yml"]
)
def test_longevals_file_beside_the_runs_is_taken(tmp_path, name):
    paths = submission(tmp_path / "theirs")
    template = {**FILLED, "actor": {"team": "ENTER_VALUE_HERE"}}
    for path in {name, "ir-metadata.yml"}:
        (tmp_path / "theirs" / path).write_text(yaml.safe_dump(template))
    upload = prepare_runs(paths, tmp_path / "up", task=LONGEVAL)
    assert "ir-metadata.yml" in upload["files"]
    assert metadata_of(tmp_path / "up") == {**FILLED, "actor": {"team": "Ours"}}
    described = (tmp_path / "up" / "runs.md").read_text()
    assert "To find." in described and "pyterrier 1.0" in described


def test_metadata_at_the_heads_of_the_runs_are_taken_and_left_out_of_the_copies(tmp_path):
    prepare_runs(submission(tmp_path / "a", **FILLED), tmp_path / "up", task=LONGEVAL)
    assert metadata_of(tmp_path / "up") == FILLED
    files = [tmp_path / "up" / snapshot / "run.txt.gz" for snapshot in SNAPSHOTS]
    assert len({file.read_bytes() for file in files}) == 1


def test_a_repaired_copy_says_where_the_metadata_stayed(tmp_path, capsys):
    run = headed(tmp_path / "a.run", FILLED)
    fix_run(run, tmp_path / "b.run", task=LONGEVAL)
    assert "b.run lacks the ir_metadata at the head of" in capsys.readouterr().err


def test_a_run_without_any_is_told_what_to_write(tmp_path):
    with pytest.raises(InputError, match=r"no run\.txt\.meta\.json or ir-metadata\.yml beside"):
        prepare_runs(submission(tmp_path / "a"), tmp_path / "up", task=LONGEVAL)
