// Tables sort by a click on a column's head, and long ones filter by what is typed above them.
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0];
  const rows = () => [...body.rows];
  const value = (row, at) => row.cells[at].textContent.trim();
  const sort = (head, at) => {
    const down = head.ariaSort !== "descending";
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.ariaSort = down ? "descending" : "ascending";
    const compare = (one, other) => {
      const [a, b] = [value(one, at), value(other, at)];
      const [x, y] = [parseFloat(a), parseFloat(b)];
      if (isNaN(x) || isNaN(y)) return isNaN(x) && isNaN(y) ? b.localeCompare(a) : isNaN(x) ? 1 : -1;
      return down ? y - x : x - y;
    };
    body.append(...rows().sort(compare));
  };
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(head, at));
    head.addEventListener("keydown", event => event.key === "Enter" && sort(head, at));
  });
  if (body.rows.length < 12) continue;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "filter rows";
  field.setAttribute("aria-label", "filter rows");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows()) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
  });
  table.parentElement.before(field);
}
