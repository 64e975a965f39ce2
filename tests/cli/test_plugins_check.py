"""`platform plugins check`: what breaks the contract is told, and all else is checked, too."""

import json

import pytest
from strangers import platform_with

PLUGIN = """
import numpy as np
from irplatform.plugin import FeatureGroup, Reranker, Retriever, hookimpl
from irplatform.errors import InputError
from irplatform.runs import Ranking, Run

class ByPlace(Reranker):
    '''Scores by the place among the documents.'''
    def score(self, topic, documents):
        return [float(-place) for place in range(len(documents))]

class Short(Reranker):
    '''Scores all documents but one.'''
    def score(self, topic, documents):
        return [1.0] * (len(documents) - 1)

class Asks(Reranker):
    '''Asks for what it is not given.'''
    def score(self, topic, documents):
        raise InputError('name a file with --set words=FILE.')

class Hungry(Reranker):
    '''Needs more memory than there is.'''
    def score(self, topic, documents):
        raise MemoryError

class Sound(Reranker):
    '''Scores by the length.'''
    def score(self, topic, documents):
        return [float(len(document.text)) for document in documents]

class Turns(Retriever):
    '''Finds another document every time.'''
    calls = 0
    def retrieve(self, topics, depth, resources):
        Turns.calls += 1
        ids = [f'demo{n + 10 * (Turns.calls % 2):04d}' for n in range(1, 4)]
        return Run('turns', {topic.id: Ranking.of(ids, [3.0, 2.0, 1.0]) for topic in topics})

class Shares(FeatureGroup):
    '''The share of a document's words among those of all.'''
    def names(self):
        return ('share',)
    def compute(self, topic, documents):
        lengths = np.array([[len(document.text)] for document in documents], dtype='f4')
        return lengths / lengths.sum()

@hookimpl
def register_rerankers(register):
    register('by-place', ByPlace)
    register('short', Short)
    register('hungry', Hungry)
    register('sound', Sound)
    register('asks', Asks)

@hookimpl
def register_retrievers(register):
    register('turns', Turns)

@hookimpl
def register_features(register):
    register('shares', Shares)
"""


@pytest.fixture
def check(tmp_path):
    """Call `platform plugins check` where a plugin with this code is installed."""

    def call(code, *arguments):
        return platform_with(code, tmp_path, "plugins", "check", *arguments, cwd=tmp_path)

    return call


@pytest.mark.java
@pytest.mark.slow
def test_every_system_is_checked_and_what_breaks_the_contract_is_told(check):
    result = check(PLUGIN, "strange", "--json")
    assert result.returncode == 1, result.stderr
    report = json.loads(result.stdout)
    assert report["plugin"] == "strange"
    problems = {
        (system["kind"], system["name"]): system["problems"] for system in report["systems"]
    }
    assert problems["reranker", "sound"] == []
    assert [p.rpartition(" when ")[2] for p in problems["reranker", "by-place"]] == [
        "documents come in another order",
        "other documents are with it",
    ]
    (short,) = problems["reranker", "short"]
    assert "returned 29 scores for the 30 documents" in short
    (hungry,) = problems["reranker", "hungry"]
    assert "not enough memory to score one document with 'hungry'" in hungry
    (first, _) = problems["retriever", "turns"]
    assert first.endswith("differs when it is asked again")
    (share,) = problems["feature group", "shares"]
    assert share.endswith("when other documents are with it")


UNKIND = PLUGIN.replace(
    "class Sound(Reranker):",
    """from irplatform.plugin import Options
from pydantic import Field

class Sized(Options):
    size: int = 3
    told: int = Field(3, description="told")

class Sound(Reranker):
    Options = Sized""",
)


@pytest.mark.java
def test_a_sound_system_keeps_the_contract_and_what_could_be_better_is_remarked(check):
    result = check(UNKIND, "strange", "--only", "sound")
    assert (result.returncode, result.stdout.splitlines()) == (
        0,
        [
            "reranker sound: keeps the contract",
            "reranker sound: remark: no description: size; give Field(…, description=…) a line for "
            "users",
        ],
    )


