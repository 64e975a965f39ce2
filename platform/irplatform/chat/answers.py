"""What a chat model answered: the text of a response of OpenAI's chat API, without thoughts.

Servers put a model's thoughts into fields of a message, chunks of its content, channels, or marks
in the text. What cannot be told from a thought is no answer.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN, _READ = 300, 20_000
"""Characters of a server's words that an error quotes, and of a page that is searched for them."""
_BROKEN = {"error", "abort", "aborted", "cancelled", "timeout", "network_error", "server_error"}
_BROKEN |= {"insufficient_system_resource", "model_error"}
_CUT = {"length", "max_tokens", "model_length", "incomplete", "content_filter", "safety", "refusal"}
_CUT |= {"sensitive", "recitation", "tool_calls", "tool_call", "function_call", "tool_use"}
"""Values of `finish_reason`: the server failed; the answer is not whole."""
_PASSING = {408, 409, 425, 429}
_LASTING = {"invalid_api_key", "model_not_found", "context_length_exceeded", "insufficient_quota"}
_LASTING |= {"invalid_request_error", "authentication_error", "permission_error", "not_found_error"}
_REASONS = ("error", "errors", "message", "detail", "msg", "error_message")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks")
_THOUGHT = r"(?:[a-z]+[:_])?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis"
_THOUGHT += r"|scratch_?pad|monologue)"
_ANSWER = r"(?:final_)?(?:answer|response|output|solution|ranking|result)"
_MARK = re.compile(
    rf"""
    (?P<opening> <{_THOUGHT}(?:\s[^<>]*)?(?<!/)> | \[think(?:ing)?\] | ◁think▷
      | <[|｜](?:(?:start|begin)_(?:of_)?)?{_THOUGHT}[|｜]> | <unused94>(?:thought)?
      | <\|inner_prefix\|>
      | <\|channel\|?>\s*(?:analysis|commentary|thought) | \A\s*analysis(?=(?-i:[A-Z]))
      | <details\s[^<>]*reasoning[^<>]*> | \A\s*thinking\.\.\.\s | here\ is\ my\ thought\ process: )
    | (?P<closing> </{_THOUGHT}\s*> | \[/think(?:ing)?\] | ◁/think▷ | <unused95> | <channel\|>
      | <\|inner_suffix\|>
      | <[|｜](?:/|end_(?:of_)?){_THOUGHT}[|｜]> | \.\.\.done\ thinking\. )
    | (?P<shut> <\|end\|> | </details> )
    | (?P<channel> <\|channel\|>\s*final(?:\s*<\|constrain\|>\w*)?(?:<\|message\|>)?
      | assistantfinal
      | <\|(?:start_response|begin_of_solution)\|> | here\ is\ my\ response: )
    | (?P<answer> <{_ANSWER}(?:\s[^<>]*)?> )
    | (?P<end> </{_ANSWER}\s*> | <\|(?:return|end_response|end_of_solution)\|> )
    """,
    re.IGNORECASE | re.VERBOSE,
)


class AnswerError(Exception):
    """A response without an answer; `lasting` if the same request would get it again."""

    def __init__(self, reason: str, *, lasting: bool) -> None:
        super().__init__(reason)
        self.lasting = lasting


