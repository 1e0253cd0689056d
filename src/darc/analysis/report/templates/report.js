// Tables sort by a click on a column's head, and long ones filter by what is typed above them.

const MIN_ROWS_TO_FILTER = 12;

function cellText(row, column) {
  return row.cells[column].textContent.trim();
}

// Numbers come before texts. Numbers go in the wanted direction, texts always from z to a.
function compareCells(left, right, descending) {
  const leftNumber = parseFloat(left);
  const rightNumber = parseFloat(right);
  const leftIsText = isNaN(leftNumber);
  const rightIsText = isNaN(rightNumber);
  if (leftIsText && rightIsText) return right.localeCompare(left);
  if (leftIsText) return 1;
  if (rightIsText) return -1;
  return descending ? rightNumber - leftNumber : leftNumber - rightNumber;
}

function sortTable(table, head, column) {
  const descending = head.ariaSort !== "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.ariaSort = descending ? "descending" : "ascending";
  const body = table.tBodies[0];
  const rows = [...body.rows];
  rows.sort((left, right) =>
    compareCells(cellText(left, column), cellText(right, column), descending));
  body.append(...rows);
}

function addSorting(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sortTable(table, head, column));
    head.addEventListener("keydown", event => {
      if (event.key === "Enter") sortTable(table, head, column);
    });
  });
}

// A row is shown if it has every word that was typed.
function addFilter(table) {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "filter rows";
  field.setAttribute("aria-label", "filter rows");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
  });
  table.parentElement.before(field);
}

for (const table of document.querySelectorAll("table.sorts")) {
  addSorting(table);
  if (table.tBodies[0].rows.length >= MIN_ROWS_TO_FILTER) addFilter(table);
}
