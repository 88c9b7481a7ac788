"""Rendering of a template's tree: its blocks and pipelines, within limits of steps and length."""

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import repeat

from go_templates import syntax_tree
from go_templates.functions import FUNCTIONS, Environment, fits, in_go
from go_templates.printing import MAX_OUTPUT, format_value
from go_templates.reaching import called, checked, elements, field, printable_value
from go_templates.template_errors import RenderError, line_and_column
from go_templates.values import MISSING, Missing, Value, truth

MOST_STEPS = 50_000  # nodes visited and commands run per rendering
DEEPEST_CALLS = 30  # nested templates; at ten frames each they stay far below Python's limit


class _Leave(Enum):
    BREAK = "break"
    CONTINUE = "continue"


Pieces = list[tuple[syntax_tree.TextNode | syntax_tree.ActionNode, str]]


def render_tree(
    tree: syntax_tree.Tree, dot: Value, variables: Mapping[str, Value], world: Environment
) -> Pieces:
    """Return the text of a template, each piece with its node. Raise RenderError that starts with line and column."""
    run = _Run(tree, world)
    run.variables = [("$", dot), *variables.items()]
    try:
        run.walk(tree.nodes, dot)
    except RenderError as error:
        line, column = line_and_column(tree.text, run.at)
        raise RenderError(f"{line}:{column}: {error}") from None
    except RecursionError:
        raise RenderError("blocks and templates are nested too deep") from None
    return run.out