@dataclass(frozen=True)
class Answer:
    """What a model wrote.

    Attributes:
        text: without thoughts that came apart from it, with those in marks.
        cut: it ended before its end, by a limit, a filter or a call of a tool, or was refused.
        apart: thoughts came in a field or chunks of their own, so the text is none.
        usage: the server's counts of tokens.
    """

    text: str
    cut: bool = False
    apart: bool = False
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The text without thoughts; "" where it cannot be told from one."""
        text, has_end = _without_thoughts(self.text, complete=not self.cut)
        if not self.cut:
            return text
        if not (has_end or self.apart or not re.search(r"[^\W\d_]", text)):
            return ""
        return re.sub(r"\d+\s*\Z", "", text)  # perhaps the beginning of a longer number


def read_answer(body: str) -> Answer:
    """The answer in the body of a response with status 200.

    Raises:
        AnswerError: it reports an error or is of another form.
    """
    try:
        parsed = json.loads(body.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        if re.match(r"\s*(?:(?:data|event|id)?:|\{.*\}\s*\n\s*\{)", body):
            reason = "it streams its answer; send no `stream`"
            raise AnswerError(reason, lasting=True) from error
        broken = body.lstrip()[:1] in ("", "{", "[")
        raise AnswerError(reason_in(body), lasting=not broken) from error
    if isinstance(parsed, list) and len(parsed) == 1:
        parsed = parsed[0]
    response: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    choices = response.get("choices")
    if response.get("error") or not choices:
        passing = "choices" in response or any(response.get(name) for name in _REASONS)
        raise AnswerError(reason_in(body), lasting=not passing or _lasts(response))
    choice = choices[0] if isinstance(choices, list) else None
    if not isinstance(choice, dict):
        raise AnswerError(reason_in(body), lasting=True)
    finish = str(choice.get("finish_reason") or "").lower()
    if choice.get("error") or finish in _BROKEN:
        raise AnswerError(_words(choice) or f"finish_reason {finish}", lasting=_lasts(choice))
    message = choice.get("message") or choice.get("delta")
    fields = message if isinstance(message, dict) else {"content": message or choice.get("text")}
    thoughts = [fields.get(name) for name in _THOUGHTS]
    text = _text(fields.get("content"), thoughts)
    cut = finish in _CUT or bool(fields.get("refusal"))
    usage = response.get("usage")
    return Answer(text, cut, any(thoughts), usage if isinstance(usage, dict) else {})


def reason_in(body: str) -> str:
    """A server's own words on what is wrong, in a line, from JSON, HTML or plain text."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>", " ", body[:_READ])
    return " ".join((_words(parsed) or body).split())[:_SHOWN] or "it is empty"


def _words(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(filter(None, map(_words, value)))
    if isinstance(value, dict):
        return next(filter(None, (_words(value.get(name)) for name in _REASONS)), "")
    return "" if value is None or isinstance(value, bool) else str(value)


def _lasts(response: Mapping[str, Any]) -> bool:
    error = response.get("error")
    said = error if isinstance(error, dict) else response
    values = {str(said.get(name) or "") for name in ("code", "type", "status")}
    codes = {int(value) for value in values if re.fullmatch(r"4\d\d", value)}
    return bool(values & _LASTING or codes - _PASSING)


def _text(content: Any, thoughts: list[Any]) -> str:
    """The text of a content; what its chunks have thought is added to `thoughts`."""
    if isinstance(content, list) and any(isinstance(chunk, (str, dict, list)) for chunk in content):
        return "\n".join(filter(None, (_text(chunk, thoughts) for chunk in content)))
    if not isinstance(content, dict):  # also numbers, where the server has parsed the answer
        return content if isinstance(content, str) else json.dumps(content) if content else ""
    kind = str(content.get("type") or "").lower()
    if re.search("think|reason|thought", kind) or content.get("thought") is True:
        thoughts.append(content)
        return ""
    for name in ("text", "content", "value", "parts"):
        if name in content:
            return _text(content[name], thoughts)
    return "" if kind else json.dumps(content)


def _without_thoughts(text: str, *, complete: bool) -> tuple[str, bool]:
    """What stands outside of thoughts, and whether a mark ended them."""
    text = html.unescape(text) if "&lt;" in text else text
    parts: list[str] = []
    depth, start, has_end, muted = 0, 0, False, False
    for mark in _MARK.finditer(text):
        if not depth and not muted:
            parts.append(text[start : mark.start()])
        start = mark.end()
        match mark.lastgroup:
            case "opening":
                depth += 1
            case "closing" | "shut" if depth:
                depth, has_end = depth - 1, True
            case "closing":  # a template has opened it
                parts, has_end, muted = [], True, False
            case "channel":
                parts, depth, has_end, muted = [], 0, True, False
            case "answer" if complete or (has_end and not depth):
                parts, depth, has_end, muted = [], 0, True, False
            case "end" if not depth:
                muted = True
            case "shut":
                muted = mark[0] != "</details>"
    if not depth and not muted:
        parts.append(text[start:])
    return "".join(parts).strip(), has_end
