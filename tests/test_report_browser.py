"""Reports in a real browser: they sort, filter, copy and print, and nothing in them runs."""

import base64
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from chromium import Chromium, find_chromium
from estimates import comparison, contender, new_data, performed

from certifeature.certificate import APriori, Certificate, Realised
from certifeature.evaluation import Estimate
from certifeature.evaluation.engine import SizeSearch
from certifeature.report import Report, write_report
from certifeature.report.contents import Feature

HALF = Estimate(0.5, 0.4, 0.6)
pytestmark = [pytest.mark.ci, pytest.mark.slow]

EVIL = [
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    '"><svg onload="window.hit = 1">',
    "\u202eright to left\u2067",
    "x" * 10_000,
]
FEATURES = [
    Feature(1, "gene 10", 2.0, 0.5, "ill", "trusted"),
    Feature(2, "gene 9", 10.0, None, "well", "cover"),
    Feature(3, "Änne", 9.0, 0.25, None, "fixed"),
    Feature(4, "berta", 0.1, 1e-7, "ill", None),
]
NAMES = "[...document.querySelectorAll('.features tbody tr')].filter(row => row.checkVisibility())"
NAMES += ".map(row => row.cells[1].textContent)"
# The lowest contrast of a text that can be seen and the first ground behind it.
CONTRAST = """
(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return color.endsWith(", 0)") ? ground(element.parentElement) : color;
  };
  const texts = [...document.querySelectorAll("body *")].filter((element) =>
    element.checkVisibility() && element.tagName !== "SCRIPT" &&
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return Math.min(...texts.map((element) => {
    const pair = [light(getComputedStyle(element).color), light(ground(element))];
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  }));
})()
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium: browser tests skipped; install Debian's chromium")
    browser = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium, tmp_path):
    """A browser that can open reports, and in the end has nothing to complain about."""

    def show(report):
        write_report(report, tmp_path / "report.html")
        chromium.open(tmp_path / "report.html")

    chromium.show = show
    chromium.send("Emulation.setDeviceMetricsOverride", **size(1000))
    chromium.send("Emulation.setEmulatedMedia", media="", features=[])
    yield chromium
    # Asked first, so that all events before the answer have come.
    assert chromium.evaluate("window.hit === undefined")
    said = chromium.params_of(
        "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded"
    )
    assert said == []
    asked = [event["request"]["url"] for event in chromium.params_of("Network.requestWillBeSent")]
    assert len(asked) == 1
    assert asked[0].startswith("file:")


def size(width):
    return {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}


def full_report(names=("gene",)):
    """A report with all sections, and names wherever there can be one."""
    text = names[0]
    full = contender("full data", None, 9000.0, (0.1, 0.1), 0.0, 1.0)
    others = [
        contender(name, size, size, (0.1, 0.2), 1.0, 9.0)
        for name in ("bss", *names)
        for size in (30, 300)
    ]
    recalls = {text: HALF, "b": HALF}
    selected = performed(
        0.11, n_of_class={text: 9, "b": 9}, recalls=recalls, balanced_error=HALF, auc=HALF
    )
    search = SizeSearch((30, 300), np.array([[0.2, 0.3], [0.1, 0.12]]), np.ones(2))
    return Report(
        text,
        n_rows=60,
        classes={text: 46, "others": 14},
        preparation=names,
        certificate=Certificate(
            *("support", 50, 50, 9000, 300, True, 0.4, 1.8),
            Realised("hinge", 1.0, 1.0, 1.1, 2.0, 2.1, 1.0, 1.1),
            a_priori=APriori(text, 300, 50, 0.35, 1.98, 1.0),
            new_data=replace(new_data(), note=text, selected=selected, full=selected),
        ),
        features=[
            Feature(i, name, 1.0, 0.5, name, "trusted", i / len(names))
            for i, name in enumerate(names, 1)
        ],
        comparison=comparison(full, *others),
        search=search,
        asked={name: name for name in names},
        reproduction={"Command": "\n".join(names)} | {name: name for name in names},
    )


def test_click_sorts(browser):
    browser.show(Report("t", features=FEATURES))
    assert browser.evaluate(NAMES) == ["gene 10", "gene 9", "Änne", "berta"]
    orders = {
        "Rank": ["berta", "Änne", "gene 9", "gene 10"],
        "Feature": ["Änne", "berta", "gene 9", "gene 10"],
        "Weight": ["berta", "Änne", "gene 10", "gene 9"],
        "Class": ["berta", "gene 10", "gene 9", "Änne"],
        "Why": ["gene 9", "Änne", "gene 10", "berta"],
        "Scale": ["berta", "gene 10", "Änne", "gene 9"],
    }
    for column, (name, order) in enumerate(orders.items(), 1):
        browser.click(f".features thead th:nth-child({column}) button")
        assert browser.evaluate(NAMES) == order, name
    # Missing values stay last when the direction turns.
    browser.click(".features thead th:nth-child(5) button")
    browser.click(".features thead th:nth-child(5) button")
    assert browser.evaluate(NAMES) == ["gene 10", "Änne", "gene 9", "berta"]
    sorts = "[...document.querySelectorAll('thead th')].map(th => th.getAttribute('aria-sort'))"
    assert browser.evaluate(sorts) == [None, None, None, None, "descending", None]


def test_keys_sort(browser):
    browser.show(Report("t", features=FEATURES))
    browser.evaluate("document.getElementById('filter').focus()")
    # From the filter over two ways to take names away, the region that scrolls, rank and feature.
    for _ in range(6):
        browser.press("Tab")
    assert browser.evaluate("document.activeElement.textContent") == "Weight"
    assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("Enter", "\r")
    assert browser.evaluate(NAMES) == ["berta", "Änne", "gene 10", "gene 9"]
    browser.press(" ", " ")
    assert browser.evaluate(NAMES) == ["gene 10", "Änne", "berta", "gene 9"]
    assert browser.evaluate("document.activeElement.textContent") == "Weight"


def test_typing_filters(browser):
    def typed(text):
        browser.evaluate("document.getElementById('filter').select()")
        browser.send("Input.insertText", text=text)
        count = browser.evaluate("document.getElementById('filter-count').textContent")
        return browser.evaluate(NAMES), count

    browser.show(Report("t", features=FEATURES))
    assert typed("GENE") == (["gene 10", "gene 9"], "2 of 4 shown")
    assert typed("ill") == (["gene 10", "berta"], "2 of 4 shown")
    browser.click(".features thead th:nth-child(2) button")
    assert browser.evaluate(NAMES) == ["berta", "gene 10"]
    nothing = "document.getElementById('filter-nothing').checkVisibility()"
    assert not browser.evaluate(nothing)
    assert typed("zzz") == ([], "0 of 4 shown")
    assert browser.evaluate(nothing)
    # Paper shows all features and no controls.
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert len(browser.evaluate(NAMES)) == 4
    assert not browser.evaluate(nothing)
    assert not browser.evaluate("document.getElementById('filter').checkVisibility()")


def test_evil_names_do_nothing(browser):
    browser.show(full_report(EVIL))
    assert browser.evaluate("document.querySelectorAll('script').length") == 1
    # The last is the most frequent.
    shown = browser.evaluate(NAMES)[::-1]
    assert shown[:4] == EVIL[:4]
    assert shown[4:] == ["⟨U+202E⟩right to left⟨U+2067⟩", EVIL[5]]
    assert browser.evaluate("document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("width", [375, 768, 1200])
@pytest.mark.parametrize("names", [("gene",), EVIL], ids=["plain", "evil"])
def test_the_page_is_no_wider_than_the_screen(browser, width, names):
    browser.send("Emulation.setDeviceMetricsOverride", **size(width))
    browser.show(full_report(names))
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    # What is drawn stays inside, too.
    inside = "[...document.querySelectorAll('svg text, svg circle')].every(e => {"
    inside += "const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth})"
    assert browser.evaluate(inside)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_drawings_stand_out(browser, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.send("Emulation.setEmulatedMedia", features=[feature])
    browser.show(full_report())
    ground = browser.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (ground == "rgb(23, 25, 28)") == (scheme == "dark")
    assert browser.evaluate(CONTRAST) >= 4.5
    for part, style in {"circle": "fill", "text": "fill", ".interval": "stroke"}.items():
        color = f"getComputedStyle(document.querySelector('svg {part}')).{style}"
        light = sum(int(n) for n in re.findall("\\d+", browser.evaluate(color))[:3]) / 3
        assert (light > 128) == (scheme == "dark")


def test_what_scrolls_shows_it(browser):
    """A shade stands where there is more: the end of it is at the edge that hides columns."""
    browser.send("Emulation.setDeviceMetricsOverride", **size(375))
    browser.show(full_report())
    hidden = (
        "document.querySelector('.tall').scrollWidth > document.querySelector('.tall').clientWidth"
    )
    assert browser.evaluate(hidden)
    shades = "getComputedStyle(document.querySelector('.tall')).backgroundAttachment"
    assert browser.evaluate(shades) == "local, local, scroll, scroll"


def test_the_command_is_copied(browser):
    command = "certifeature select 'my data.csv' \\\n  --features 300"
    browser.show(Report("t", reproduction={"Command": command}))
    browser.send(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    browser.click("button[data-copies]")
    said = "new Promise(done => setTimeout(() => done(document.querySelector("
    said += "'button[data-copies]').textContent), 300))"
    assert browser.evaluate(said) == "Copied"
    assert browser.evaluate("navigator.clipboard.readText()") == command


def test_names_that_are_shown_are_copied(browser):
    browser.show(Report("t", features=FEATURES))
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    browser.send("Browser.grantPermissions", permissions=permissions)
    browser.evaluate("document.getElementById('filter').select()")
    browser.send("Input.insertText", text="gene")
    browser.click("#copy-names")
    said = "new Promise(done => setTimeout(() => done(document.getElementById("
    said += "'copy-names').textContent), 300))"
    assert browser.evaluate(said) == "Copied"
    assert browser.evaluate("navigator.clipboard.readText()") == "gene 10\ngene 9\n"


def test_the_table_is_downloaded(browser, tmp_path):
    browser.show(Report("t", features=FEATURES))
    browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.click("a[download]")
    path = tmp_path / "features.csv"
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert path.read_text(encoding="utf-8").splitlines()[1] == "1,gene 10,2.0,0.5,ill,trusted,,"


def test_the_answer_is_on_the_first_screen(browser):
    browser.send("Emulation.setDeviceMetricsOverride", **(size(1200) | {"height": 900}))
    browser.show(full_report())
    bottom = "document.querySelector('.beside').getBoundingClientRect().bottom"
    assert browser.evaluate(bottom) <= 900


def test_all_is_there_without_scripts(browser):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.show(full_report())
        assert browser.evaluate("document.querySelectorAll('section').length") == 6
        assert browser.evaluate("document.querySelectorAll('thead button').length") == 0
        dead = "[...document.querySelectorAll('button, input')].some(e => e.checkVisibility())"
        assert not browser.evaluate(dead)
        assert browser.evaluate(NAMES) == ["gene"]
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)


def test_thousands_of_features(browser):
    n = 5000
    features = [Feature(i, f"gene {i * 7919 % n}", float(i), i / n) for i in range(1, n + 1)]
    browser.show(Report("t", features=features))
    browser.click(".features thead th:nth-child(2) button")
    first = browser.evaluate(f"{NAMES}.slice(0, 3)")
    assert first == ["gene 0", "gene 1", "gene 2"]
    # The head of the table stays above the rows that scroll under it.
    browser.evaluate("document.querySelector('.tall').scrollTop = 1000")
    top = browser.evaluate(
        "(() => {const r = document.querySelector('thead button').getBoundingClientRect();"
        "return document.elementFromPoint(r.x + 2, r.y + 2).textContent})()"
    )
    assert top == "Rank"
    tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in tree if "role" in node]
    assert [roles.count(role) for role in ("table", "columnheader", "row")] == [1, 4, n + 1]
    # The browser adds the cells of further rows when they come into view.
    assert roles.count("rowheader") > 10


def test_it_prints(browser):
    browser.show(full_report())
    pdf = base64.b64decode(browser.send("Page.printToPDF")["data"])
    assert pdf.startswith(b"%PDF")
