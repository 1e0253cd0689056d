/** The keyboard: everything else works without this script. */

const search = document.getElementById("q");
const entries = [...document.querySelectorAll(".entry")];
const link = (selector) => document.querySelector(selector);
const NEXT_KEYS = { list: ["j", "ArrowDown"], decision: ["j", "ArrowRight"] };
const PREVIOUS_KEYS = { list: ["k", "ArrowUp"], decision: ["k", "ArrowLeft"] };
const page = search ? "list" : "decision";

/** Whether what is typed belongs to the element that has the focus. */
function isTyping(target) {
  return target.closest("input, select, textarea") !== null;
}

/** Move the focus in the list, and on to the next or previous page at its ends. */
function moveInList(step) {
  const place = entries.indexOf(document.activeElement);
  if (place < 0) {
    entries[0]?.focus();
    return;
  }
  const target = entries[place + step];
  if (target) target.focus();
  else link(step > 0 ? 'a[rel="next"]' : 'a[rel="prev"]')?.click();
}

function move(step) {
  if (page === "list") moveInList(step);
  else link(step > 0 ? 'a[rel="next"]' : 'a[rel="prev"]')?.click();
}

function startSearch() {
  if (search) {
    search.focus();
    search.select();
    return;
  }
  const back = link(".back");
  if (back?.dataset.search) location.assign(back.dataset.search);
}

/** Leave the search box, then what it found; leave a decision for the list. */
function goBack(target) {
  if (target === search) {
    search.blur();
    entries[0]?.focus();
    return;
  }
  if (page === "decision") link(".back")?.click();
  else if (location.search) location.assign("/");
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    goBack(event.target);
    return;
  }
  if (isTyping(event.target)) return;
  // The arrows scroll a wide table that has the focus.
  if (event.key.startsWith("Arrow") && event.target.closest(".wide")) return;
  if (event.key === "/") startSearch();
  else if (NEXT_KEYS[page].includes(event.key)) move(1);
  else if (PREVIOUS_KEYS[page].includes(event.key)) move(-1);
  else return;
  event.preventDefault();
});

for (const select of document.querySelectorAll("form select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

/** Empty fields do not have to be in the address. */
search?.form.addEventListener("formdata", (event) => {
  for (const [name, value] of [...event.formData]) {
    if (!value) event.formData.delete(name);
  }
});

if (location.hash === "#q") startSearch();
else if (location.hash.startsWith("#entry-")) {
  document.getElementById(location.hash.slice(1))?.focus();
}
