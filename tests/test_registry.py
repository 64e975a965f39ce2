"""Plugins: found, guarded one by one, named when broken."""

from importlib import metadata

import pytest
from pydantic import Field

from irplatform import registry as registry_module
from irplatform.cli.main import Commands
from irplatform.errors import InputError, PluginError
from irplatform.evaluation import evaluate
from irplatform.features.dependencies import check_systems, dependencies
from irplatform.plugin import Options, RunEvent
from irplatform.registry import load, registry, source_digest, sources
from irplatform.runs import Ranking, Run

GOOD = """
from irplatform.plugin import Reranker, hookimpl

class Length(Reranker):
    '''Ranks longer documents first.'''
    def score(self, topic, documents):
        return [len(document.text) for document in documents]

@hookimpl
def register_rerankers(register):
    register("length", Length)
"""

FILED = """
from pathlib import Path
from irplatform.plugin import Options

class Filed(Options):
    words: Path | None = None
"""

BROKEN = {
    "raises": ("raise OSError('no licence file')", "OSError: no licence file"),
    "exits": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "does not parse": ("def", "SyntaxError: invalid syntax"),
    "lacks a module": ("import not_there_at_all", "ModuleNotFoundError: No module named"),
    "has a wrong hook signature": (
        GOOD.replace("register_rerankers(register)", "register_rerankers(registry)"),
        "'registry'",
    ),
    "misspells a hook": (GOOD.replace("register_rerankers", "register_reranker"), "unknown hook"),
    "registers no class": (GOOD.replace("Length)", "Length())"), "not a subclass of Reranker"),
    "registers another class": (GOOD.replace("Length)", "int)"), "not a subclass of Reranker"),
    "does not score": (
        GOOD.replace("def score(", "def scores("),
        "reranker 'length': Length does not define score() or score_batch()",
    ),
    "does not learn": (
        GOOD.replace("Reranker", "TrainableReranker"),
        "reranker 'length': Length does not define fit()",
    ),
    "uses a bad name": (GOOD.replace('"length"', '"Length!"'), "'Length!' cannot name a reranker"),
    "takes the name of the fused run": (
        GOOD.replace('"length"', '"fused"'),
        "'fused' cannot name a reranker",
    ),
    "takes the name of another reranker's run": (
        GOOD.replace('"length"', '"delta-seed42"'),
        "'delta-seed42' cannot name a reranker",
    ),
    "registers twice": (
        GOOD + '    register("length", Length)\n',
        "reranker 'length' is registered twice",
    ),
    "gives an option that is none": (GOOD.replace("Length)", "Length, size=3)"), "'size'"),
    "registers nothing": (
        GOOD + "    yield\n",
        "register_rerankers returns generator: it must call `register`",
    ),
    "wraps hooks": (
        GOOD.replace("@hookimpl", "@hookimpl(wrapper=True)") + "    yield\n",
        "wrapper",
    ),
    "has an option without a default": (
        GOOD.replace("import Reranker", "import Options, Reranker").replace(
            "    def score", "    class Options(Options):\n        size: int\n\n    def score"
        ),
        "option 'size' of reranker 'length' needs a default",
    ),
    "has an option that is not finite": (
        GOOD.replace("import Reranker", "import Options, Reranker").replace(
            "    def score",
            "    class Options(Options):\n        size: float = float('inf')\n\n    def score",
        ),
        "option 'size' of reranker 'length' cannot be inf",
    ),
    "has options without an order": (
        FILED
        + "class Words(Options):\n    inner: dict[str, frozenset[str]] = {}\n"
        + "class Own(Options):\n    words: Words = Words()\n"
        + GOOD.replace("    def score", "    Options = Own\n\n    def score"),
        "option 'inner' of reranker 'length' is a set",
    ),
    "fails while registering": (GOOD + "    1 / 0\n", "ZeroDivisionError: division by zero"),
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Write a module with its metadata, as pip would; returns its entry points."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name: str, code: str, version: str = "1.5"):
        module = f"module_{name.replace('-', '_')}_{tmp_path.name}"
        (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"irplatform_{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: irplatform-{name}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[irplatform]\n{name} = {module}\n")
        return tuple(metadata.Distribution.at(info).entry_points)

    return install


def test_a_plugin_is_known_with_its_distribution_and_what_it_provides(install):
    found = load(install("good", GOOD))
    (plugin,) = found.plugins
    assert str(plugin) == "plugin 'good' (irplatform-good 1.5)"
    assert plugin.provides == ("reranker length",)
    assert found.broken == []
    assert str(found.reranker("length").plugin) == str(plugin)


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_named_and_the_others_go_on(install, code, reason):
    found = load((*install("broken", code), *install("good", GOOD)))
    (broken,) = found.broken
    assert (broken.name, broken.distribution, broken.version) == (
        "broken",
        "irplatform-broken",
        "1.5",
    )
    assert reason in broken.error
    assert "\n" not in broken.error
    assert list(found.rerankers) == ["length"]
    assert found.rerankers["length"].plugin.name == "good"


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("import sys\nsize = len(undefined)", ":2, in <module>)"),
        ("\nimport not_there_at_all", ":2, in <module>)"),
        (GOOD + "    look()\n\ndef look():\n    1 / 0\n", ":15, in look)"),
        ("\nimport", "(module_broken"),  # Python says where
    ],
    ids=["imported", "imports", "called", "parsed"],
)
def test_a_broken_plugin_is_told_with_the_place(install, code, place):
    (broken,) = load(install("broken", code)).broken
    assert place in broken.error
    assert "importlib" not in broken.error


