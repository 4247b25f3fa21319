"""From a text to the syntax of XPath 1.0: one method for each group of its productions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from triplewire.algebra.xpath.syntax import (
    ANYTHING,
    AXES,
    FUNCTIONS,
    NODES,
    OF_NODES,
    PRECEDENCE,
    Binary,
    CoreCall,
    Expression,
    KindTest,
    Name,
    Negative,
    Number,
    Path,
    Several,
    Step,
    TextLiteral,
    type_of,
)
from triplewire.languages.places import TextPlace
from triplewire.languages.xpath.tokens import LANGUAGE, Token, tokens_of
from triplewire.model.prefixes import how_to_give

MOST_NESTED = 100
"""How deep parentheses and predicates may go, and how long a chain of one operator may be, in levels of the syntax."""

_BINDING = {operator: level for operator, level in PRECEDENCE.items() if operator != "|"}
_KINDS = ("comment", "text", "processing-instruction", "node")
_ANYWHERE = Step("descendant-or-self", ANYTHING)
_OPERAND = "a path, a text, a number, a function or an opening parenthesis"
_STEP = "a name, *, @, an axis, a node test such as text(), . or .."


@dataclass(slots=True)
class Parser:
    """Reads one text."""

    text: str
    prefixes: Mapping[str, str]
    tokens: list[Token]
    at: int = 0
    depth: int = 0

    @classmethod
    def of(cls, text: str, prefixes: Mapping[str, str]) -> Parser:
        """A parser for a text, with the prefixes that it may use."""
        return cls(text, prefixes, tokens_of(text))

    def expression(self) -> Expression:
        """The expression that is the whole text."""
        found = self._expression()
        if self.now.kind != "end":
            self._unexpected("an operator or the end")
        return found

    # -- tokens

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def _take(self, sign: str) -> Token | None:
        token = self.tokens[self.at]
        if token.text != sign or token.kind not in ("sign", "operator"):
            return None
        self.at += 1
        return token

    def _demand(self, sign: str, expected: str) -> None:
        if self._take(sign) is None:
            self._unexpected(expected)

    def _unexpected(self, expected: str, hint: str | None = None) -> NoReturn:
        token = self.now
        reason = "the text ends too early" if token.kind == "end" else f"did not expect `{token.text[:30]}`"
        if token.text == "=" and self.tokens[self.at - 1].text == "=":
            hint = "Equality is written with one sign: ="
        raise TextPlace.at(LANGUAGE, self.text, token.at).wrong(reason, hint, (expected,))

    def _refused(self, reason: str, token: Token, hint: str) -> NoReturn:
        raise TextPlace.at(LANGUAGE, self.text, token.at).refused(reason, hint)

    def _wrong(self, reason: str, token: Token, hint: str | None = None) -> NoReturn:
        raise TextPlace.at(LANGUAGE, self.text, token.at).wrong(reason, hint)

    # -- operators

    def _expression(self) -> Expression:
        self.depth += 1
        if self.depth > MOST_NESTED:
            hint = "Split it into several subscriptions"
            self._refused(f"it is nested deeper than {MOST_NESTED}", self.now, hint)
        found = self._level(0)
        self.depth -= 1
        return found

    def _level(self, least: int) -> Expression:
        """An operand, and what operators join to it that bind at least so tightly."""
        found = self._unary()
        length = 0
        while True:
            token = self.tokens[self.at]
            own = _BINDING.get(token.text, -1) if token.kind in ("operator", "sign") else -1
            if own < least:
                return found
            self.at += 1
            right = self._level(own + 1)
            length += 1
            if token.text in ("and", "or"):
                found = _joined(token.text, found, right)
                continue
            if length > MOST_NESTED:
                self._refused(f"a chain of more than {MOST_NESTED} operators", token, "Split it")
            found = Binary(token.text, found, right)

    def _unary(self) -> Expression:
        minus = 0
        while self._take("-"):
            minus += 1
        if minus > MOST_NESTED:
            self._refused(f"more than {MOST_NESTED} minus signs", self.now, "Two of them say number(...)")
        found = self._union()
        for _ in range(minus):
            found = Negative(found)
        return found

    def _union(self) -> Expression:
        first = self.now
        found = self._path()
        while self._take("|"):
            second = self.now
            right = self._path()
            for part, token in ((found, first), (right, second)):
                if type_of(part) != NODES:
                    self._wrong(f"| unites node-sets, and this is a {type_of(part)}", token)
            found = _joined("|", found, right)
        return found

    # -- paths

    def _path(self) -> Expression:
        token = self.now
        if token.kind == "variable":
            hint = "Write the value into the expression"
            self._refused(f"a standing query has no variables, and {token.text} is one", token, hint)
        if token.kind in ("number", "text") or (token.kind, token.text) == ("sign", "(") or self._is_call():
            return self._filtered()
        if self._take("//"):
            return Path(True, (_ANYWHERE, *self._steps()))
        if self._take("/"):
            return Path(True, self._steps() if self._starts_step() else ())
        if not self._starts_step():
            self._unexpected(_OPERAND)
        return Path(False, self._steps())

    def _is_call(self) -> bool:
        following = self.tokens[self.at + 1] if self.now.kind == "name" else None
        return following is not None and following.text == "(" and self.now.text not in _KINDS

    def _filtered(self) -> Expression:
        """A primary expression, with predicates and further steps if it gives nodes."""
        token = self.now
        found = self._primary()
        filters = self._predicates()
        steps: tuple[Step, ...] = ()
        if self._take("//"):
            steps = (_ANYWHERE, *self._steps())
        elif self._take("/"):
            steps = self._steps()
        if not filters and not steps:
            return found
        if type_of(found) != NODES:
            self._wrong(f"only nodes have predicates and steps, and this is a {type_of(found)}", token)
        return Path(False, steps, found, filters)

    def _primary(self) -> Expression:
        token = self.now
        if token.kind == "number":
            self.at += 1
            return Number(_digits(token.text))
        if token.kind == "text":
            self.at += 1
            return TextLiteral(token.text[1:-1])
        if self._take("("):
            found = self._expression()
            self._demand(")", "a closing parenthesis")
            return found
        return self._call()

    def _call(self) -> Expression:
        token = self.now
        self.at += 1
        self._demand("(", "an opening parenthesis")
        arguments: list[Expression] = []
        while not self._take(")"):
            if arguments:
                self._demand(",", "a comma or a closing parenthesis")
            arguments.append(self._expression())
        return self._checked_call(token, tuple(arguments))

    def _checked_call(self, token: Token, arguments: tuple[Expression, ...]) -> Expression:
        if token.text not in FUNCTIONS:
            hint = f"There are: {', '.join(sorted(FUNCTIONS))}"
            if ":" in token.text:
                self._refused(f"{token.text}() is an extension function, and only XPath's own are served", token, hint)
            self._refused(f"XPath 1.0 has no function {token.text}()", token, hint)
        _, least, most = FUNCTIONS[token.text]
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} or more" if most > 9 else f"{least} to {most}"
            self._wrong(f"{token.text}() takes {wanted} arguments, not {len(arguments)}", token)
        if token.text in OF_NODES and arguments and type_of(arguments[0]) != NODES:
            self._wrong(f"{token.text}() takes a node-set, and this is a {type_of(arguments[0])}", token)
        return CoreCall(token.text, arguments)

    def _starts_step(self) -> bool:
        return self.now.kind in ("name", "wild") or (self.now.kind == "sign" and self.now.text in (".", "..", "@", "*"))

    def _steps(self) -> tuple[Step, ...]:
        steps = [self._step()]
        while True:
            if self._take("//"):
                steps.append(_ANYWHERE)
            elif not self._take("/"):
                return tuple(steps)
            steps.append(self._step())
            if len(steps) > 4 * MOST_NESTED:
                self._refused(f"a path of more than {4 * MOST_NESTED} steps", self.now, "Use // for some of them")

    def _step(self) -> Step:
        if self._take("."):
            return Step("self", ANYTHING)
        if self._take(".."):
            return Step("parent", ANYTHING)
        axis = "child"
        if self._take("@"):
            axis = "attribute"
        elif self.now.kind == "name" and self.tokens[self.at + 1].text == "::":
            axis = self.now.text
            if axis not in AXES:
                self._wrong(f"there is no axis {axis}", self.now, f"There are: {', '.join(AXES)}")
            self.at += 2
        return Step(axis, self._test(axis), self._predicates())

    def _test(self, axis: str) -> Name | KindTest:
        token = self.now
        if self._take("*"):
            return Name(None, "*")
        if token.kind == "wild":
            self.at += 1
            return Name(self._namespace(token), "*")
        if token.kind != "name":
            self._unexpected(_STEP)
        self.at += 1
        if token.text in _KINDS and self._take("("):
            return self._kind(token)
        if ":" not in token.text:
            return Name("", token.text)
        if axis == "namespace":
            self._wrong("the nodes of the namespace axis have prefixes as names, which have no prefix", token)
        return Name(self._namespace(token), token.text.partition(":")[2])

    def _kind(self, token: Token) -> KindTest:
        target = None
        if token.text == "processing-instruction" and self.now.kind == "text":
            target = self.now.text[1:-1]
            self.at += 1
        self._demand(")", "a closing parenthesis")
        return KindTest(token.text, target)

    def _namespace(self, token: Token) -> str:
        prefix = token.text.partition(":")[0]
        if prefix == "xml":
            return "http://www.w3.org/XML/1998/namespace"
        if not self.prefixes.get(prefix):
            known = ", ".join(sorted(name for name in self.prefixes if name)) or "none"
            hint = f"Known prefixes are {known}; {how_to_give(prefix)}"
            self._wrong(f"the prefix {prefix} stands for no namespace", token, hint)
        return self.prefixes[prefix]

    def _predicates(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while self._take("["):
            found.append(self._expression())
            self._demand("]", "a closing bracket or an operator")
        return tuple(found)


def _joined(operator: str, left: Expression, right: Expression) -> Expression:
    parts = [*left.parts] if isinstance(left, Several) and left.operator == operator else [left]
    parts += right.parts if isinstance(right, Several) and right.operator == operator else [right]
    return Several(operator, tuple(parts))


def _digits(text: str) -> str:
    """The digits without zeros that say nothing.

    >>> _digits("01.80"), _digits("2."), _digits(".5"), _digits("000")
    ('1.8', '2', '0.5', '0')
    """
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
