"""The layers: imports go downwards only, torch stays in its corner, and a light start stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("reweight", "proofs_check", "tabular_sims")

# Top to bottom. A part may import its own row and the rows below; rollouts, store and testing stand beside the
# library's upper rows and see what updates sees. `reweight` alone is the front: the names that users import.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("reweight.cli",),
    ("proofs_check", "tabular_sims"),
    ("reweight",),
    ("reweight.plots", "reweight.reports", "reweight.forecasting", "reweight.audit", "reweight.conformance"),
    ("reweight.emitting",),
    ("reweight.dynamics",),
    ("reweight.rollouts", "reweight.store", "reweight.testing"),
    ("reweight.bounds", "reweight.measures", "reweight.updates"),
    ("reweight.groups",),
    ("reweight.objectives", "reweight.policies"),
    ("reweight.problems",),
    ("reweight.kernels",),
    ("reweight.checks", "reweight.errors", "reweight.files", "reweight.terminal"),
)
HEIGHT = {part: -row for row, parts in enumerate(LAYERS) for part in parts}
TORCH_PLACES = ("reweight.policies.transformer", "reweight.conformance", "tabular_sims.bridge")
HEAVY = ("torch", "cvxpy", "sympy", "matplotlib", "numba", "pyarrow", "xarray")


def sources(root: Path) -> dict[str, Path]:
    """Every module of the three packages by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(tree: ast.Module) -> list[tuple[str, int]]:
    """(dotted name, line) of every import of a file, wherever it stands; `from a import b` counts as a.b."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            found += [(arg.value, node.lineno) for arg in node.args[:1] if isinstance(arg, ast.Constant)]
    return found


def part_of(name: str, modules: dict[str, Path]) -> str:
    """The part of the table that a dotted name of ours belongs to: its first two words, or the front of its package."""
    words = name.split(".")
    if words[0] == "reweight" and len(words) > 1 and ".".join(words[:2]) in modules:
        return ".".join(words[:2])
    return words[0]


def arrows(root: Path) -> dict[tuple[str, str], list[str]]:
    """(importing part, imported part) -> where."""
    modules = sources(root)
    found: dict[tuple[str, str], list[str]] = {}
    for module, path in modules.items():
        for name, line in imports(ast.parse(path.read_text(encoding="utf-8"))):
            if name.split(".")[0] in PACKAGES:
                ends = part_of(module, modules), part_of(name, modules)
                found.setdefault(ends, []).append(f"{path.relative_to(root)}:{line}: imports {name}")
    return found


def upward(root: Path) -> list[str]:
    """Where a part imports one that stands higher, or one that the table doesn't name."""
    return [
        place
        for (importer, imported), places in arrows(root).items()
        for place in places
        if importer not in HEIGHT or imported not in HEIGHT or HEIGHT[importer] < HEIGHT[imported]
    ]


def torch_out_of_place(root: Path) -> list[str]:
    """Where torch is imported at a module's top, or outside its places."""
    wrong = []
    for module, path in sources(root).items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = (
                    [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                )
                at_home = any(module == place or module.startswith(f"{place}.") for place in TORCH_PLACES)
                if any(name.split(".")[0] == "torch" for name in names) and not (at_home and id(node) in inner):
                    wrong.append(f"{path.relative_to(root)}:{node.lineno}")
    return wrong


def plant(root: Path, module: str, text: str) -> None:
    """Write one module, and the packages above it, into an empty tree."""
    path = root / Path(*module.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in [path.parent, *path.parent.parents]:
        if folder == root:
            break
        (folder / "__init__.py").touch()
    path.write_text(text, encoding="utf-8")


def test_imports_go_downwards_only() -> None:
    assert arrows(ROOT), "no import was read"
    assert upward(ROOT) == []


def test_no_two_parts_import_each_other() -> None:
    graph: dict[str, set[str]] = {}
    for importer, imported in arrows(ROOT):
        if importer != imported:
            graph.setdefault(importer, set()).add(imported)
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize(
    "text",
    [
        "from reweight.dynamics import run",
        "import reweight.dynamics",
        "from reweight import dynamics",
        "def f():\n    from reweight.dynamics.flows import flow",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import reweight.dynamics as d",
        "from importlib import import_module\nimport_module('reweight.dynamics')",
        "import proofs_check",
        "from reweight import run",
        "import reweight.unheard_of",
    ],
)
def test_a_planted_upward_arrow_is_caught(tmp_path: Path, text: str) -> None:
    plant(tmp_path, "reweight.dynamics.flows", "from reweight.groups import gap\n")
    plant(tmp_path, "reweight.groups.gap", "")
    plant(tmp_path, "reweight.unheard_of", "")
    assert upward(tmp_path) == []
    plant(tmp_path, "reweight.groups.gap", text)
    assert len(upward(tmp_path)) == 1


def test_torch_is_imported_only_in_functions_of_its_places() -> None:
    assert torch_out_of_place(ROOT) == []


@pytest.mark.parametrize(
    ("module", "text", "caught"),
    [
        ("reweight.policies.transformer", "def f():\n    import torch", False),
        ("reweight.policies.transformer", "from torch import nn", True),
        ("tabular_sims.bridge.train", "def f():\n    from torch.nn import functional", False),
        ("reweight.policies.flat", "def f():\n    import torch", True),
        ("reweight.policies.flat", "import torchless", False),
    ],
)
def test_torch_out_of_place_is_caught(tmp_path: Path, module: str, text: str, caught: bool) -> None:
    plant(tmp_path, module, text)
    assert bool(torch_out_of_place(tmp_path)) is caught


def heavy_after(statements: str) -> list[str]:
    """The heavy packages that a fresh interpreter has loaded after some statements."""
    code = f"import sys\n{statements}\nprint('loaded:', *sorted({set(HEAVY)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.splitlines()[-1].removeprefix("loaded:").split()


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert heavy_after("import reweight") == []


def test_the_help_loads_nothing_heavy() -> None:
    help_page = (
        "sys.argv = ['reweight', '--help']\nfrom reweight.cli import main\n"
        "try: main()\nexcept SystemExit as stop: assert not stop.code"
    )
    assert heavy_after(help_page) == []


def test_a_heavy_import_is_seen() -> None:
    assert heavy_after("import sympy") == ["sympy"]