def test_whole_tracebacks_are_shown_to_who_asks(install, capsys, monkeypatch):
    points = install("broken", GOOD + "    1 / 0\n")
    load(points)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("IRPLATFORM_TRACEBACK", "1")
    load(points)
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_hook_that_nobody_marked_is_noticed(install):
    found = load((*install("forgetful", GOOD.replace("@hookimpl\n", "")), *install("good", GOOD)))
    forgetful, good = found.plugins
    assert (forgetful.unmarked, forgetful.error) == (("register_rerankers",), "")
    assert good.unmarked == ()
    assert found.broken == []
    with pytest.raises(InputError, match=r"'forgetful'.*register_rerankers will not be"):
        found.reranker("longest-first")


def test_nothing_of_a_plugin_that_breaks_halfway_is_used(install):
    halfway = GOOD + "\n@hookimpl\ndef register_measures(register):\n    raise ValueError('no')\n"
    found = load(install("halfway", halfway))
    assert found.rerankers == {}
    assert found.manager.get_plugins() == set()


def test_a_name_belongs_to_the_plugin_that_came_first(install):
    found = load((*install("a", GOOD), *install("b", GOOD)))
    assert found.rerankers["length"].plugin.name == "a"
    (broken,) = found.broken
    assert broken.name == "b"
    assert "reranker 'length' is registered by plugin 'a' (" in broken.error


def test_no_stranger_takes_the_name_of_what_comes_with_the_platform(install):
    ours = [e for e in metadata.entry_points(group="irplatform") if e.name == "ltr"]
    found = load((*install("a-stranger", GOOD.replace('"length"', '"ltr"')), *ours))
    (broken,) = found.broken
    assert broken.name == "a-stranger"
    assert "reranker 'ltr' is registered by plugin 'ltr' (irplatform " in broken.error


def test_a_strangers_code_is_told_from_what_it_was_before(install, tmp_path):
    before = load(install("one", GOOD)).rerankers["length"].made_by
    again = load(install("two", GOOD)).rerankers["length"].made_by
    other = load(install("three", GOOD.replace("len(", "-len("))).rerankers["length"].made_by
    assert before["version"] == other["version"] == "1.5"
    assert before["source"] == again["source"] != other["source"]
    assert "source" not in registry().rerankers["ltr"].made_by


