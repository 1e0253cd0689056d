/** The page: ask, watch the answers arrive, and decide again as the controls move. */

import { Candidates } from "./candidates.js";
import { Controls, readRules } from "./controls.js";
import { readDecision, selectionBody } from "./decision.js";
import { byId, element } from "./elements.js";
import { chatBody, ownAnswers, prepareForm } from "./form.js";
import { askPlayground, callGateway } from "./gateway.js";
import { counted, duration } from "./numbers.js";
import { isRated, joinWords, opinionsOf } from "./opinions.js";
import { Pictures } from "./pictures.js";
import { costSentence, graderSentence, showChoice, showUncompared } from "./result.js";
import { copyText, readSavedFile, saveFile } from "./share.js";

const KEY_ITEM = "darc-key";
const PANEL_PURPOSE =
  "Several answers to one prompt, graded by several raters: see which one few people would be unhappy with.";
/** Models under a name that gives a rule, such as darc-epsilon/MODEL. */
const PREFIXED_MODEL = /^darc(-[^/]*)?\//;
/** The share of the progress bar for writing the answers; the rest is for their scores. */
const WRITING_SHARE = 0.7;

const candidates = new Candidates(byId("candidates"));
const pictures = new Pictures((index) => candidates.open(index));
const controls = new Controls(byId("controls"), () => decideAgain());

/** The body of the latest request. */
let request = null;
/** What the gateway said about the latest request; null while it is answered. */
let result = null;
/** Stops the request that is being answered; null if there is none. */
let abortController = null;
/** The decision that the page shows. */
let shownDecision = null;
/** The method that the gateway itself decided by, as JSON. */
let gatewayMethod = "";
let scoringMessage = "All answers are written; scoring them.";
/** Whether a decision is being made, and whether the controls have moved since it began. */
let isDeciding = false;
let controlsHaveMoved = false;

function showStatus(text, isError = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("wrong", isError);
}

const showError = (error) => showStatus(error.message, true);

/** Whether the answers were compared. */
function hasScores() {
  if (!result?.scores || !("beta" in result.parameters)) return false;
  return result.scores.flat(2).some((score) => score !== null);
}

/** Decide by the method of the controls: one call at a time, the last move wins. */
async function decideAgain() {
  if (!hasScores()) return;
  controlsHaveMoved = true;
  if (isDeciding) return;
  isDeciding = true;
  byId("answer").ariaBusy = "true";
  try {
    while (controlsHaveMoved) {
      controlsHaveMoved = false;
      const method = controls.method();
      byId("reset").hidden = JSON.stringify(method) === gatewayMethod;
      const body = selectionBody(result, candidates.answers, method);
      showDecision(readDecision(await callGateway("/v1/select", byId("key").value, body)));
      if (byId("status").classList.contains("wrong")) showStatus("");
    }
  } catch (error) {
    showError(error);
  } finally {
    isDeciding = false;
    byId("answer").ariaBusy = "false";
  }
}

/** Show a decision everywhere on the page. */
function showDecision(decision) {
  const { answers } = candidates;
  const scorer = Number(byId("scorer").value || 0);
  const opinions = opinionsOf(answers, decision, result, scorer);
  showChoice(decision, opinions, answers, result);
  pictures.show(decision, opinions, isRated(result));
  candidates.show(opinions, decision, result);
  shownDecision = decision;
}

/** Offer the scorers, where there are several, to be seen one at a time. */
function listScorers() {
  const active = [...result.scorers.entries()].filter(([, scorer]) => scorer.active);
  const options = active.map(([value, { name }]) => element("option", { value }, name));
  byId("scorer").replaceChildren(...options);
  byId("scorer-choice").hidden = active.length < 2;
}

/** Show the result of a request, or of a file that was saved after one. */
function showResult(newResult) {
  result = newResult;
  candidates.explain(result);
  for (const id of ["choice", "answer", "list"]) byId(id).hidden = false;
  for (const id of ["picture", "numbers"]) byId(id).hidden = !hasScores();
  if (hasScores()) {
    listScorers();
    resetControls();
  } else {
    showUncompared(result);
  }
  const seconds = duration(result.milliseconds.total);
  const graders = result.panel ? `: ${graderSentence(result)}` : "";
  showStatus(`Done in ${seconds}${graders}.`);
  byId("cost").textContent = costSentence(result);
}

/** Set the controls to the method that the gateway decided by. */
function resetControls() {
  const compared = result.candidates.filter((candidate) => (candidate.value ?? null) !== null);
  const values = compared.map((candidate) => candidate.value);
  const premiums = compared.map((candidate) => candidate.risk_premium ?? 0);
  controls.describe(isRated(result));
  controls.allow(result.side ?? {});
  controls.floor.set(request.darc?.no_rating_below ?? controls.defaultFloor);
  const reach = { epsilon: Math.max(...values) - Math.min(...values), tau: Math.max(...premiums) };
  controls.set(result.rule, result.parameters, reach);
  gatewayMethod = JSON.stringify(controls.method());
  decideAgain();
}

