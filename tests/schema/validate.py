"""Validates documents against a JSON Schema: validate.py SCHEMA <LINES (pip install jsonschema).

Each line of standard input is `valid`, `unknown` or `broken`, a space, and a document. The first two must be accepted.
Of a valid one, every member must also be one that the schema names: for that, each object of the schema is closed.
The others must be refused, by the closed schema (`unknown`: as it is, it lets members of new versions pass) or as it
is (`broken`). Prints what is otherwise, and then how many lines of each there were.
"""

import collections
import copy
import json
import sys

from jsonschema import Draft202012Validator


def close(schema):
    """Lets no object of `schema` have members that it does not name."""
    ahead = [schema]
    while ahead:
        at = ahead.pop()
        if isinstance(at, list):
            ahead.extend(at)
        elif isinstance(at, dict):
            ahead.extend(at.values())
            if at.get("type") == "object":
                at["unevaluatedProperties"] = False
    return schema


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    closed = Draft202012Validator(close(copy.deepcopy(schema)))
    schema = Draft202012Validator(schema)
    counts, wrong = collections.Counter(), 0
    for line in sys.stdin.buffer:
        expected, document = line.decode("utf-8").split(" ", 1)
        document = json.loads(document)
        counts[expected] += 1
        is_right = {
            "valid": lambda: closed.is_valid(document),
            "unknown": lambda: schema.is_valid(document) and not closed.is_valid(document),
            "broken": lambda: not schema.is_valid(document),
        }[expected]()
        if not is_right:
            wrong += 1
            why = next(closed.iter_errors(document), None)
            print(f"not {expected}: {line[:2000]!r}\n{why}"[:6000], file=sys.stderr)
    print(", ".join(f"{count} {expected}" for expected, count in sorted(counts.items())))
    sys.exit(wrong > 0)


main()