def test_all_modules_of_a_distribution_count(install, tmp_path, monkeypatch):
    """A helper beside the module of the class, and the class that it is derived from."""
    helper = tmp_path / "helper_of_one.py"
    helper.write_text("FACTOR = 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        "irplatform.registry.sources._distributions",
        lambda: {"helper_of_one": ["d"], "stranger": ["d"], "other": ["e"]},
    )
    (tmp_path / "stranger.py").write_text("")
    before = source_digest("stranger")
    assert source_digest("stranger.deeper") == before
    helper.write_text("FACTOR = -1.0\n")
    assert source_digest("stranger") == before, "what was loaded is what runs"
    sources._digests.cache_clear()
    assert source_digest("stranger") != before
    assert source_digest("stranger", "irplatform.plugin", "irplatform_ltr") == source_digest(
        "stranger"
    )


def test_files_that_options_name_count_for_a_stranger(install, tmp_path):
    length = "class Length(Reranker):"
    code = FILED + GOOD.replace(length, f"{length}\n    Options = Filed")
    length = load(install("filed", code)).rerankers["length"]
    words = tmp_path / "words.txt"
    words.write_text("one")
    before = length.describe(length.options({"words": words}))
    words.write_text("three")
    after = length.describe(length.options({"words": words}))
    assert before["options"] == after["options"]
    assert before["files"] != after["files"]


def test_files_within_options_count_however_deep(install, tmp_path):
    code = (
        FILED
        + """
class Part(Options):
    file: Path | None = None

class Many(Options):
    files: tuple[Path, ...] = ()
    table: dict[str, Path] = {}
    parts: list[Part] = []
    folder: Path | None = None
"""
    )
    length = "class Length(Reranker):"
    code += GOOD.replace(length, f"{length}\n    Options = Many")
    found = load(install("many", code)).rerankers["length"]
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    places = [tmp_path / name for name in ("a", "b", "c", "folder/deep/d")]
    for place in places:
        place.write_text("one")
    files, table, part, _ = places
    settings = {
        "files": [files], "table": {"x": table}, "parts": [{"file": part}],
        "folder": tmp_path / "folder",
    }  # fmt: skip
    options = found.options(settings)
    seen = [found.code(options)["files"]]
    assert list(seen[0]) == ["files.0", "table.x", "parts.0.file", "folder.deep/d"]
    for place in places:
        place.write_text("three")
        seen.append(found.code(options)["files"])
        assert sum(seen[-1][name] != seen[-2][name] for name in seen[0]) == 1


def test_an_option_with_an_alias_goes_by_its_name(install):
    code = GOOD.replace("import Reranker", "import Options, Reranker").replace(
        "    def score",
        "    class Options(Options):\n        size: int = Field(1, alias='Size')\n\n    def score",
    )
    length = load(install("alias", "from pydantic import Field\n" + code)).reranker("length")
    assert length.options({"size": 3}).size == 3


def test_a_validator_that_fails_is_named(install):
    code = GOOD.replace(
        "    def score",
        """    class Options(Options):
        size: int = 1

        @field_validator("size")
        @classmethod
        def _checked(cls, size):
            if size > 5:
                raise RuntimeError("no table for this size")
            return size

    def score""",
    ).replace("import Reranker", "import Options, Reranker")
    length = load(install("checks", "from pydantic import field_validator\n" + code)).rerankers
    with pytest.raises(PluginError, match=r"failed reading its options: RuntimeError: no table"):
        length["length"].options({"size": 6})


def test_an_entry_point_that_cannot_be_read_is_a_broken_plugin(install):
    (entry_point,) = install("good", GOOD)
    broken = metadata.EntryPoint("m bad", "m_bad/foo", "irplatform")
    found = load((broken, entry_point))
    assert [plugin.name for plugin in found.broken] == ["m bad"]
    assert list(found.rerankers) == ["length"]


