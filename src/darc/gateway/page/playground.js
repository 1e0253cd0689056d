/** The page: ask, watch, and decide again as the sliders move. */

import { Candidates } from "./candidates.js";
import { Controls } from "./controls.js";
import { RULES, decide, quantileOf } from "./decide.js";
import { byId, element } from "./elements.js";
import { ask, get } from "./gateway.js";
import { counted, duration } from "./numbers.js";
import { Plane, legend, riskOf } from "./plane.js";
import { methodOf, poolOf } from "./pool.js";
import { flagged, reason } from "./words.js";

const KEY = "darc-key";
const RECOMPUTED = ["infeasible", "no_sigma", "few_samples", "constant_scorer", "small_sample"];

const candidates = new Candidates(byId("candidates"));
const plane = new Plane(byId("plane"), byId("caption"), (index) => candidates.open(index));
const controls = new Controls(byId("controls"), () => show());
let said = null;
let pool = null;
let working = null;

const say = (text, wrong = false) => {
  byId("status").textContent = text;
  byId("status").classList.toggle("wrong", wrong);
};

/** The decision by what the controls say; by a rule that is not known here, the gateway's own. */
function decided() {
  let method = controls.method();
  if (!RULES.includes(method.rule) && method.rule !== said.rule) {
    say(`Only the gateway decides by ${method.rule}: ask again.`);
    method = methodOf(said);
  }
  if (RULES.includes(method.rule)) return decide(pool, method);
  const feasible = said.candidates.map((each) => each.feasible ?? true);
  const known = decide(pool, { ...methodOf(said), rule: "mean" });
  const flags = said.flags.filter((flag) => RECOMPUTED.includes(flag));
  return { ...known, index: said.index, feasible, flags, method };
}

/** Show an answer; its box does not shrink, so that the picture below stays where it is. */
function fill(text) {
  const box = byId("text");
  box.textContent = text;
  box.style.minHeight = `${box.offsetHeight}px`;
}

/** Show what is decided now; no call is made. */
function show() {
  if (!pool) return;
  const decision = decided();
  const others = said.flags.filter((flag) => !RECOMPUTED.includes(flag));
  fill(candidates.text(decision.index));
  const known = RULES.includes(decision.method.rule) || !said.explanation;
  byId("reason").textContent = known ? reason(decision, said.index) : said.explanation;
  const flags = [...others, ...decision.flags].map((flag) => element("li", {}, flagged(flag)));
  byId("flags").replaceChildren(...flags);
  const risk = riskOf(decision.method.rule) === "sigma" ? "disagreement" : "risk premium";
  byId("plane-title").textContent = `Value against ${risk}`;
  plane.draw(decision);
  byId("legend").replaceChildren(...legend(decision));
  candidates.show(decision);
}

/** The end of a request: everything there is to know. */
function settle(event) {
  said = event;
  pool = poolOf(said);
  candidates.explain(said);
  byId("choice").hidden = false;
  byId("picture").hidden = byId("reset").hidden = !pool;
  byId("answer").hidden = false;
  if (pool) {
    restore();
  } else {
    fill(said.completion.choices[0].message.content ?? "");
    const alone = "One candidate was asked for, so nothing was chosen.";
    byId("reason").textContent = said.explanation || alone;
    byId("flags").replaceChildren();
  }
  const stages = Object.entries(said.milliseconds).filter(([name]) => name !== "total");
  const times = stages.map(([name, ms]) => `${name} ${duration(ms)}`).join(", ");
  say(`Done in ${duration(said.milliseconds.total)}.`);
  const usage = said.completion.usage?.total_tokens;
  const tokens = usage ? `, ${counted(usage, "token")}` : "";
  byId("cost").textContent = `${counted(said.scored, "text")} scored${tokens}; ${times}.`;
}

/** Set the controls to what the gateway decided by. */
function restore() {
  const method = methodOf(said);
  controls.set(method);
  const { candidates: rows } = decide(pool, { ...method, rule: "mean" });
  const values = rows.map((each) => each.value).filter((each) => !Number.isNaN(each));
  const premiums = rows.map((each) => each.premium).filter((each) => !Number.isNaN(each));
  const spread = Math.max(...values) - Math.min(...values);
  controls.fit(spread, Math.max(0, ...premiums), quantileOf(premiums, 0.25));
  show();
}

function request() {
  const number = (id) => (byId(id).value === "" ? undefined : byId(id).valueAsNumber);
  return {
    model: byId("model").value.trim() || undefined,
    messages: [{ role: "user", content: byId("prompt").value }],
    temperature: number("temperature"),
    max_tokens: number("max_tokens"),
    seed: number("seed"),
    darc: { k: number("k"), n_aug: number("n_aug"), ...controls.request() },
  };
}

function began() {
  said = pool = null;
  candidates.clear();
  byId("list").hidden = byId("progress").hidden = false;
  byId("answer").hidden = byId("choice").hidden = byId("reset").hidden = true;
  byId("cost").textContent = "";
  byId("text").style.minHeight = "";
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
    const all = "All candidates are written; rewording and scoring them.";
    say(there < wanted ? `${there} of ${counted(wanted, "candidate")} written.` : all);
  }
  if (name === "decision") settle(data);
}

async function run() {
  if (working) {
    working.abort();
    return;
  }
  if (!byId("ask").reportValidity()) return;
  working = new AbortController();
  began();
  let wanted = 1;
  try {
    for await (const event of ask(request(), byId("key").value, working.signal)) {
      if (event.name === "start") wanted = event.data.k;
      step(event, wanted);
    }
  } catch (problem) {
    if (problem.name === "AbortError") say("Stopped.");
    else say(problem.message, true);
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
  const { data } = await get("/v1/models", byId("key").value);
  const names = data.map((each) => each.id).filter((id) => !/^darc(-[^/]*)?\//.test(id));
  byId("models").replaceChildren(...names.map((value) => element("option", { value })));
  if (!byId("model").value && names.length) [byId("model").value] = names;
}

/** Take the server's defaults, and its models where they can be seen. */
async function begin() {
  const document = await get("/openapi.json");
  const chat = document.paths["/v1/chat/completions"].post.requestBody.content["application/json"];
  const { default: method, anyOf: kinds } = chat.schema.properties.darc;
  const { k, n_aug: rewrites, beta } = kinds[0].properties;
  for (const [id, field] of [["k", k], ["n_aug", rewrites]]) {
    const input = byId(id);
    input.max = field.maximum;
    if (input.value === input.defaultValue) input.value = field.default;
  }
  byId("limits").textContent = document.info["x-limits"];
  byId("limits").hidden = !document.info["x-limits"];
  if (!controls.touched.size) controls.begin(method.rule.split(":")[0], beta.default);
  const open = document.security.some((each) => !Object.keys(each).length);
  if (open || byId("key").value) await listModels();
  else {
    byId("more").open = true;
    say("This gateway wants an API key: enter it above, then ask.");
  }
}

const told = (problem) => say(problem.message, true);

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
byId("key").value = sessionStorage.getItem(KEY) ?? "";
begin().catch(told);
