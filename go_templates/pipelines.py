"""Parser of the tokens within an action: pipelines, commands, operands, and calls of known functions."""

from collections.abc import Collection

from go_templates import syntax_tree
from go_templates.lexer import Token, TokenKind, tokens
from go_templates.numbers import character, parse_number, unquoted
from go_templates.template_errors import TemplateError, line_and_column

VARIABLES = (
    "$labels",
    "$externalLabels",
    "$externalURL",
    "$value",
)  # declared by Prometheus before the template's text
DEEPEST = 50  # maximum nesting of parentheses and blocks
_OPERANDS = (
    *(TokenKind.BOOL, TokenKind.CHARACTER, TokenKind.DOT, TokenKind.FIELD, TokenKind.WORD, TokenKind.NUMBER),
    *(TokenKind.RAW, TokenKind.STRING, TokenKind.VARIABLE),
)


class ActionParser:
    """Parses what is between delimiters. Every method raises TemplateError for what Go would reject."""

    def __init__(self, text: str, functions: Collection[str]) -> None:
        self.text = text
        self.functions = functions
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.variables = ["$", *VARIABLES]

    def wrong(self, what: str, at: int | None = None) -> TemplateError:
        line, column = line_and_column(self.text, self.peek().at if at is None else at)
        return TemplateError(what, line=line, column=column)

    def unexpected(self, token: Token, context: str) -> TemplateError:
        shown = "end of the template" if token.kind is TokenKind.END else f"`{token.text[:40]}`"
        return self.wrong(f"unexpected {shown} in {context}", token.at)

    def next(self) -> Token:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def peek(self) -> Token:
        return self.tokens[self.at]

    def skip_space(self) -> Token:
        while self.peek().kind is TokenKind.SPACE:
            self.at += 1
        return self.peek()

    def next_word(self) -> Token:
        self.skip_space()
        return self.next()

    def expect(self, kind: TokenKind, context: str) -> Token:
        if (token := self.next_word()).kind is not kind:
            raise self.unexpected(token, context)
        return token

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(f"nested deeper than {DEEPEST}")

    def pipeline(self, context: str, *, in_parentheses: bool = False) -> syntax_tree.PipeNode:
        start = self.skip_space().at
        variables, assigns = self.declarations(context)
        commands: list[syntax_tree.CommandNode] = []
        while True:
            token = self.skip_space()
            if token.is_mark(")") if in_parentheses else token.kind is TokenKind.RIGHT:
                self.next()
                break
            if not (token.kind in _OPERANDS or token.is_mark("(") or token.is_keyword("nil")):
                raise self.unexpected(token, context)
            commands.append(self.command())
        if not commands:
            raise self.wrong(f"missing value for {context}", start)
        for stage, command in enumerate(commands[1:], start=2):
            if isinstance(
                command.operands[0], syntax_tree.ConstantNode | syntax_tree.DotNode | syntax_tree.NilNode
            ):
                raise self.wrong(f"non executable command in pipeline stage {stage}", command.at)
        return syntax_tree.PipeNode(at=start, commands=tuple(commands), variables=variables, assigns=assigns)

    def declarations(self, context: str) -> tuple[tuple[str, ...], bool]:
        found: list[str] = []
        while self.skip_space().kind is TokenKind.VARIABLE:
            mark, variable = self.at, self.next()
            following = self.skip_space()
            if following.is_mark(":=") or following.is_mark("="):
                self.next()
                found.append(variable.text)
                self.variables.append(variable.text)
                return tuple(found), following.text == "="
            if not following.is_mark(","):
                self.at = mark
                break
            self.next()
            found.append(variable.text)
            self.variables.append(variable.text)
            if context != "range" or len(found) > 1:
                raise self.wrong(f"too many declarations in {context}", variable.at)
            if self.skip_space().kind is not TokenKind.VARIABLE:
                raise self.wrong("range can only initialize variables")
        if found:
            raise self.unexpected(self.peek(), context)
        return (), False

    def command(self) -> syntax_tree.CommandNode:
        start = self.skip_space().at
        operands: list[syntax_tree.Operand] = []
        while True:
            self.skip_space()
            if (operand := self.operand()) is not None:
                operands.append(operand)
            token = self.next()
            if token.kind is TokenKind.SPACE:
                continue
            if token.kind is TokenKind.RIGHT or token.is_mark(")"):
                self.at -= 1
            elif not token.is_mark("|"):
                raise self.unexpected(token, "operand")
            break
        if not operands:
            raise self.wrong("empty command", start)
        return syntax_tree.CommandNode(at=start, operands=tuple(operands))

    def operand(self) -> syntax_tree.Operand | None:
        term = self.term()
        if term is None or self.peek().kind is not TokenKind.FIELD:
            return term
        names: list[str] = []
        while self.peek().kind is TokenKind.FIELD:
            names.append(self.next().text[1:])
        if isinstance(term, syntax_tree.FieldNode):
            return syntax_tree.FieldNode(at=term.at, names=(*term.names, *names))
        if isinstance(term, syntax_tree.VariableNode):
            return syntax_tree.VariableNode(at=term.at, name=term.name, names=tuple(names))
        if isinstance(term, syntax_tree.ConstantNode | syntax_tree.DotNode | syntax_tree.NilNode):
            raise self.wrong("unexpected . after term", term.at)
        return syntax_tree.ChainNode(at=term.at, of=term, names=tuple(names))

    def term(self) -> syntax_tree.Operand | None:
        token = self.skip_space()
        if token.is_mark("("):
            self.next()
            self.deeper()
            inner = self.pipeline("parenthesized pipeline", in_parentheses=True)
            self.depth -= 1
            return inner
        if token.is_keyword("nil"):
            self.next()
            return syntax_tree.NilNode(at=token.at)
        if token.kind not in _OPERANDS:
            return None
        self.next()
        return self.simple(token)

    def simple(self, token: Token) -> syntax_tree.Operand:
        match token.kind:
            case TokenKind.WORD:
                if token.text not in self.functions:
                    raise self.wrong(f'function "{token.text}" not defined', token.at)
                return syntax_tree.IdentifierNode(at=token.at, name=token.text)
            case TokenKind.DOT:
                return syntax_tree.DotNode(at=token.at)
            case TokenKind.FIELD:
                return syntax_tree.FieldNode(at=token.at, names=(token.text[1:],))
            case TokenKind.VARIABLE:
                if token.text not in self.variables:
                    raise self.wrong(f'undefined variable "{token.text}"', token.at)
                return syntax_tree.VariableNode(at=token.at, name=token.text)
            case TokenKind.BOOL:
                return syntax_tree.ConstantNode(at=token.at, value=token.text == "true")
            case TokenKind.STRING | TokenKind.RAW:
                return syntax_tree.ConstantNode(at=token.at, value=self.quoted(token))
            case _:
                return self.numeric(token)

    def numeric(self, token: Token) -> syntax_tree.ConstantNode:
        try:
            return (character if token.kind is TokenKind.CHARACTER else parse_number)(token.text, token.at)
        except ValueError as error:
            raise self.wrong(str(error), token.at) from None

    def quoted(self, token: Token) -> str:
        if token.kind is TokenKind.RAW:
            return token.text[1:-1].replace("\r", "")
        try:
            return unquoted(token.text)
        except ValueError as error:
            raise self.wrong(str(error), token.at) from None
