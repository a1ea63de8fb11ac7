#!/usr/bin/env python3
"""Judges a function by what it returns and by how it is written."""

import ast
import importlib.util
import inspect
import json
import sys

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp,
         ast.DictComp, ast.GeneratorExp)
FORBIDDEN = {"exec", "eval", "compile"}

CALLS = [
    (([1, 2, 3],), {}, 6),
    (([],), {}, 0),
    (([1, [2, [3]], []], 10), {}, 16),
    (([[[[]]]],), {"start": -4}, -4),
    (([-1, [-2, 3], 10**40],), {}, 10**40),
    ((list(range(200)),), {}, 19900),
]


def load_solution(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has_no_loops(path):
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    for node in ast.walk(tree):
        if isinstance(node, LOOPS):
            return False
        if isinstance(node, ast.Name) and node.id in FORBIDDEN:
            return False
    return True


def has_signature(function):
    parameters = list(inspect.signature(function).parameters.values())
    return ([p.name for p in parameters] == ["items", "start"]
            and parameters[0].default is inspect.Parameter.empty
            and parameters[1].default == 0)


def has_docstring(function):
    tree = ast.parse(inspect.getsource(function))
    return bool(ast.get_docstring(tree.body[0]))


def is_right(function, args, kwargs, expected):
    result = function(*args, **kwargs)
    return type(result) is int and result == expected


def holds(check, *args):
    """Whether a check comes out true, and why it could not be made."""
    try:
        return bool(check(*args)), None
    except Exception as e:
        return False, str(e)[:200]


def main():
    path = sys.argv[1]
    try:
        function = load_solution(path).total
    except Exception as e:
        print(json.dumps({"score": 0.0, "passed": False,
                          "error_type": "import_error",
                          "details": f"can't be loaded: {str(e)[:200]}"}))
        return 1

    checks = [("signature", has_signature, (function,)),
              ("docstring", has_docstring, (function,))]
    checks += [(f"call-{number}", is_right, (function, *call))
               for number, call in enumerate(CALLS)]
    cases = []
    for name, check, args in checks:
        good, error = holds(check, *args)
        cases.append({"id": name, "passed": good, "error": error})
    right = sum(case["passed"] for case in cases)
    share = right / len(cases)

    clean, error = holds(has_no_loops, path)
    score = share if clean else 0.0
    passed = clean and right == len(cases)
    details = f"{right} of {len(cases)} checks are right"
    if not clean:
        details += "; " + (error or "it has a loop")
    print(json.dumps({
        "schema_version": "1.0",
        "score": score,
        "passed": passed,
        "details": details,
        "reward_components": {"no_loops": float(clean), "checks": share},
        "cases": cases,
    }))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