@pytest.mark.parametrize("name", ["deepsense", "dual-encoder"])
def test_files_that_options_name_count_for_ours_too(tmp_path, name):
    reranker = registry().rerankers[name]
    assert "files" not in reranker.describe(reranker.options({}))
    assert not reranker.code(reranker.options({}))
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("one")
    options = reranker.options({"pairs": {"file": pairs}})
    before = reranker.describe(options), reranker.code(options)
    pairs.write_text("three")
    after = reranker.describe(options), reranker.code(options)
    assert before[0]["options"] == after[0]["options"]
    assert before[0]["files"].keys() == after[0]["files"].keys() == {"pairs.file"}
    assert before[0]["files"] != after[0]["files"]
    assert before[1] != after[1], "what reads its scores, such as ltr's stack"


@pytest.mark.parametrize("name", ["AP", "nDCG@20", "P", "infNDCG", "ndcg_cut_20"])
def test_no_stranger_computes_a_measure_that_everybody_knows(install, name):
    code = f"{GOOD}\n@hookimpl\ndef register_measures(register):\n    register({name!r}, len)\n"
    (broken,) = load(install("measuring", code)).broken
    assert f"measure '{name}' is a standard one" in broken.error


def test_an_option_default_must_validate(install):
    code = f"""{GOOD.replace("Length)", "Length, size='many')")}
from irplatform.plugin import Options

class Sized(Options):
    size: int = 1

Length.Options = Sized
"""
    (broken,) = load(install("broken", code)).broken
    assert "option 'size' of reranker 'length' cannot be 'many'" in broken.error


PRESETS = f"""{GOOD}
from irplatform.plugin import Options

class Loop(Options):
    epochs: int = 1
    patience: int | None = 2

class Sized(Options):
    size: int = 1
    loop: Loop = Loop()

Length.Options = Sized
Length.presets = {{presets}}
"""


@pytest.mark.parametrize(
    ("presets", "reason"),
    [
        ("4", "the presets of reranker 'length' are 4, not settings by name"),
        ("{'paper': 4}", "preset 'paper' of reranker 'length' is 4, not a table of settings"),
        ("{'paper': {'sise': 4}}", "preset 'paper': 'sise' is no option of reranker 'length'. Did"),
        ("{'paper': {'loop.epoch': 4}}", "preset 'paper': 'loop.epoch' is no option"),
        ("{'paper': {'size': 'x'}}", "preset 'paper': option 'size' of reranker 'length' cannot"),
        ("{'paper': {'loop': 3, 'loop.epochs': 4}}", "preset 'paper': 'loop' cannot be set both"),
        ("{'paper': {'size': 4, 'loop.epochs': 4, 'loop.patience': 'none'}}", ""),
        ("{'paper': {'loop': {'epochs': 4}}}", ""),
    ],
)
def test_presets_are_checked_when_they_are_registered(install, presets, reason):
    (plugin,) = load(install("preset", PRESETS.replace("{presets}", presets))).plugins
    assert reason in plugin.error
    assert bool(plugin.error) == bool(reason)


@pytest.mark.parametrize("options", ["dict", "4", "Sized()", "Other"])
def test_options_are_a_class_of_options(install, options):
    code = PRESETS.replace("{presets}", "{}") + (
        "from pydantic import BaseModel\nclass Other(BaseModel):\n    pass\n"
        f"Length.Options = {options}\n"
    )
    (broken,) = load(install("broken", code)).broken
    assert "the Options of reranker 'length' are " in broken.error
    assert "not a subclass of irplatform.plugin.Options" in broken.error


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        ("", ["a", "b", "c"]),
        ("a", ["a"]),
        ("a, c", ["a", "c"]),
        ("-b", ["a", "c"]),
        ("a,b,-b", ["a"]),
        ("none", []),
    ],
)
def test_plugins_are_selected_by_name(install, selection, kept):
    points = [
        point
        for name in "abc"
        for point in install(name, GOOD.replace('"length"', f'"length-{name}"'))
    ]
    assert [plugin.name for plugin in load(points, selection).plugins] == kept


