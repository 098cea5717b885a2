"""Photograph the top of the example report for the front page.

Run by hand, when reports look different: ``make docs`` writes the report, and ``python
docs/screenshot.py`` writes ``docs/_static/report.png``, which is committed. It needs Chromium.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from chromium import Chromium, find_chromium

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT, SCALE = 1000, 800, 1.5


def main() -> None:
    program = find_chromium()
    if program is None:
        sys.exit("this needs Chromium on the path")
    with tempfile.TemporaryDirectory() as profile:
        browser = Chromium(program, profile)
        try:
            size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": False}
            browser.send("Emulation.setDeviceMetricsOverride", **size)
            browser.send("Emulation.setScrollbarsHidden", hidden=True)
            browser.open(HERE / "_static" / "example-report.html")
            picture = browser.send("Page.captureScreenshot", format="png")
        finally:
            browser.close()
    (HERE / "_static" / "report.png").write_bytes(base64.b64decode(picture["data"]))


if __name__ == "__main__":
    main()
