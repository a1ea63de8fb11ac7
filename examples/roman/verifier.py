# Judges to_roman. This is no whole program but the body of a function with
# the parameters solution_path and test_cases_path: what it returns counts.
import importlib.util

KNOWN = {
    1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 90: "XC", 400: "CD",
    1994: "MCMXCIV", 2023: "MMXXIII", 3888: "MMMDCCCLXXXVIII",
    3999: "MMMCMXCIX", 500: "D",
}

spec = importlib.util.spec_from_file_location("solution", solution_path)
solution = importlib.util.module_from_spec(spec)
try:
    spec.loader.exec_module(solution)
except Exception as e:
    return {"score": 0.0, "passed": False, "error_type": "import_error",
            "details": "can't be loaded: " + str(e)[:200]}

cases = []
for number, expected in KNOWN.items():
    try:
        good = bool(solution.to_roman(number) == expected)
        error = None
    except Exception as e:
        good, error = False, str(e)[:200]
    cases.append({"id": str(number), "passed": good, "error": error})

right = sum(case["passed"] for case in cases)
return {
    "score": right / len(cases),
    "passed": right == len(cases),
    "details": f"{right} of {len(cases)} numbers are right",
    "metrics": {"right": right, "all": len(cases)},
    "cases": cases,
}
