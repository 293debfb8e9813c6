#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the members of all answers, a line each: schema_keys.py FOLDER

"hyprof.zones/2 zones.count" is the member "count" of the rows of the table "zones".  FOLDER has JSON Schemas as docs/schemas.
"""
import json
import pathlib
import sys


def keys(schema):
    """The members of an object, and of the rows of its tables."""
    for key, value in schema["properties"].items():
        yield key
        rows = value.get("properties", {}).get("rows", {}).get("items", {}).get("properties", {})
        yield from (f"{key}.{member}" for member in rows)


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    name, version = path.stem.rsplit(".", 1)
    for member in keys(json.loads(path.read_text(encoding="utf-8"))):
        print(f"{name}/{version} {member}")
