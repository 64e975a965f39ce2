"""The formats of the plugin `tables`, and `add` with them."""

from functools import partial

from irplatform import knowledge
from irplatform_tables.formats import FORMATS as MORE_FORMATS

add = partial(knowledge.add, more_formats=MORE_FORMATS)
