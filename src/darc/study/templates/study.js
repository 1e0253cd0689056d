// Keys, autosave and sending again after a lost connection. Without this file the form still works.
"use strict";

const form = document.getElementById("answer");
const notice = document.getElementById("notice");
const home = form.dataset.root + "/";
const kept = "darc-study:" + form.elements.task.value + ":" + form.elements.revision.value;
const comment = form.elements.comment;
let sending = false, skipping = false;

function radios() { return Array.from(form.querySelectorAll("input[name=answer]")); }
function chosen() { return radios().find((radio) => radio.checked); }
function fields() {
  const found = new URLSearchParams(new FormData(form));
  if (skipping) found.set("skip", "yes");
  return found;
}

function remember(value, name = kept) { try { localStorage.setItem(name, value); } catch (problem) { /* none */ } }
function recall(name = kept) { try { return localStorage.getItem(name); } catch (problem) { return null; } }
function forget() {
  try { [kept, kept + ":comment"].forEach((name) => localStorage.removeItem(name)); } catch (problem) { /* none */ }
}

function choose(value) {
  const radio = radios().find((each) => each.value === value);
  if (!radio) return;
  radio.checked = true;
  radio.focus();
  autosave();
}

async function autosave() {
  if (comment) remember(comment.value, kept + ":comment");
  if (!chosen()) return;
  remember(chosen().value);
  try {
    await fetch(form.dataset.root + "/draft", { method: "POST", body: fields() });
  } catch (problem) { /* it is kept in the browser, and sent with the answer */ }
}

async function send(attempt) {
  let why = "No connection.";
  try {
    const reply = await fetch(form.action, { method: "POST", body: fields(), redirect: "manual" });
    if (reply.type === "opaqueredirect") {
      forget();
      window.location.assign(home);
      return;
    }
    if (reply.status < 500 && reply.status !== 429) { form.submit(); return; }
    why = "The study cannot save answers at the moment.";
  } catch (problem) { /* no connection: try again */ }
  notice.textContent = why + " Your answer is kept here and will be sent again.";
  window.setTimeout(() => send(attempt + 1), Math.min(15000, 500 * 2 ** attempt));
}

form.addEventListener("change", autosave);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  skipping = Boolean(event.submitter) && event.submitter.name === "skip";
  if (sending || !(skipping || chosen())) return;
  sending = true;
  notice.textContent = "";
  if (chosen()) remember(chosen().value);
  send(0);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target === comment) return;
  const pair = radios().some((radio) => radio.value === "left");
  const moves = pair
    ? { ArrowLeft: "left", ArrowRight: "right", t: "tie", T: "tie" }
    : { x: "10", X: "10" };
  const value = moves[event.key] || (!pair && /^[0-9]$/.test(event.key) ? event.key : null);
  if (value) {
    event.preventDefault();
    choose(value);
  } else if (event.key === "Enter" && !["A", "BUTTON"].includes(event.target.tagName)) {
    event.preventDefault();
    form.requestSubmit();
  } else if (event.key === "u" && document.getElementById("undo")) {
    window.location.assign(document.getElementById("undo").href);
  }
});

// A page found again with the back button shows what the server knows by now.
window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });

const before = recall();
if (before !== null && !chosen()) choose(before);
if (comment && !comment.value) comment.value = recall(kept + ":comment") || "";
