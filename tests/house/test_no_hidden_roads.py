"""No function is set into another object: a dependency that no constructor, argument or import shows."""

import ast
from collections.abc import Iterator, Mapping

from tests.house.conftest import ROOT, tracked

PRODUCT = ("collectors/*.py", "alerts/*.py", "commands/*.py", "bot/*.py")
OWN = {"self", "cls"}
ALLOWED = {
    "bot/cli/log_setup.py: sys.unraisablehook",  # of Python: what it would print otherwise, outside the log
    "bot/cli/log_setup.py: threading.excepthook",  # likewise
    "commands/core/parsing.py: shell.callback",  # of click: the command of one parse, made two lines above
}


def functions_held(modules: Mapping[str, ast.AST]) -> set[str]:
    """Return the attributes that hold a function in some class: declared as one, or called and no method."""
    held: set[str] = set()
    methods: set[str] = set()
    called: set[str] = set()
    for module in modules.values():
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                methods.add(node.name)
            elif isinstance(node, ast.AnnAssign) and "Callable" in ast.unparse(node.annotation):
                if isinstance(node.target, ast.Attribute):
                    held.add(node.target.attr)
                elif isinstance(node.target, ast.Name):
                    held.add(node.target.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called.add(node.func.attr)
    return held | (called - methods)


def values_declared(module: ast.AST) -> set[str]:
    """Return the fields that a class of this module declares as something other than a function."""
    return {
        node.target.id
        for node in ast.walk(module)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and "Callable" not in ast.unparse(node.annotation)
    }


def set_from_outside(modules: Mapping[str, ast.AST]) -> Iterator[str]:
    """Return `file: object.attribute` for each function that is assigned to another object's attribute."""
    held = functions_held(modules)
    for path, module in modules.items():
        values = values_declared(module)
        for node in ast.walk(module):
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for one in ast.walk(target):
                    if (
                        isinstance(one, ast.Attribute)
                        and isinstance(one.ctx, ast.Store)
                        and not (isinstance(one.value, ast.Name) and one.value.id in OWN)
                        and (
                            (one.attr in held and one.attr not in values)
                            or isinstance(node.value, ast.Lambda)
                        )
                    ):
                        yield f"{path}: {ast.unparse(one)}"


def test_no_function_is_set_into_another_object() -> None:
    modules = {str(path): ast.parse((ROOT / path).read_text()) for path in tracked(*PRODUCT)}
    assert set(set_from_outside(modules)) == ALLOWED, (
        "pass it to the constructor or to the call, or let the object's own method take it"
    )


def planted(*texts: str) -> list[str]:
    return list(set_from_outside({f"{number}.py": ast.parse(text) for number, text in enumerate(texts)}))


ROUTER = """
class Router:
    def __init__(self):
        self.instead = lambda query: None
        self.at: datetime | None = None

    def query(self):
        return self.instead(self.at)
"""


def test_a_function_that_another_class_sets_is_found() -> None:
    user = "class User:\n    def __init__(self, router):\n        router.instead = self._instead\n"
    assert planted(ROUTER, user) == ["1.py: router.instead"]
    assert planted(ROUTER, "def wire(user):\n    user.router.instead = other") == [
        "1.py: user.router.instead"
    ]


def test_a_lambda_that_is_set_into_another_object_is_found() -> None:
    assert planted("router.anything = lambda: 1") == ["0.py: router.anything"]


def test_a_value_may_be_set_into_another_object() -> None:
    assert planted(ROUTER, "def move(router, now):\n    router.at = now") == []