class _Run:
    def __init__(self, tree: syntax_tree.Tree, world: Environment) -> None:
        self.tree = tree
        self.world = world
        self.variables: list[tuple[str, Value]] = []
        self.out: Pieces = []
        self.length = 0
        self.steps = 0
        self.calls = 0
        self.at = 0

    def step(self, at: int) -> None:
        self.at = at
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise RenderError(f"more than {MOST_STEPS} steps")

    def write(self, node: syntax_tree.TextNode | syntax_tree.ActionNode, text: str) -> None:
        self.length += len(text)
        if self.length > MAX_OUTPUT:
            raise RenderError(f"the text is longer than {MAX_OUTPUT} characters")
        self.out.append((node, text))

    def walk(self, body: Sequence[syntax_tree.BodyNode], dot: Value) -> _Leave | None:
        for node in body:
            self.step(node.at)
            if leave := self.walk_one(node, dot):
                return leave
        return None

    def walk_one(self, node: syntax_tree.BodyNode, dot: Value) -> _Leave | None:
        match node:
            case syntax_tree.TextNode():
                self.write(node, node.text)
            case syntax_tree.ActionNode():
                value = self.pipeline(node.pipeline, dot)
                if not node.pipeline.variables:
                    self.write(node, "<no value>" if value is None else printable_value(value))
            case syntax_tree.IfNode() | syntax_tree.WithNode():
                known = len(self.variables)
                value = self.pipeline(node.pipeline, dot)
                chosen = node.then if truth(value) else node.otherwise or ()
                inner = value if isinstance(node, syntax_tree.WithNode) and truth(value) else dot
                leave = self.walk(chosen, inner)
                del self.variables[known:]
                return leave
            case syntax_tree.RangeNode():
                return self.walk_range(node, dot)
            case syntax_tree.BreakNode():
                return _Leave.BREAK
            case syntax_tree.ContinueNode():
                return _Leave.CONTINUE
            case syntax_tree.TemplateNode():
                self.invoke(node, dot)
        return None

    def walk_range(self, node: syntax_tree.RangeNode, dot: Value) -> _Leave | None:
        known = len(self.variables)
        value = self.pipeline(node.pipeline, dot)
        names, assigns = node.pipeline.variables, node.pipeline.assigns
        mark = len(self.variables)
        count = 0
        for key, element in elements(value, len(names)):
            count += 1
            self.step(node.at)
            # One variable gets the element; of two, the first gets the key.
            for name, given in zip(names, (element,) if len(names) == 1 else (key, element), strict=False):
                self.assign(name, given, declared_below=None if assigns else mark)
            leave = self.walk(node.then, element)
            del self.variables[mark:]
            if leave is _Leave.BREAK:
                break
        leave = self.walk(node.otherwise or (), dot) if not count else None
        del self.variables[known:]
        return leave

    def invoke(self, node: syntax_tree.TemplateNode, dot: Value) -> None:
        if node.name not in self.tree.defined:
            raise RenderError(f'template "{node.name}" not defined')
        inner = self.pipeline(node.pipeline, dot) if node.pipeline else None
        self.calls += 1
        if self.calls > DEEPEST_CALLS:
            raise RenderError(f"templates are nested deeper than {DEEPEST_CALLS}")
        outer, self.variables = self.variables, [("$", inner)]
        self.walk(self.tree.defined[node.name], inner)
        self.variables = outer
        self.calls -= 1

    def assign(self, name: str, value: Value, *, declared_below: int | None) -> None:
        """Set the innermost variable of that name, with `declared_below` only among those declared before it."""
        end = len(self.variables) if declared_below is None else declared_below
        for place in range(end - 1, -1, -1):
            if self.variables[place][0] == name:
                self.variables[place] = (name, value)
                return
        raise RenderError(f"undefined variable: {name}")

    def pipeline(self, pipe: syntax_tree.PipeNode, dot: Value) -> Value:
        value: Value = MISSING
        for command in pipe.commands:
            self.step(command.at)
            value = self.command(command, dot, value)
        for name in pipe.variables:
            if pipe.assigns:
                self.assign(name, value, declared_below=None)
            else:
                self.variables.append((name, value))
        return value

    def command(self, command: syntax_tree.CommandNode, dot: Value, final: Value) -> Value:
        first, *arguments = command.operands
        match first:
            case syntax_tree.FieldNode():
                return self.chain(dot, first.names, arguments, final, dot)
            case syntax_tree.ChainNode():
                return self.chain(self.operand(first.of, dot), first.names, arguments, final, dot)
            case syntax_tree.IdentifierNode():
                return self.call(first, arguments, final, dot)
            case syntax_tree.VariableNode() if first.names:
                return self.chain(self.variable(first.name), first.names, arguments, final, dot)
        if arguments or not isinstance(final, Missing):
            raise RenderError("can't give argument to non-function")
        if isinstance(first, syntax_tree.NilNode):
            raise RenderError("nil is not a command")
        return self.operand(first, dot)

    def operand(self, node: syntax_tree.Operand, dot: Value) -> Value:
        """Return an operand's value where any type is accepted."""
        self.at = node.at
        match node:
            case syntax_tree.DotNode():
                return dot
            case syntax_tree.NilNode():
                return None
            case syntax_tree.ConstantNode():
                if isinstance(node.value, int) and not isinstance(node.value, bool) and node.value >= 2**63:
                    raise RenderError(f"{node.value} overflows int")
                return node.value
            case syntax_tree.FieldNode():
                return self.chain(dot, node.names, (), MISSING, dot)
            case syntax_tree.VariableNode():
                return self.chain(self.variable(node.name), node.names, (), MISSING, dot)
            case syntax_tree.ChainNode():
                if isinstance(node.of, syntax_tree.NilNode):
                    raise RenderError("indirection through explicit nil")
                return self.chain(self.operand(node.of, dot), node.names, (), MISSING, dot)
            case syntax_tree.IdentifierNode():
                return self.call(node, (), MISSING, dot)
            case syntax_tree.PipeNode():
                return self.pipeline(node, dot)

    def variable(self, name: str) -> Value:
        for known, value in reversed(self.variables):
            if known == name:
                return value
        raise RenderError(f"undefined variable: {name}")

    def chain(
        self,
        value: Value,
        names: Sequence[str],
        arguments: Sequence[syntax_tree.Operand],
        final: Value,
        dot: Value,
    ) -> Value:
        for place, name in enumerate(names):
            is_last = place == len(names) - 1
            given = [self.operand(argument, dot) for argument in arguments] if is_last else []
            if is_last and not isinstance(final, Missing):
                given.append(final)
            value = field(value, name, given)
        return value

    def call(
        self,
        node: syntax_tree.IdentifierNode,
        arguments: Sequence[syntax_tree.Operand],
        final: Value,
        dot: Value,
    ) -> Value:
        name, native = node.name, FUNCTIONS[node.name]
        has_final = not isinstance(final, Missing)
        count = len(arguments) + has_final
        if count < len(native.takes) or (native.more is None and count > len(native.takes)):
            wanted = f"at least {len(native.takes)}" if native.more else str(len(native.takes))
            raise RenderError(f"wrong number of args for {name}: want {wanted} got {count}")
        if name in ("and", "or"):
            value = None
            for argument in arguments:
                value = self.operand(argument, dot)
                if truth(value) == (name == "or"):
                    return value
            return final if has_final else value
        kinds = [*native.takes, *repeat(native.more or "any", max(0, count - len(native.takes)))]
        given = [self.argument(one, kind, dot) for one, kind in zip(arguments, kinds, strict=False)]
        if has_final:
            given.append(checked(final, kinds[-1]))
        self.at = node.at
        return called(name, native, self.world, given)

    def argument(self, node: syntax_tree.Operand, kind: str, dot: Value) -> Value:
        if kind != "any" and isinstance(node, syntax_tree.ConstantNode) and not fits(node.value, kind):
            raise RenderError(f"expected {in_go(kind)}; found {format_value(node.value)}")
        if isinstance(node, syntax_tree.NilNode) and not fits(None, kind):
            raise RenderError(f"cannot assign nil to {in_go(kind)}")
        return checked(self.operand(node, dot), kind)
