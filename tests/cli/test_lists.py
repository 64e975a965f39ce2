"""Lists are given in one way everywhere: repeated, with commas, or both."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.cli.main import cli
from irplatform.cli.names import ListOption, Names, split_collections, split_list
from irplatform.errors import InputError

GAINS = "nDCG(dcg='exp-log2',gains={0:0,1:1})@20"
BINARY = "AP,nDCG(gains={0:0,1:1})@20"
PATHS = {"vectors_text", "folders", "files", "plugin", "qrels", "runs"}
SETTINGS = {"settings", "options"}


def _options(group):
    for name in group.list_commands(click.Context(cli)):
        command = group.get_command(click.Context(cli), name)
        if isinstance(command, click.Group):
            yield from _options(command)
        else:
            yield from (o for o in command.params if isinstance(o, click.Option))


LISTS = {option.name: option for option in _options(cli) if option.multiple}
CHOICES = next(o for o in _options(cli) if o.multiple and isinstance(o.type, click.Choice))


def _values(option, *words):
    return option.type_cast_value(click.Context(click.Command("x")), words)


def test_all_that_can_be_repeated_takes_commas_but_paths_and_settings():
    others = {name for name, option in LISTS.items() if not isinstance(option, ListOption)}
    assert others == {*PATHS, *SETTINGS}
    assert {"rerankers", "first_stages", "measures", "expand", "train_on", "weights"} <= {*LISTS}


@pytest.mark.parametrize("name", ["rerankers", "first_stages", "measures", "expand", "documents"])
def test_commas_are_repetition(name):
    option = LISTS[name]
    assert _values(option, "a", "b", "c") == ("a", "b", "c")
    assert _values(option, "a,b,c") == _values(option, "a , b", "c,") == ("a", "b", "c")


@pytest.mark.parametrize("text", ["", ",", " , "])
def test_a_list_of_nothing_is_refused(text):
    with pytest.raises(InputError, match=r"--reranker is empty; give it a value\."):
        _values(LISTS["rerankers"], text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"AP,{GAINS},P@10", ["AP", GAINS, "P@10"]),
        ("P(rel=2)@10,nDCG@20", ["P(rel=2)@10", "nDCG@20"]),
        ("ERR(gains={0:0,1:1}),RBP(p=0.8,rel=2)", ["ERR(gains={0:0,1:1})", "RBP(p=0.8,rel=2)"]),
        ("nDCG(dcg='a,)',judged_only=True),AP", ["nDCG(dcg='a,)',judged_only=True)", "AP"]),
        ("it's,S0140-6736(05)67889-0", ["it's", "S0140-6736(05)67889-0"]),
        ('"a,b", c,"d"', ["a,b", "c", "d"]),
        ("5',3', 'x,y'", ["5'", "3'", "x,y"]),
    ],
)
def test_commas_in_brackets_belong_to_a_measure(text, parts):
    assert split_list(text) == parts


@given(st.lists(st.from_regex(r"[a-z]+(\([a-z]=[0-9],[a-z]='[,)]'\))?(@[0-9]+)?", fullmatch=True)))
def test_a_list_is_read_as_it_was_written(parts):
    assert split_list(",".join(parts)) == parts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("demo,small", ["demo", "small"]),
        ("beir/nfcorpus/train,small:train", ["beir/nfcorpus/train", "small:train"]),
        ("my,folder", ["my,folder"]),
        ("my,folder:train", ["my,folder:train"]),
        ("./my,folder", ["./my,folder"]),
        ("./small,./my", ["./small", "./my"]),
        ("./wrong,folder", ["./wrong,folder"]),
        ("2017.toml,2018.toml", ["2017.toml", "2018.toml"]),
        ("small,demo-train", ["small", "demo-train"]),
        ("./small,demo-train", ["./small", "demo-train"]),
    ],
)
def test_the_path_of_a_collection_is_not_split(folder, text, names):
    (folder / "my,folder").mkdir()
    assert split_collections(text) == names


def test_numbers_and_choices_are_checked_one_by_one():
    assert _values(LISTS["weights"], "4,1", "0.5") == (4.0, 1.0, 0.5)
    assert _values(CHOICES, "disease,gene") == ("disease", "gene")
    with pytest.raises(click.BadParameter, match="'x' is not a valid float"):
        _values(LISTS["weights"], "4,x")


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("k1,b", ("k1", "b")),
        ("k1=0.5:2,b=0:1:log,mu", ("k1=0.5:2", "b=0:1:log", "mu")),
        ("fb_docs=5,10,20", ("fb_docs=5,10,20",)),
        ("k1,fb_docs=5,10,20,b=1e-3:1,mu", ("k1", "fb_docs=5,10,20", "b=1e-3:1", "mu")),
        ("model=a:b,c", ("model=a:b,c",)),
        ("stack={a=1},{a=2}", ("stack={a=1},{a=2}",)),
    ],
)
def test_a_range_of_tune_has_commas_of_its_own(text, ranges):
    assert _values(LISTS["over"], text) == ranges


@pytest.mark.parametrize("value", ["delta,drmm", "delta , drmm"])
def test_an_option_for_one_name_says_that_it_takes_one(platform, value):
    outcome = platform("train", "--collection", "small", "--reranker", value)
    assert outcome.code == 2
    assert f"--reranker takes one reranker, not several: '{value}'." in outcome.err
    outcome = platform("rerankers", "show", value)
    assert f"NAME takes one reranker, not several: '{value}'." in outcome.err


def test_the_path_of_one_collection_may_have_commas(folder, platform):
    (folder / "small").rename(folder / "my,small")
    assert "'my,small'" not in platform("collections", "show", "my,small").err
    message = platform("index", "--collection", "demo,demo-train").err
    assert "--collection takes one collection, not several: 'demo,demo-train'." in message


def test_lists_reach_the_run(platform):
    message = platform(
        "run", "--collection", "small", "--reranker", "revdocid,bm25-title,detla"
    ).err
    assert "unknown reranker 'detla'. Did you mean 'delta'?" in message
    message = platform("run", "--collection", "small", "--reranker", "delta,delta").err
    assert "reranker 'delta' is named twice: give one a label" in message
    message = platform("run", "--collection", "small", "--first-stage", "bm25+bn25").err
    assert "unknown retriever 'bn25'" in message
    scored = platform("evaluate", "good.run", "--collection", "small", "--measure", BINARY)
    assert scored.code == 0, scored.err
    assert "AP" in scored.out


def test_help_shows_a_list_by_its_commas():
    assert all("," in option.metavar for option in LISTS.values() if isinstance(option.type, Names))