def test_selecting_a_plugin_that_is_not_there_is_an_error(install):
    points = install("lucent", GOOD)
    with pytest.raises(InputError, match=r"unknown plugin 'lucene'. Did you mean 'lucent'\?"):
        load(points, "lucene")
    assert load(points, "-lucene").plugins  # leaving it out is done already


def test_the_environment_selects_plugins(monkeypatch):
    monkeypatch.setenv("IRPLATFORM_PLUGINS", "lucene")
    registry.cache_clear()
    try:
        found = registry()
        assert [plugin.name for plugin in found.plugins] == ["lucene"]
        assert "bm25" in found.retrievers
        assert found.rerankers == {}
    finally:
        monkeypatch.undo()
        registry.cache_clear()


def test_the_built_in_plugins_are_sound():
    found = registry()
    assert found.broken == []
    assert {"bm25", "qld", "rm3"} <= set(found.retrievers)
    assert {"delta", "delta-32"} <= set(found.rerankers)
    assert "demo" in found.collections


def test_every_option_of_every_system_is_described():
    found = registry()
    for registration in (*found.rerankers.values(), *found.retrievers.values()):
        for name, declared in registration.system.Options.model_fields.items():
            assert declared.description, f"{registration.name}: {name}"


def test_an_unknown_name_is_answered_with_the_nearest(install):
    found = load((*install("good", GOOD), *install("broken", "import not_there")))
    with pytest.raises(InputError, match=r"unknown reranker 'lenght'. Did you mean 'length'\?"):
        found.reranker("lenght")
    with pytest.raises(InputError, match=r"plugin 'broken' \(irplatform-broken 1.5\) could not be"):
        found.reranker("zzz")
    with pytest.raises(InputError, match="unknown retriever 'bm25'"):
        found.retriever("bm25")


class Parts(Options):
    epochs: int = Field(3, gt=0)


class Sized(Options):
    size: int = Field(1, gt=0)
    loop: Parts = Parts()


@pytest.fixture
def sized(install):
    registration = load(install("good", GOOD)).reranker("length")
    registration.system.Options = Sized
    return registration


def test_options_are_validated_with_the_value_in_the_message(sized):
    with pytest.raises(InputError, match=r"option 'size' of reranker 'length' cannot be 0: .*than"):
        sized.options({"size": 0})
    with pytest.raises(InputError, match=r"option 'loop.epochs' .* cannot be 'x'"):
        sized.options({"loop": {"epochs": "x"}})


def test_an_unknown_option_is_answered_with_the_nearest(sized):
    with pytest.raises(InputError, match=r"'siez' is no option of reranker 'length'. Did you mean"):
        sized.options({"siez": 1})
    with pytest.raises(InputError, match=r"'loop.epoch' is no .* mean 'loop.epochs'\?"):
        sized.options({"loop": {"epoch": 1}})
    assert sized.setting_names() == ["size", "loop.epochs"]


FUNCTIONS = """
from irplatform.plugin import hookimpl

def load():
    {body}

def compute(qrels, run):
    {body}

@hookimpl
def register_collections(register):
    register("few", load, title="Few")

@hookimpl
def register_measures(register):
    register("Share", compute)
"""


