"""What models were asked is told, since paid services count tokens."""

import pytest

from irplatform.chat.client import Chat


@pytest.fixture(autouse=True)
def _no_tally():
    Chat.tally.clear()
    yield
    Chat.tally.clear()


def test_it_is_told_once(capsys):
    Chat.tally.update(answers=1, kept=0, unusable=1, prompt_tokens=1, completion_tokens=1_200)
    Chat.tell_tally("mine")
    message = "mine: 1 answer, 0 of them kept before, 1 unusable, 1 token read, 1,200 written\n"
    assert capsys.readouterr().err == message
    Chat.tell_tally("mine")
    assert capsys.readouterr().err == ""


def test_nothing_is_told_where_nothing_was_asked(capsys):
    Chat.tell_tally("mine")
    assert capsys.readouterr().err == ""