/** Clear the page for a new request. */
function showStart() {
  result = null;
  candidates.clear();
  for (const id of ["list", "progress"]) byId(id).hidden = false;
  for (const id of ["answer", "choice", "reset"]) byId(id).hidden = true;
  byId("cost").textContent = "";
  byId("progress").removeAttribute("value");
  byId("go").textContent = "Stop";
  showStatus("Asking.");
}

/** Show an answer that has arrived. */
function showCandidate(candidate, k) {
  candidates.add(candidate);
  const { written } = candidates.answers;
  byId("progress").value = (WRITING_SHARE * written) / k;
  showStatus(written < k ? `${written} of ${counted(k, "answer")} written.` : scoringMessage);
}

/** Have the model write answers, and show them as they arrive. */
async function askModel(key, signal) {
  let k = 1;
  for await (const { name, data } of askPlayground(request, key, signal)) {
    if (name === "start") {
      k = data.k;
      showStatus(`Writing ${counted(k, "answer")}.`);
    }
    if (name === "candidate") showCandidate(data, k);
    if (name === "decision") showResult(data);
  }
}

/** Choose among the reader's own answers. */
async function chooseAmong(texts, key, signal) {
  const { model, messages, darc: { k: _, ...method } } = request;
  const darc = { ...method, metadata: "full", full: true };
  const body = { model, messages, candidates: texts, darc };
  showResult(await callGateway("/v1/select", key, body, signal));
}

/** Start a request, or stop the one that runs. */
async function startOrStop() {
  if (abortController) {
    abortController.abort();
    return;
  }
  if (!byId("ask").reportValidity()) return;
  abortController = new AbortController();
  request = chatBody(controls.requestedMethod());
  showStart();
  const key = byId("key").value;
  const texts = ownAnswers();
  try {
    if (texts.length) await chooseAmong(texts, key, abortController.signal);
    else await askModel(key, abortController.signal);
  } catch (error) {
    showFailure(error);
  } finally {
    abortController = null;
    byId("progress").hidden = true;
    byId("go").textContent = "Ask";
  }
}

/** Show why a request ended without a result, and the answers that have arrived. */
function showFailure(error) {
  if (error.name === "AbortError") showStatus("Stopped.");
  else showError(error);
  if (error.status === 401) requestKey();
  byId("list").hidden = !candidates.rows.size;
  byId("choice").hidden = false;
  for (const id of ["picture", "numbers"]) byId(id).hidden = true;
}

function requestKey() {
  byId("more").open = true;
  byId("key").focus();
}

async function listModels() {
  const { data } = await callGateway("/v1/models", byId("key").value);
  const names = data.map((model) => model.id).filter((id) => !PREFIXED_MODEL.test(id));
  byId("models").replaceChildren(...names.map((value) => element("option", { value })));
  if (!byId("model").value && names.length) byId("model").value = names[0];
}

/** Say who grades the answers; without a panel they are scored under rewording. */
function describeRaters(raters) {
  byId("raters").hidden = !raters.length;
  byId("rewrites").hidden = raters.length > 0;
  if (!raters.length) return;
  const count = counted(raters.length, "rater");
  byId("purpose").textContent = PANEL_PURPOSE;
  byId("raters").textContent = `${count} will grade the answers: ${joinWords(raters)}.`;
  scoringMessage = `All answers are written; ${count} grade them.`;
}

/** Take over the rules and defaults of the gateway, and its models where they can be seen. */
async function initialize() {
  const apiDocument = await callGateway("/openapi.json");
  const defaults = apiDocument.components.schemas.DarcOptions.properties;
  for (const id of ["k", "n_aug"]) {
    const input = byId(id);
    input.max = defaults[id].maximum;
    if (input.value === input.defaultValue) input.value = defaults[id].default;
  }
  byId("limits").textContent = apiDocument.info["x-limits"];
  byId("limits").hidden = !apiDocument.info["x-limits"];
  const raters = apiDocument.info["x-raters"] ?? [];
  describeRaters(raters);
  controls.begin(readRules(apiDocument), defaults);
  controls.describe(raters.length > 0);
  const needsNoKey = apiDocument.security.some((scheme) => !Object.keys(scheme).length);
  if (needsNoKey || byId("key").value) {
    await listModels();
  } else {
    byId("more").open = true;
    showStatus("This gateway wants an API key: enter it above, then ask.");
  }
}

/** Show a file that was saved by this page. */
async function openSavedFile() {
  const saved = await readSavedFile(byId("open").files[0]);
  request = saved.request;
  byId("prompt").value = request.messages.at(-1).content;
  showResult(saved.result);
}

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  startOrStop();
});
byId("prompt").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !abortController) startOrStop();
});
byId("key").addEventListener("change", () => {
  sessionStorage.setItem(KEY_ITEM, byId("key").value);
  listModels().then(() => showStatus(""), showError);
});
byId("reset").addEventListener("click", resetControls);
byId("scorer").addEventListener("change", () => showDecision(shownDecision));
byId("copy").addEventListener("click", () => {
  copyText(candidates.text(Number(byId("answer").dataset.index))).then(showStatus, showError);
});
byId("save").addEventListener("click", () => saveFile(request, result));
byId("open").addEventListener("change", () => openSavedFile().catch(showError));
byId("key").value = sessionStorage.getItem(KEY_ITEM) ?? "";
prepareForm();
initialize().catch(showError);
