/** The page: ask, watch, and have it decided again as the sliders move. */

import { Candidates } from "./candidates.js";
import { Controls, readRules } from "./controls.js";
import { pool, read } from "./decision.js";
import { byId, element } from "./elements.js";
import { ownAnswers, prepare, request } from "./form.js";
import { ask, call } from "./gateway.js";
import { counted, duration } from "./numbers.js";
import { isRated, joined, opinions } from "./opinions.js";
import { Pictures } from "./pictures.js";
import { costWords, graded, showChoice, showFirst } from "./result.js";
import { copy, opened, save } from "./share.js";

const KEY = "darc-key";
const PURPOSE = "Several answers to one prompt, graded by several raters: see which one few people would be unhappy with.";
const candidates = new Candidates(byId("candidates"));
const pictures = new Pictures((index) => candidates.open(index));
const controls = new Controls(byId("controls"), () => decide());
let said = null;
let asked = null;
let working = null;
let deciding = false;
let again = false;
let latest = null;
let usual = "";
let scoringWords = "All answers are written; scoring them.";

const say = (text, wrong = false) => {
  byId("status").textContent = text;
  byId("status").classList.toggle("wrong", wrong);
};
const told = (problem) => say(problem.message, true);

const scored = () => said?.scores && "beta" in said.parameters && said.scores.flat(2).some((each) => each !== null);

/** Have it decided by what the controls say: one call at a time, the last move wins. */
async function decide() {
  if (!scored()) return;
  again = true;
  if (deciding) return;
  deciding = true;
  byId("answer").ariaBusy = "true";
  try {
    while (again) {
      again = false;
      const method = controls.method();
      byId("reset").hidden = JSON.stringify(method) === usual;
      show(read(await call("/v1/select", byId("key").value, pool(said, candidates.answers, method))));
      if (byId("status").classList.contains("wrong")) say("");
    }
  } catch (problem) {
    told(problem);
  } finally {
    deciding = false;
    byId("answer").ariaBusy = "false";
  }
}

/** Show a decision everywhere on the page. */
function show(decision) {
  const { answers } = candidates;
  const list = opinions(answers, decision, said, Number(byId("scorer").value || 0));
  showChoice(decision, list, answers, said);
  pictures.show(decision, list, isRated(said));
  candidates.show(list, decision, said);
  latest = decision;
}

/** Offer the scorers, where there are several, to be seen one at a time. */
function listScorers() {
  const active = [...said.scorers.entries()].filter(([, scorer]) => scorer.active);
  const options = active.map(([value, { name }]) => element("option", { value }, name));
  byId("scorer").replaceChildren(...options);
  byId("scorer-choice").hidden = active.length < 2;
}

/** The end of a request, or a file that was saved at one: everything there is to know. */
function settle(event) {
  said = event;
  candidates.explain(said);
  for (const id of ["choice", "answer", "list"]) byId(id).hidden = false;
  for (const id of ["picture", "numbers"]) byId(id).hidden = !scored();
  if (scored()) {
    listScorers();
    restore();
  } else {
    showFirst(said);
  }
  const seconds = duration(said.milliseconds.total);
  const raters = said.panel ? `: ${graded(said)}` : "";
  say(`Done in ${seconds}${raters}.`);
  byId("cost").textContent = costWords(said);
}

/** Set the controls to what the gateway decided by. */
function restore() {
  const known = said.candidates.filter((each) => (each.value ?? null) !== null);
  const values = known.map((each) => each.value);
  const premiums = known.map((each) => each.risk_premium ?? 0);
  controls.describe(isRated(said));
  controls.allow(said.side ?? {});
  controls.floor.set(asked.darc?.no_rating_below ?? controls.defaultFloor);
  const reach = { epsilon: Math.max(...values) - Math.min(...values), tau: Math.max(...premiums) };
  controls.set(said.rule, said.parameters, reach);
  usual = JSON.stringify(controls.method());
  decide();
}

function began() {
  said = null;
  candidates.clear();
  for (const id of ["list", "progress"]) byId(id).hidden = false;
  for (const id of ["answer", "choice", "reset"]) byId(id).hidden = true;
  byId("cost").textContent = "";
  byId("progress").removeAttribute("value");
  byId("go").textContent = "Stop";
  say("Asking.");
}

