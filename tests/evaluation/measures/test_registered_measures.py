"""The files of measures: each registers what it declares, and only names of its own."""

from importlib import import_module
from pkgutil import walk_packages

import ir_measures

from irplatform.evaluation import measures
from irplatform.evaluation.kinds import OwnMeasure, Standard
from irplatform.evaluation.measure_names import parse_measures, registered
from irplatform.evaluation.measures import registered_measures

FILES = [m.name for m in walk_packages(measures.__path__, "irplatform.evaluation.measures.")]


def test_a_name_is_registered_once():
    names = []
    for file in FILES:
        if register := getattr(import_module(file), "register_measures", None):
            register(lambda name, measure: names.append(name))
    assert sorted(names) == sorted(registered_measures())


def test_measures_of_ir_measures_keep_its_names():
    for name, measure in registered_measures().items():
        if isinstance(measure, Standard):
            assert name == ir_measures.measures.registry[name].NAME


def test_own_measures_are_parsed_by_their_names():
    names = [
        name for name, measure in registered_measures().items() if isinstance(measure, OwnMeasure)
    ]
    assert list(parse_measures(names, sampled=True)) == names


def test_a_measure_without_a_file_is_left_to_the_packages():
    assert registered("Bpref") == Standard()
    (measure,) = parse_measures(["Bpref"]).values()
    assert not measure.is_computed_here()
