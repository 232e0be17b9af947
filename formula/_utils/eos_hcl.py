"""Reads HCL as Eos writes it, and refuses everything else: other HCL may mean something else to Terraform or Nomad.

A line is an attribute, the head of a block, a closing brace, or empty. There are no comments, no heredocs, and no value
but a map goes over several lines. So a line means to this reader exactly what it means to HCL's own.

A body is a list of ("attribute", name, value) and ("block", kind, labels, body). A value is ("text", str),
("number", int), ("bool", bool), ("list", [values]), ("map", [(name, value)]) or ("raw", str): an expression on one line
that is none of these. Whoever reads a raw expression compares it whole with those that Eos writes.
"""

from __future__ import annotations

import json
import re

# A dollar before a brace begins a template, two of them do not; more of them are nothing that Eos writes.
_PIECE = r"""[^"\\$%\x00-\x1f\x7f]|\\["\\nrt]|\\u[0-9a-f]{4}|\$\$\{|%%\{|\$(?!\$*\{)|%(?!%*\{)"""
_TEXT = re.compile(f'"(?:{_PIECE})*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
_LABEL = r'"[A-Za-z_][A-Za-z0-9_-]*"'
_HEAD = re.compile(rf"(?P<kind>{_NAME})(?P<labels>(?: {_LABEL})*) \{{(?P<empty>\}}?)")
_ATTRIBUTE = re.compile(rf"(?P<name>{_NAME}) += (?P<value>\S.*)")
_ELEMENT = re.compile(rf'({_TEXT.pattern}|"[^"\\]*"|[^",\[\]{{}}]+)(?:, |\Z)')
_DEEPEST = 20


def read(content: bytes) -> list[tuple]:
    """The body of a file; ValueError says which line is none that Eos writes."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8") from error
    if not text.endswith("\n"):
        raise ValueError("its last line does not end")
    lines = _Lines(text[:-1].split("\n"))
    body = lines.body(0)
    if not lines.is_at_end():
        raise lines.strange()
    return body


class _Lines:
    def __init__(self, lines: list[str]):
        self.lines, self.at = lines, 0

    def is_at_end(self) -> bool:
        return self.at >= len(self.lines)

    def strange(self) -> ValueError:
        return ValueError(f"line {min(self.at + 1, len(self.lines))} is not as Eos writes it")

    def body(self, depth: int) -> list[tuple]:
        """Everything up to the brace that closes it, or to the end of the file."""
        if depth > _DEEPEST:
            raise self.strange()
        items: list[tuple] = []
        while not self.is_at_end():
            line = self.lines[self.at].lstrip(" ")
            if line == "}":
                return items
            if line == "":
                self.at += 1
            elif head := _HEAD.fullmatch(line):
                labels = [json.loads(label) for label in head["labels"].split()]
                self.at += 1
                items.append(("block", head["kind"], labels, [] if head["empty"] else self._closed(depth)))
            elif attribute := _ATTRIBUTE.fullmatch(line):
                items.append(("attribute", attribute["name"], self._value(attribute["value"], depth)))
            else:
                raise self.strange()
        return items

    def _closed(self, depth: int) -> list[tuple]:
        body = self.body(depth + 1)
        if self.is_at_end():
            raise self.strange()
        self.at += 1
        return body

    def _value(self, text: str, depth: int) -> tuple:
        if text == "{":
            self.at += 1
            entries = self._closed(depth)
            if any(item[0] != "attribute" for item in entries):
                raise self.strange()
            return "map", [(name, value) for _, name, value in entries]
        if "\r" in text or any(ord(character) < ord(" ") for character in text):
            raise self.strange()
        value = _one_line(text)
        self.at += 1
        return value


def _one_line(text: str) -> tuple:
    if _TEXT.fullmatch(text):
        return "text", _unquoted(text)
    if _NUMBER.fullmatch(text):
        return "number", int(text)
    if text in ("true", "false"):
        return "bool", text == "true"
    if text == "{}":
        return "map", []
    if text.startswith("[") and text.endswith("]"):
        return _list(text)
    return "raw", text


def _list(text: str) -> tuple:
    inside, elements, at = text[1:-1], [], 0
    while at < len(inside):
        match = _ELEMENT.match(inside, at)
        if match is None:
            return "raw", text
        elements.append(_one_line(match[1]))
        at = match.end()
    if inside.endswith(", "):
        return "raw", text
    return "list", elements


def _unquoted(text: str) -> str:
    # JSON's escapes are HCL's as well; a template's beginning is doubled.
    return re.sub(r"([$%])\1\{", r"\1{", json.loads(text))
