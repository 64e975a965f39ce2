"""Topics that are written to a file and read."""

from irplatform.collections.topic_formats import read_topics


def read(tmp_path, text, name, query=None):
    path = tmp_path / "topics"
    path.write_text(text)
    return read_topics(path, name, query)
