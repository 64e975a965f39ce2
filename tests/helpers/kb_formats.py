"""The formats of the plugin `tables`, and `add` with them."""

from functools import partial

from irplatform import knowledge
from irplatform_tables import diseases, drugs

MORE_FORMATS = (*diseases.FORMATS, *drugs.FORMATS)

add = partial(knowledge.add, more_formats=MORE_FORMATS)