@pytest.mark.java
def test_what_is_not_checked_is_told_and_is_no_success(check):
    result = check(PLUGIN, "strange", "--only", "sound", "--only", "asks")
    assert result.returncode == 2
    system = "reranker 'asks' of plugin 'strange' (strange-distribution 0.3)"
    assert result.stdout.splitlines() == [
        "reranker sound: keeps the contract",
        f"reranker asks: not checked: {system}: name a file with --set words=FILE.",
    ]


CHANGING = """
import os
import random
from irplatform.plugin import Reranker, TrainableReranker, hookimpl

class Calm(Reranker):
    '''Leaves all as it was.'''
    def score(self, topic, documents):
        return [float(len(document.text)) for document in documents]

class Draws(Calm):
    '''Draws and draws nothing.'''
    def prepare(self, resources):
        import numpy
        numpy.random.seed(resources.seed)

    def score(self, topic, documents):
        os.chdir('/tmp')
        random.random()
        return super().score(topic, documents)

class Learns(Calm, TrainableReranker):
    '''Learns nothing.'''
    def fit(self, data):
        import torch
        torch.manual_seed(1)
        torch.set_default_dtype(torch.float64)

    def save(self, folder):
        (folder / 'nothing').touch()

    def load(self, folder):
        pass

@hookimpl
def register_rerankers(register):
    register('calm', Calm)
    register('draws', Draws)
    register('learns', Learns)
"""


@pytest.mark.java
@pytest.mark.slow
def test_what_belongs_to_the_whole_process_must_stay_as_it_was(check, tmp_path):
    result = check(CHANGING, "strange", "--device", "cpu")
    assert result.returncode == 1
    torch = "the default type of torch is torch.float64 instead of torch.float32 after fit()"
    generator = "draw from a generator of your own, made of resources.seed"
    path = "name files by their whole path"
    draws = "reranker draws: the"
    assert result.stdout.splitlines() == [
        "reranker calm: keeps the contract",
        f"{draws} state of numpy's random generator is different after prepare(): {generator}",
        f"{draws} working directory is /tmp instead of {tmp_path} after score(): {path}",
        f"{draws} state of Python's random generator is different after score(): {generator}",
        f"reranker learns: {torch}: give tensors a dtype",
    ]


OF_THIS_PROCESS = """
import numpy as np
from irplatform.plugin import FeatureGroup, Reranker, Retriever, TrainableReranker, hookimpl
from irplatform.runs import Ranking, Run

def value(text):
    return float(hash(text) % 1009)

class Hashes(Reranker):
    '''Scores by the hash of the text.'''
    def score(self, topic, documents):
        return [value(document.text) for document in documents]

class Keeps(TrainableReranker):
    '''Learns what its files do not have.'''
    weight = 1.0
    def fit(self, data):
        Keeps.weight = 2.0

    def save(self, folder):
        (folder / 'marker').touch()

    def load(self, folder):
        assert (folder / 'marker').exists()

    def score(self, topic, documents):
        return [Keeps.weight * len(document.text) for document in documents]

class Writes(Keeps):
    '''The same, written.'''
    def save(self, folder):
        (folder / 'weight').write_text(str(Keeps.weight))

    def load(self, folder):
        Keeps.weight = float((folder / 'weight').read_text())

class Orders(Retriever):
    '''Finds documents in the order of a set.'''
    def retrieve(self, topics, depth, resources):
        ids = [*{f'demo{n:04d}' for n in range(1, 30)}]
        scores = np.arange(len(ids))[::-1]
        return Run('orders', {topic.id: Ranking.of(ids, scores) for topic in topics})

class Shares(FeatureGroup):
    '''The hash of a document's text.'''
    def names(self):
        return ('hash',)
    def compute(self, topic, documents):
        return np.array([[value(document.text)] for document in documents], dtype='f4')

@hookimpl
def register_rerankers(register):
    register('hashes', Hashes)
    register('keeps', Keeps)
    register('writes', Writes)

@hookimpl
def register_retrievers(register):
    register('orders', Orders)

@hookimpl
def register_features(register):
    register('shares', Shares)
"""


