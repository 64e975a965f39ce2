"""Dependencies and builders of small artifacts."""

DEPENDS_ON = {"corpus": "abc", "options": {"k": 1}}


def write(text):
    return lambda folder: (folder / "content").write_text(text)


def never(_folder):
    raise AssertionError("this must not be built again")
