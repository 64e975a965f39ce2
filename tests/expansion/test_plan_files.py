"""Files of query plans."""

import pytest

from irplatform.errors import InputError
from irplatform.expansion.plan import QueryPlan, read_plan

pytestmark = pytest.mark.java


def test_a_plan_file_changes_what_it_names(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("[gene]\nweight = 3\n")
    plan = QueryPlan.model_validate(read_plan(path))
    assert plan.gene.weight == 3
    assert plan.disease == QueryPlan().disease


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[gene]\nwieght = 3\n", r"'gene.wieght' is not a key of a query plan. Did you mean"),
        ("[gene]\nweight = -1\n", r"'gene.weight' cannot be -1"),
        ("required = ['variant']\n", r"'required.0' cannot be 'variant'"),
        ("gene = 3\n", r"'gene' cannot be 3"),
        ("gene\n", r"this is not TOML"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_place(tmp_path, content, message):
    path = tmp_path / "plan.toml"
    path.write_text(content)
    with pytest.raises(InputError, match=rf"plan\.toml(:1)?: .*{message}"):
        read_plan(path)


def test_a_plan_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: there is no such file"):
        read_plan(tmp_path / "none.toml")