@pytest.mark.java
@pytest.mark.slow
def test_another_process_must_give_the_same(check):
    result = check(OF_THIS_PROCESS, "strange", "--json")
    assert result.returncode == 1, result.stderr
    findings = {
        system["name"]: system["problems"] for system in json.loads(result.stdout)["systems"]
    }
    condition = "in another process, where text has other hashes and a set another order"
    assert findings.pop("writes") == []
    assert [len(problems) for problems in findings.values()] == [1, 1, 1, 1], findings
    assert all(problem.endswith(condition) for (problem,) in findings.values()), findings
    assert f"after save() and load() {condition}" in findings["keeps"][0]
    assert findings["orders"] == [f"the ranking of topic 1 differs {condition}"]


LACKS_A_FILE = """
import numpy as np
from irplatform.errors import InputError
from irplatform.plugin import Reads, TrainableFeatureGroup, hookimpl

class Lacks(TrainableFeatureGroup):
    def names(self):
        return ('x',)
    def compute(self, topic, documents):
        return np.array([[self.length] for _ in documents], dtype='f4')
    def fit(self, data):
        self.length = len(data.training)
    def save(self, folder):
        (folder / 'length').write_text(str(self.length))
    def load(self, folder):
        self.length = int((folder / 'length').read_text())
    def reads(self):
        return Reads(check=self.look)
    def look(self):
        raise InputError('the file of pairs is gone.')

@hookimpl
def register_features(register):
    register('lacks', Lacks)
"""


@pytest.mark.java
def test_groups_are_asked_what_they_learn_from(check):
    result = check(LACKS_A_FILE, "strange")
    assert result.returncode != 0
    assert "the file of pairs is gone." in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("strnge",), "unknown plugin 'strnge'. Did you mean 'strange'?"),
        (("strange", "--only", "souns"), "'souns' is not a system of plugin 'strange'."),
        (("strange", "--collection", "demo-trian"), "Did you mean 'demo-train'?"),
    ],
)
def test_wrong_names_have_exit_code_2(check, arguments, message):
    result = check(PLUGIN, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_file_is_checked_with_its_option(check, tmp_path):
    (tmp_path / "ranker.py").write_text(PLUGIN)
    result = check("", "ranker")
    assert result.returncode == 2
    assert (
        result.stderr
        == "platform: unknown plugin 'ranker'. Load the file with --plugin ranker.py.\n"
    )
    result = check("", "ranker", "--plugin", "ranker.py", "--only", "sound")
    assert (result.returncode, result.stdout) == (0, "reranker sound: keeps the contract\n")


def test_a_broken_plugin_is_an_error(check):
    result = check("raise OSError('no licence')", "strange")
    assert result.returncode == 1
    assert "is not used: OSError: no licence" in result.stderr.splitlines()[-1]


WITHOUT_SYSTEMS = """
import gensim
from irplatform.data import Collection, Corpus
from irplatform.plugin import Document, Topic, hookimpl

class Articles(Corpus):
    name = 'spent'
    fields = ()
    fingerprint = str(hash('spent'))
    def __init__(self):
        self.documents = iter([Document('a', 'A title'), Document('b', 'Another')])
    def __iter__(self):
        yield from self.documents

def spent():
    return Collection('spent', 'Two articles', Articles(), lambda: [Topic('t', 'title')],
                      lambda: {'t': {'a': 1}, 'u': {'gone': 1}}, measures=('nDCG@10', 'Nonsense'))

def drawn(qrels, run):
    qrels.pop('t1', None)
    return {topic: len(qrels) for topic in qrels} | {'t1': 0}

@hookimpl
def register_collections(register):
    register('spent', spent, title='Two articles')

@hookimpl
def register_measures(register):
    register('Drawn', drawn)
"""


def test_measures_and_collections_are_checked_and_slow_imports_remarked(check):
    result = check(WITHOUT_SYSTEMS, "strange")
    assert result.returncode == 1, result.stderr
    condition = "in another process, where text has other hashes and a set another order"
    assert [line.partition(". Known")[0] for line in result.stdout.splitlines()] == [
        "plugin strange: remark: every command waits for its import of gensim (strange_module.py:2)"
        ": import it within the functions that need it",
        "measure Drawn: it changes the judgments that it is given",
        "measure Drawn: topic t2 has 1 instead of 4 when topics come one at a time",
        f"collection spent: it has another fingerprint {condition}",
        "collection spent: the documents differ when they are read again",
        "collection spent: there are no documents",
        "collection spent: unknown measure 'Nonsense'",
    ]