@pytest.mark.parametrize(
    ("body", "of_collection", "of_measure"),
    [
        (
            "raise KeyError('gone')",
            r"failed being loaded: KeyError: 'gone' \(.*:5, in load\)",
            r"failed scoring good: KeyError: 'gone' \(.*:8, in compute\)",
        ),
        ("pass", "is NoneType, not a Collection", "returned NoneType; a mapping of topic to"),
    ],
)
def test_a_function_that_fails_or_returns_nothing_is_named(
    install, body, of_collection, of_measure
):
    found = load(install("functions", FUNCTIONS.replace("{body}", body)))
    of = r"of plugin 'functions' \(irplatform-functions 1.5\)"
    with pytest.raises(PluginError, match=f"^collection 'few' {of} {of_collection}"):
        found.collection("few")
    run = Run("good", {"t": Ranking.of(["d"], [1.0])})
    with pytest.raises(PluginError, match=f"^measure 'Share' {of} {of_measure}"):
        evaluate({"t": {"d": 1}}, run, ["Share"], extra=found.measures)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (("compute)", "5)"), "measure 'Share' is 5, not a function"),
        (("load,", "'few.toml',"), "collection 'few' is 'few.toml', not a function"),
        (('"Share"', '" "'), "' ' cannot name a measure"),
        (('"Share"', "7"), "7 cannot name a measure"),
        (('"few"', "7"), "'7' cannot name a collection"),
        (('"Few"', "7"), "the title of collection 'few' is 7, not text"),
    ],
)
def test_what_is_no_function_or_has_no_name_is_not_registered(install, wrong, reason):
    found = load(install("functions", FUNCTIONS.replace("{body}", "pass").replace(*wrong)))
    assert reason in found.broken[0].error


def test_a_name_of_a_function_belongs_to_the_plugin_that_came_first(install):
    code = FUNCTIONS.replace("{body}", "pass")
    found = load((*install("a", code), *install("b", code)))
    assert "collection 'few' is registered by plugin 'a' (" in found.broken[0].error


@pytest.mark.parametrize("function", ["compute", "__import__('functools').partial(compute)"])
def test_a_measure_is_told_from_others_by_the_source_of_its_plugin(install, function):
    code = FUNCTIONS.replace("{body}", "pass").replace("compute)", f"{function})")
    found = load(install("functions", code))
    assert found.measures["Share"].__module__.startswith("module_functions")


LISTENING = """
from irplatform.plugin import hookimpl
heard = []

@hookimpl
def run_started(event):
    heard.append(event.collection)

@hookimpl
def run_finished():
    heard.append("finished")
"""


def test_life_cycle_hooks_are_called_and_a_failing_one_is_named(install, tmp_path, capsys):
    failing = LISTENING.replace("heard.append(event.collection)", "raise OSError('deaf')")
    found = load((*install("a", failing), *install("b", LISTENING)))
    event = RunEvent("demo", ("bm25",), tmp_path)
    found.announce("run_started", event)
    found.announce("run_finished", event)
    (listener,) = (p for p in found.manager.get_plugins() if "module_b" in p.__name__)
    assert listener.heard == ["demo", "finished"]
    assert "plugin 'a' (irplatform-a 1.5): run_started failed: OSError: deaf" in (
        capsys.readouterr().err
    )


def test_an_event_hook_that_ends_the_program_is_named_and_the_rest_go_on(install, tmp_path, capsys):
    ending = LISTENING.replace("heard.append(event.collection)", "raise SystemExit(3)")
    found = load((*install("a", ending), *install("b", LISTENING)))
    found.announce("run_started", RunEvent("demo", ("bm25",), tmp_path))
    (listener,) = (p for p in found.manager.get_plugins() if "module_b" in p.__name__)
    assert listener.heard == ["demo"]
    assert "plugin 'a' (irplatform-a 1.5): run_started failed: SystemExit: 3" in (
        capsys.readouterr().err
    )


def test_a_plugin_that_cannot_add_its_command_is_named(install, capsys):
    code = (
        "from irplatform.plugin import hookimpl\n"
        "@hookimpl\ndef register_commands(cli):\n    raise TypeError('no')\n"
    )
    found = load(install("broken", code))
    found.add_commands(Commands())
    assert "register_commands failed: TypeError: no" in capsys.readouterr().err
    assert [plugin.failed for plugin in found.plugins] == [
        "register_commands failed: TypeError: no"
    ]


