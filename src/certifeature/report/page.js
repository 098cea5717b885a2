"use strict";
// The page shows everything without this script. With it, features can be sorted and filtered,
// and the command copied. All that it knows it reads from the page.

function makeSortable(table) {
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  const collator = new Intl.Collator("en", { numeric: true });

  // What to sort a row by: undefined where the value is missing.
  function key(row, column, isNumber) {
    const cell = row.cells[column];
    const value = cell.dataset.value ?? cell.textContent;
    if (value === "") return undefined;
    return isNumber ? Number(value) : value;
  }

  function sort(header, column) {
    const descending = header.getAttribute("aria-sort") === "ascending";
    const isNumber = header.classList.contains("number");
    const compare = isNumber ? (a, b) => a - b : collator.compare;
    const sign = descending ? -1 : 1;
    const rows = [...body.rows].map((row) => [key(row, column, isNumber), row]);
    rows.sort(([a], [b]) => {
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
      return sign * compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
    for (const other of headers) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    table.parentElement.scrollTop = 0;
  }

  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(header, column));
    header.append(button);
  });
}

// Thousands of rows are laid out one by one when they come into view. For that they stop being
// table rows to the browser, so their roles are spelled out.
function makeLight(table) {
  if (table.tBodies[0].rows.length < 1000) return;
  const roles = { TABLE: "table", CAPTION: "caption", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row" };
  const cells = { col: "columnheader", row: "rowheader" };
  for (const part of [table, ...table.querySelectorAll("*")]) {
    const role = roles[part.tagName] ?? cells[part.scope] ?? (part.tagName === "TD" ? "cell" : "");
    if (role) part.setAttribute("role", role);
  }
  table.classList.add("light");
}

function makeFilter(table) {
  const controls = document.getElementById("filter-controls");
  const input = document.getElementById("filter");
  const count = document.getElementById("filter-count");
  const nothing = document.getElementById("filter-nothing");
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const texts = [...table.querySelectorAll("tbody tr")].map((row) => {
    const cells = row.querySelectorAll("th, .class:not([data-value])");
    return [row, plain([...cells].map((cell) => cell.textContent).join("\n"))];
  });

  function apply() {
    const wanted = plain(input.value.trim());
    let shown = 0;
    for (const [row, text] of texts) {
      const matches = text.includes(wanted);
      row.hidden = !matches;
      shown += matches;
    }
    const [part, all] = [shown, texts.length].map((value) => value.toLocaleString("en"));
    count.textContent = `${part} of ${all} shown`;
    nothing.hidden = shown > 0;
    table.parentElement.scrollTop = 0;
  }

  makeCopy(document.getElementById("copy-names"), () => {
    const shown = texts.filter(([row]) => !row.hidden).map(([row]) => row.cells[1].querySelector("bdi").textContent);
    return shown.join("\n") + "\n";
  });
  input.addEventListener("input", apply);
  controls.hidden = false;
  // Some browsers bring the text back when a page is loaded again.
  apply();
}

// Copies a text when a button is pressed, and says so on the button.
function makeCopy(button, text) {
  const label = button.textContent;

  // A page opened from disk is not everywhere allowed to use the clipboard directly.
  function copyTheOldWay(value) {
    const area = document.createElement("textarea");
    area.value = value;
    button.after(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }

  async function copy(value) {
    try {
      await navigator.clipboard.writeText(value);
      return true;
    } catch {
      return copyTheOldWay(value);
    }
  }

  button.addEventListener("click", async () => {
    button.textContent = (await copy(text())) ? "Copied" : "Could not copy";
    setTimeout(() => { button.textContent = label; }, 3000);
  });
  button.hidden = false;
}

for (const table of document.querySelectorAll("table.sortable")) {
  makeLight(table);
  makeSortable(table);
  makeFilter(table);
}
for (const button of document.querySelectorAll("button[data-copies]")) {
  const source = document.getElementById(button.dataset.copies);
  makeCopy(button, () => source.textContent);
}
