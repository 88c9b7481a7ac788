"""Parser of templates into texts, actions and blocks, by the rules of Go's text/template."""

from collections.abc import Collection

from go_templates import syntax_tree
from go_templates.lexer import Token, TokenKind
from go_templates.pipelines import ActionParser


def parse_tree(text: str, *, functions: Collection[str]) -> syntax_tree.Tree:
    """Parse a template that may call these functions. Raise TemplateError."""
    return _Blocks(text, functions).run()


class _Blocks(ActionParser):
    def __init__(self, text: str, functions: Collection[str]) -> None:
        super().__init__(text, functions)
        self.ranges = 0
        self.defined: dict[str, tuple[syntax_tree.BodyNode, ...]] = {}

    def run(self) -> syntax_tree.Tree:
        found: list[syntax_tree.BodyNode] = []
        while self.peek().kind is not TokenKind.END:
            mark = self.at
            if self.next().kind is TokenKind.LEFT and self.next_word().is_keyword("define"):
                self.define()
                continue
            self.at = mark
            token = self.peek()
            node = self.node()
            if isinstance(node, str):
                raise self.unexpected(token, f"the template: {{{{{node}}}}} without a block")
            found.append(node)
        return syntax_tree.Tree(text=self.text, nodes=tuple(found), defined=self.defined)

    def body(self, context: str) -> tuple[tuple[syntax_tree.BodyNode, ...], str]:
        """Parse nodes up to `end` or `else`; return them and which of the two it was."""
        self.deeper()
        found: list[syntax_tree.BodyNode] = []
        while self.peek().kind is not TokenKind.END:
            node = self.node()
            if isinstance(node, str):
                self.depth -= 1
                return tuple(found), node
            found.append(node)
        raise self.wrong(f"unexpected EOF: {context} has no {{{{end}}}}")

    def node(self) -> syntax_tree.BodyNode | str:
        token = self.next()
        if token.kind is TokenKind.TEXT:
            return syntax_tree.TextNode(at=token.at, text=token.text)
        if token.kind is not TokenKind.LEFT:
            raise self.unexpected(token, "input")
        word = self.skip_space()
        if word.kind is not TokenKind.KEYWORD or word.text == "nil":
            pipeline = self.pipeline("command")
            return syntax_tree.ActionNode(at=word.at, pipeline=pipeline)
        self.next()
        match word.text:
            case "if" | "with" | "range":
                return self.control(word)
            case "end":
                self.expect(TokenKind.RIGHT, "end")
                return "end"
            case "else":
                if not any(self.skip_space().is_keyword(name) for name in ("if", "with")):
                    self.expect(TokenKind.RIGHT, "else")
                return "else"
            case "break" | "continue":
                self.expect(TokenKind.RIGHT, f"{{{{{word.text}}}}}")
                if not self.ranges:
                    raise self.wrong(f"{{{{{word.text}}}}} outside {{{{range}}}}", word.at)
                return (
                    syntax_tree.BreakNode(at=word.at)
                    if word.text == "break"
                    else syntax_tree.ContinueNode(at=word.at)
                )
            case "template":
                return self.invocation(word)
            case "block":
                return self.block(word)
            case _:
                raise self.unexpected(word, "command")

    def control(self, word: Token) -> syntax_tree.IfNode | syntax_tree.WithNode | syntax_tree.RangeNode:
        context = word.text
        known = len(self.variables)
        pipeline = self.pipeline(context)
        self.ranges += context == "range"
        then, stop = self.body(context)
        self.ranges -= context == "range"
        otherwise: tuple[syntax_tree.BodyNode, ...] | None = None
        if stop == "else":
            following = self.peek()
            if following.is_keyword(context) and context != "range":
                self.next()
                self.deeper()
                otherwise = (self.control(following),)
                self.depth -= 1
            else:
                otherwise, stop = self.body(context)
                if stop != "end":
                    raise self.wrong("expected end; found {{else}}")
        del self.variables[known:]
        match context:
            case "if":
                return syntax_tree.IfNode(at=word.at, pipeline=pipeline, then=then, otherwise=otherwise)
            case "with":
                return syntax_tree.WithNode(at=word.at, pipeline=pipeline, then=then, otherwise=otherwise)
            case _:
                return syntax_tree.RangeNode(at=word.at, pipeline=pipeline, then=then, otherwise=otherwise)

    def name(self, context: str) -> str:
        token = self.next_word()
        if token.kind not in (TokenKind.STRING, TokenKind.RAW):
            raise self.unexpected(token, context)
        return self.quoted(token)

    def define(self) -> None:
        name = self.name("define clause")
        self.expect(TokenKind.RIGHT, "define clause")
        self.apart(name, "define clause")

    def apart(self, name: str, context: str) -> None:
        """Parse the body of another template: it has its own `$` and none of the outer variables."""
        outer, ranges, self.variables, self.ranges = self.variables, self.ranges, ["$"], 0
        at = self.peek().at
        found, stop = self.body(context)
        if stop != "end":
            raise self.wrong(f"unexpected {{{{else}}}} in {context}")
        self.variables, self.ranges = outer, ranges
        is_empty = all(isinstance(node, syntax_tree.TextNode) and not node.text.strip() for node in found)
        if name in self.defined and self.defined[name] and not is_empty:
            raise self.wrong(f'multiple definition of template "{name}"', at)
        if name not in self.defined or not is_empty:
            self.defined[name] = () if is_empty else found

    def invocation(self, word: Token) -> syntax_tree.TemplateNode:
        name = self.name("template clause")
        if self.skip_space().kind is TokenKind.RIGHT:
            self.next()
            return syntax_tree.TemplateNode(at=word.at, name=name, pipeline=None)
        return syntax_tree.TemplateNode(at=word.at, name=name, pipeline=self.pipeline("template clause"))

    def block(self, word: Token) -> syntax_tree.TemplateNode:
        name = self.name("block clause")
        pipeline = self.pipeline("block clause")
        self.apart(name, "block clause")
        return syntax_tree.TemplateNode(at=word.at, name=name, pipeline=pipeline)