def test_commands_are_among_what_a_plugin_provides(install):
    code = (
        "from irplatform.plugin import hookimpl\n"
        "@hookimpl\ndef register_commands(cli):\n    @cli.command('greet')\n    def f(): pass\n"
    )
    found = load(install("polite", code))
    found.add_commands(Commands())
    assert [(plugin.provides, plugin.failed) for plugin in found.plugins] == [
        (("command greet",), "")
    ]


@pytest.mark.parametrize("name", ["run", "greet"])
def test_a_command_belongs_to_who_came_first(install, capsys, name):
    code = (
        "from irplatform.plugin import hookimpl\n"
        "@hookimpl\ndef register_commands(cli):\n    @cli.command('run')\n    def f(): pass\n"
    ).replace("run", name)
    commands = Commands()
    load((*install("a", code), *install("b", code))).add_commands(commands)
    told = capsys.readouterr().err
    assert told.endswith(
        "plugin 'b' (irplatform-b 1.5): register_commands failed: PluginError: there is a command "
        f"'{name}' already\n"
    )
    assert ("plugin 'a'" in told, list(commands.commands)) == (
        (True, []) if name == "run" else (False, ["greet"])
    )


OPTIONS = """
from irplatform.plugin import Options, Reranker, hookimpl

class Sizes(Options):
    {option}

class Sized(Reranker):
    Options = Sizes

@hookimpl
def register_rerankers(register):
    register("sized", Sized)
"""


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("size: int = 'three'", "option 'size' of reranker 'sized' cannot be 'three'"),
        ("size: object = print", "options of reranker 'sized' cannot be recorded as JSON"),
    ],
)
def test_defaults_are_of_the_kind_that_is_declared_and_can_be_recorded(install, option, reason):
    found = load(install("sized", OPTIONS.replace("{option}", option)))
    assert reason in found.broken[0].error


def test_the_registry_loads_plugins_once():
    assert registry_module.registry() is registry_module.registry()


RESULTS = """
from pathlib import Path
from irplatform.plugin import hookimpl

@hookimpl
def register_results(register):
    register(Path(__file__).with_suffix(".toml"))
"""


def test_a_plugin_ships_results(install, tmp_path):
    points = install("results", RESULTS)
    (broken,) = load(points).broken
    assert "there is no file of results" in broken.error
    (tmp_path / f"module_results_{tmp_path.name}.toml").touch()
    found = load(points)
    assert found.broken == []
    ((file, plugin),) = found.results.items()
    assert (file.suffix, plugin.name) == (".toml", "results")
    assert found.plugins[0].provides == (f"results {file.name}",)


READ_BY_OTHERS = """
from irplatform.plugin import FeatureGroup, Reranker, hookimpl

class Year(FeatureGroup):
    '''The year.'''
    def names(self):
        return ("year",)
    def compute(self, topic, documents):
        return [[document.fields["year"]] for document in documents]

class Last(Reranker):
    '''The newest first.'''
    def score(self, topic, documents):
        return [document.fields["year"] for document in documents]

@hookimpl
def register_features(register):
    register("year", Year)

@hookimpl
def register_rerankers(register):
    register("last", Last)
"""


def test_what_reads_a_strangers_features_or_scores_depends_on_its_code(
    install, tmp_path, monkeypatch
):
    def told():
        sources._digests.cache_clear()
        found = load(entry_points)
        monkeypatch.setattr(registry_module.loading, "registry", lambda: found)
        monkeypatch.setattr(registry_module, "registry", lambda: found)
        return (
            dependencies(["year"])["features"]["year"],
            check_systems("reranker", ["last"], {}, among="stack.rerankers")["last"],
        )

    entry_points = install("others", READ_BY_OTHERS)
    before = told()
    assert told() == before
    (module,) = tmp_path.glob("module_others_*.py")
    module.write_text(module.read_text() + "# another one\n")
    assert all(one != other for one, other in zip(before, told(), strict=True))


def test_what_reads_our_features_needs_no_word_of_their_code():
    assert dependencies(["lexical"]) == {}