/** One step of a request; the first part of the progress is candidates, the rest their scores. */
function step({ name, data }, wanted) {
  if (name === "start") say(`Writing ${counted(data.k, "answer")}.`);
  if (name === "candidate") {
    candidates.add(data);
    const there = candidates.answers.written;
    byId("progress").value = (0.7 * there) / wanted;
    say(there < wanted ? `${there} of ${counted(wanted, "answer")} written.` : scoringWords);
  }
  if (name === "decision") settle(data);
}

/** Answers of the reader's own are chosen among; else the model writes some. */
async function answered(signal) {
  const [key, own] = [byId("key").value, ownAnswers()];
  if (own.length) {
    const { model, messages, darc: { k: _, ...method } } = asked;
    const darc = { ...method, metadata: "full", full: true };
    settle(await call("/v1/select", key, { model, messages, candidates: own, darc }, signal));
    return;
  }
  let wanted = 1;
  for await (const event of ask(asked, key, signal)) {
    if (event.name === "start") wanted = event.data.k;
    step(event, wanted);
  }
}

async function run() {
  if (working) {
    working.abort();
    return;
  }
  if (!byId("ask").reportValidity()) return;
  working = new AbortController();
  asked = request(controls.request());
  began();
  try {
    await answered(working.signal);
  } catch (problem) {
    if (problem.name === "AbortError") say("Stopped.");
    else told(problem);
    if (problem.status === 401) wantKey();
    byId("list").hidden = !candidates.rows.size;
    byId("choice").hidden = false;
    for (const id of ["picture", "numbers"]) byId(id).hidden = true;
  } finally {
    working = null;
    byId("progress").hidden = true;
    byId("go").textContent = "Ask";
  }
}

function wantKey() {
  byId("more").open = true;
  byId("key").focus();
}

async function listModels() {
  const { data } = await call("/v1/models", byId("key").value);
  const names = data.map((each) => each.id).filter((id) => !/^darc(-[^/]*)?\//.test(id));
  byId("models").replaceChildren(...names.map((value) => element("option", { value })));
  if (!byId("model").value && names.length) [byId("model").value] = names;
}

/** Say who grades the answers; without a panel they are scored under rewording. */
function nameRaters(raters) {
  byId("raters").hidden = !raters.length;
  byId("rewrites").hidden = raters.length > 0;
  if (!raters.length) return;
  byId("purpose").textContent = PURPOSE;
  byId("raters").textContent = `${counted(raters.length, "rater")} will grade the answers: ${joined(raters)}.`;
  scoringWords = `All answers are written; ${counted(raters.length, "rater")} grade them.`;
}

/** Take the server's rules and defaults, and its models where they can be seen. */
async function begin() {
  const document = await call("/openapi.json");
  const defaults = document.components.schemas.DarcOptions.properties;
  for (const id of ["k", "n_aug"]) {
    const input = byId(id);
    input.max = defaults[id].maximum;
    if (input.value === input.defaultValue) input.value = defaults[id].default;
  }
  byId("limits").textContent = document.info["x-limits"];
  byId("limits").hidden = !document.info["x-limits"];
  const raters = document.info["x-raters"] ?? [];
  nameRaters(raters);
  controls.begin(readRules(document), defaults);
  controls.describe(raters.length > 0);
  const open = document.security.some((each) => !Object.keys(each).length);
  if (open || byId("key").value) await listModels();
  else {
    byId("more").open = true;
    say("This gateway wants an API key: enter it above, then ask.");
  }
}

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
byId("prompt").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !working) run();
});
byId("key").addEventListener("change", () => {
  sessionStorage.setItem(KEY, byId("key").value);
  listModels().then(() => say(""), told);
});
byId("reset").addEventListener("click", restore);
byId("scorer").addEventListener("change", () => show(latest));
byId("copy").addEventListener("click", () => {
  copy(candidates.text(Number(byId("answer").dataset.index))).then(say, told);
});
byId("save").addEventListener("click", () => save(asked, said));
byId("open").addEventListener("change", () => {
  const taken = (found) => {
    asked = found.asked;
    byId("prompt").value = asked.messages.at(-1).content;
    settle(found.said);
  };
  opened(byId("open").files[0]).then(taken).catch(told);
});
byId("key").value = sessionStorage.getItem(KEY) ?? "";
prepare();
begin().catch(told);
