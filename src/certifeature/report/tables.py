"""What a report shows in tables and charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from operator import attrgetter
from typing import Any

from certifeature._files import csv_text
from certifeature.report.contents import Feature, in_groups
from certifeature.report.text import decimals

Row = dict[str, Any]


def feature_rows(features: Sequence[Feature]) -> list[Row]:
    """Return features as rows, those that were chosen most often first, then by rank.

    Numbers are there as shown, and exactly, to sort by. A group of columns is one row.
    """
    rows = [vars(feature) | {"columns": columns} for feature, columns in in_groups(features)]
    rows.sort(key=lambda row: -(row["frequency"] or 0.0))
    for name in ("scale", "weight"):
        values = [row[name] for row in rows]
        for place, (value, text) in enumerate(zip(values, decimals(values), strict=True)):
            exact = "" if value is None or not math.isfinite(value) else repr(float(value))
            rows[place] = rows[place] | {name: text, f"exact_{name}": exact}
    return rows


def features_csv(features: Sequence[Feature]) -> str:
    """Return the chosen columns by rank as CSV, in which no name can become a formula."""
    header = ("rank", "feature", "scale", "weight", "points_to", "why", "frequency", "group")
    table = [header, *map(astuple, sorted(features, key=attrgetter("rank")))]
    has_groups = any(f.group for f in features)
    return csv_text(row if has_groups else row[:-1] for row in table)
