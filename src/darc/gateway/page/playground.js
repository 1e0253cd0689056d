/** The page: ask, watch, and have it decided again as the sliders move. */

import { Candidates } from "./candidates.js";
import { Controls, rulesOf } from "./controls.js";
import { fill, pool, read } from "./decision.js";
import { byId, element } from "./elements.js";
import { ownAnswers, prepare, request } from "./form.js";
import { ask, call } from "./gateway.js";
import { counted, duration } from "./numbers.js";
import { Plane, legend, riskOf } from "./plane.js";
import { copy, opened, save } from "./share.js";

const KEY = "darc-key";
const candidates = new Candidates(byId("candidates"));
const plane = new Plane(byId("plane"), byId("caption"), (index) => candidates.open(index));
const controls = new Controls(byId("controls"), () => decide());
let said = null;
let asked = null;
let working = null;
let deciding = false;
let again = false;

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
      show(read(await call("/v1/select", byId("key").value, pool(said, controls.method()))));
      if (byId("status").classList.contains("wrong")) say("");
    }
  } catch (problem) {
    told(problem);
  } finally {
    deciding = false;
    byId("answer").ariaBusy = "false";
  }
}

function show(decision) {
  const differs = decision.best_of_k !== decision.index;
  byId("answer-title").textContent = `Chosen: candidate ${decision.index}`;
  byId("leader-title").textContent = `Best-of-K: candidate ${decision.best_of_k}`;
  byId("leader").hidden = !differs;
  byId("pair").classList.toggle("two", differs);
  fill(byId("text"), candidates.text(decision.index));
  if (differs) fill(byId("other"), candidates.text(decision.best_of_k));
  const explained = decision.explanation[0].toUpperCase() + decision.explanation.slice(1);
  const returned = said.index === decision.index ? "" : ` As asked, the gateway returned candidate ${said.index}.`;
  byId("reason").textContent = explained + returned;
  const others = said.flags.map((flag, i) => [flag, said.notes?.[i]]).filter(([flag]) => !decision.flags.includes(flag));
  const about = others.filter(([flag]) => !said.decided?.includes(flag)).map(([, note]) => note);
  const notes = [...about, ...decision.notes].filter(Boolean);
  byId("flags").replaceChildren(...notes.map((note) => element("li", {}, `${note[0].toUpperCase()}${note.slice(1)}.`)));
  const risk = riskOf(decision.rule) === "sigma" ? "disagreement" : "risk premium";
  byId("plane-title").textContent = `Value against ${risk}`;
  plane.draw(decision);
  byId("legend").replaceChildren(...legend(decision));
  candidates.show(decision);
  byId("answer").dataset.index = decision.index;
}

/** The end of a request, or a file that was saved at one: everything there is to know. */
function settle(event) {
  said = event;
  candidates.explain(said);
  byId("choice").hidden = byId("answer").hidden = byId("list").hidden = false;
  byId("picture").hidden = byId("reset").hidden = !scored();
  if (scored()) {
    restore();
  } else {
    byId("leader").hidden = true;
    byId("answer-title").textContent = "Answer";
    fill(byId("text"), said.completion?.choices[0].message.content ?? said.answer ?? "");
    byId("reason").textContent = said.explanation || "One candidate was asked for, so nothing was chosen.";
    byId("flags").replaceChildren();
  }
  const stages = Object.entries(said.milliseconds).filter(([name]) => name !== "total");
  const times = stages.map(([name, ms]) => `${name} ${duration(ms)}`).join(", ");
  say(`Done in ${duration(said.milliseconds.total)}.`);
  const usage = said.completion?.usage?.total_tokens;
  const tokens = usage ? `, ${counted(usage, "token")}` : "";
  byId("cost").textContent = `${counted(said.scored, "text")} scored${tokens}; ${times}.`;
}

/** Set the controls to what the gateway decided by. */
function restore() {
  const known = said.candidates.filter((each) => (each.value ?? null) !== null);
  const values = known.map((each) => each.value);
  const premiums = known.map((each) => each.risk_premium ?? 0);
  controls.allow(said.side ?? {});
  const reach = { epsilon: Math.max(...values) - Math.min(...values), tau: Math.max(...premiums) };
  controls.set(said.rule, said.parameters, reach);
  decide();
}

function began() {
  said = null;
  candidates.clear();
  byId("list").hidden = byId("progress").hidden = false;
  byId("answer").hidden = byId("choice").hidden = byId("reset").hidden = true;
  byId("cost").textContent = "";
  byId("progress").removeAttribute("value");
  byId("go").textContent = "Stop";
  say("Asking.");
}

/** One step of a request; the first part of the progress is candidates, the rest their scores. */
function step({ name, data }, wanted) {
  if (name === "start") say(`Writing ${counted(data.k, "candidate")}.`);
  if (name === "candidate") {
    candidates.add(data);
    const there = candidates.rows.size;
    byId("progress").value = (0.7 * there) / wanted;
    const all = "All candidates are written; scoring them.";
    say(there < wanted ? `${there} of ${counted(wanted, "candidate")} written.` : all);
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
    byId("picture").hidden = true;
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

/** Take the server's rules and defaults, and its models where they can be seen. */
async function begin() {
  const document = await call("/openapi.json");
  const { k, n_aug: rewrites, beta, rule } = document.components.schemas.DefaultOptions.properties;
  for (const [id, field] of [["k", k], ["n_aug", rewrites]]) {
    const input = byId(id);
    input.max = field.maximum;
    if (input.value === input.defaultValue) input.value = field.default;
  }
  byId("limits").textContent = document.info["x-limits"];
  byId("limits").hidden = !document.info["x-limits"];
  controls.begin(rulesOf(document), rule.default.split(":")[0], beta.default);
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
