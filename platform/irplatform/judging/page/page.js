"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const adjudicates = location.pathname.endsWith("/adjudicate");
const state = { name: "", grades: [], topics: {}, topic: "", card: null, ahead: [], done: new Set(), mine: [], place: null, saving: false };
const keyOf = (card) => `${card.topic}\t${card.id}`;
const random = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-");
const count = (number) => number.toLocaleString("en");

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function tell(text, where = "status") { $(where).textContent = text; }

// Asks the server until it answers. A click has a number of its own, so that asking twice judges once.
async function call(path, body) {
  const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  for (let wait = 100; ; wait = Math.min(2 * wait, 2000)) {
    let problem = "The server does not answer.";
    try {
      const response = await fetch(path, { ...sent, signal: AbortSignal.timeout(15000) });
      const reply = await response.json();
      if (response.status < 500) {
        tell(response.ok || response.status === 409 ? "" : reply.error, "alert");
        return { ok: response.ok, ...(Array.isArray(reply) ? { list: reply } : reply) };
      }
      problem = reply.error;
    } catch { /* no connection, or not from this server */ }
    tell(`${problem} ${body ? "The last judgment is not saved yet. " : ""}Trying again…`, "alert");
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

const query = (more) => new URLSearchParams({ assessor: state.name, adjudicates: adjudicates ? "1" : "0", ...more });

// What is shown

const marked = (parts) => parts.map((part, place) => (place % 2 ? element("mark", {}, part) : part));
const pairs = (fields, shown) => fields.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, ...shown(value))]);
const labelOf = (grade) => (grade === null ? "cannot tell" : `${grade} ${wordsOf(grade)[0]}`);

function wordsOf(grade) {
  const text = state.grades.find((each) => each.grade === grade)?.text ?? "";
  const colon = text.indexOf(":");
  return colon > 0 && colon < 48 ? [text.slice(0, colon), text.slice(colon + 1).trim()] : [text, ""];
}

function showGrades() {
  const digits = state.grades.every(({ grade }) => grade >= 0 && grade <= 9);
  const choices = state.grades.map(({ grade }, place) => [grade, digits ? String(grade) : String(place + 1), ...wordsOf(grade)]);
  choices.push([null, "c", "Cannot tell", ""]);
  state.keys = new Map(choices.map(([grade, key]) => [key, grade]));
  $("grades").replaceChildren(...choices.map(([grade, key, label, definition]) => {
    const name = digits || grade === null ? label : `${grade}: ${label}`;
    const button = element("button", { "aria-pressed": "false", "aria-keyshortcuts": key, "data-grade": grade ?? "none" },
      element("kbd", {}, key), element("span", {}, name), ...(definition ? [element("span", { class: "definition" }, definition)] : []));
    button.addEventListener("click", () => judge(grade));
    return button;
  }));
  $("definitions").replaceChildren(...state.grades.flatMap(({ grade, text }, place) =>
    [element("dt", {}, element("kbd", {}, choices[place][1])), element("dd", {}, digits ? text : `${grade}: ${text}`)]));
}

function show(card) {
  state.card = card;
  const topic = state.topics[card.topic];
  if (state.topic !== card.topic || !$("query").textContent) {
    if (state.topic !== card.topic) loadMine(card.topic);
    state.topic = card.topic;
    $("topics").value = card.topic;
    $("query").textContent = topic.query || `Topic ${topic.id}`;
    $("topic-fields").replaceChildren(...pairs(topic.fields, (value) => [value]));
    $("topic").hidden = !topic.fields.length;
  }
  $("title").replaceChildren(...(card.missing ? ["This document is not in the collection"] : card.title.join("") ? marked(card.title) : ["(no title)"]));
  $("abstract").replaceChildren(...marked(card.abstract));
  $("fields").replaceChildren(...pairs(card.fields, marked));
  $("id").textContent = card.id;
  $("note").value = card.judgment?.note ?? "";
  if (adjudicates) {
    $("said").replaceChildren(element("p", {}, "Assessors differ:"), element("ul", {}, ...card.said.map((said) => element("li", {}, labelOf(said.grade), said.note ? `: “${said.note}”` : ""))));
    $("said").hidden = false;
  }
  showPressed();
  $("desk").hidden = false;
  $("nothing").hidden = true;
  scrollTo(0, 0);
  $("title").focus({ preventScroll: true });
}

function showPressed() {
  const judged = state.card?.judgment;
  for (const button of $("grades").children) {
    button.setAttribute("aria-pressed", String(Boolean(judged) && button.dataset.grade === String(judged.grade ?? "none")));
  }
}

function showProgress(progress) {
  if (!progress) return;
  if (adjudicates) {
    $("counts").textContent = `${count(progress.differences)} left where assessors differ`;
    $("bar").hidden = true;
    return;
  }
  const { judged, placed, second } = progress;
  $("bar").max = placed || 1;
  $("bar").value = judged;
  $("counts").textContent = `${count(judged)} of ${count(placed)} judged in this topic${second ? `, ${count(second)} waiting for your second opinion` : ""}; ${count(progress.all_judged)} of ${count(progress.all_placed)} in all`;
  const option = $("topics").selectedOptions[0];
  if (option?.value === state.topic) option.textContent = nameOf({ id: state.topic, query: state.topics[state.topic]?.query ?? "", judged, placed });
}

const nameOf = (topic) => `${topic.id}: ${topic.query.slice(0, 70)} (${count(topic.judged)}/${count(topic.placed)})`;

function showNothing() {
  state.card = null;
  $("desk").hidden = true;
  $("nothing").hidden = false;
  $("why").textContent = adjudicates ? "Assessors differ nowhere, or all differences are settled." : "All documents are judged, or on the desks of others. ← shows what you judged.";
  $("end").focus();
}

// Moves

let running = null, again = false;
// Fetches the next documents; one call at a time.
function refill() {
  if (running) { again = true; return running; }
  running = (async () => {
    do {
      again = false;
      const reply = await call(`api/next?${query({ topic: state.topic })}`);
      if (!reply.ok) break;
      Object.assign(state.topics, reply.topics);
      if (!again) {
        state.ahead = reply.cards.filter((card) => !state.done.has(keyOf(card)));
        if (!state.card || state.place === null) showProgress(reply.progress);
      }
    } while (again);
    running = null;
  })();
  return running;
}

async function advance() {
  state.place = null;
  if (!state.ahead.length) await refill();
  if (state.ahead.length) show(state.ahead[0]);
  else showNothing();
}

async function judge(grade) {
  const card = state.card;
  if (state.noting) await state.noting;
  if (!card || state.saving) return;
  state.saving = true;
  $("grades").classList.add("saving");
  const moves = grade !== card.judgment?.grade || !card.judgment || $("note").value === card.judgment.note;
  const reply = await call("api/judge", {
    assessor: state.name, adjudicates, topic: card.topic, document: card.id, grade, note: $("note").value,
    seen: card.judgment?.number ?? 0, request: random(),
  });
  state.saving = false;
  $("grades").classList.remove("saving");
  if ("judgment" in reply) card.judgment = reply.judgment;
  if (!reply.ok) {
    if ("judgment" in reply) {
      tell(reply.judgment ? `Judged elsewhere meanwhile, as ${labelOf(reply.judgment.grade)}. Judge again to change that.` : "Taken back elsewhere meanwhile. Judge again.", "alert");
      $("note").value = reply.judgment?.note ?? $("note").value;
    }
    showPressed();
    return;
  }
  state.done.add(keyOf(card));
  state.ahead = state.ahead.filter((each) => keyOf(each) !== keyOf(card));
  state.mine = [...state.mine.filter((each) => each !== card.id), card.id];
  tell(`Saved: ${labelOf(grade)}`);
  if (state.card !== card || !moves) { showPressed(); return; }
  const next = state.ahead[0];
  if (next) { state.place = null; show(next); }
  showProgress(reply.progress);
  if ($("mine").open) listMine();
  if (next) refill();
  else advance();
}

async function undo() {
  if (state.saving) return;
  state.saving = true;
  const reply = await call("api/undo", { assessor: state.name, adjudicates, request: random() });
  state.saving = false;
  if (!reply.ok) return;
  if (!reply.card) { tell("There is nothing to take back."); return; }
  const { card } = reply;
  Object.assign(state.topics, reply.topics);
  state.mine = state.mine.filter((each) => each !== card.id);
  state.place = null;
  if (card.judgment) { state.mine.push(card.id); state.place = state.mine.length - 1; }
  else { state.done.delete(keyOf(card)); state.ahead = [card, ...state.ahead.filter((each) => keyOf(each) !== keyOf(card))]; }
  show(card);
  showProgress(reply.progress);
  tell(card.judgment ? `Taken back: it is ${labelOf(card.judgment.grade)} again.` : "Taken back: it is not judged now.");
  refill();  // an answer that is under way does not know of it
}

async function loadMine(topic) {
  const reply = await call(`api/mine?${query({ topic })}`);
  if (reply.ok && topic === state.topic) state.mine = reply.list.map((each) => each.document).reverse();
  return reply.list ?? [];
}

async function listMine() {
  const judged = await loadMine(state.topic);
  $("list").replaceChildren(...judged.map((each) => {
    const button = element("button", { class: "plain" }, each.document);
    button.addEventListener("click", () => { state.place = state.mine.indexOf(each.document); open(each.document); });
    return element("li", {}, button, ` ${labelOf(each.grade)}${each.note ? `: “${each.note.slice(0, 60)}”` : ""}`);
  }));
}

async function open(id) {
  const reply = await call(`api/document?${query({ topic: state.topic, document: id })}`);
  if (!reply.ok) return;
  Object.assign(state.topics, reply.topics);
  show(reply.card);
}

function step(by) {
  const place = (state.place ?? state.mine.length) + by;
  if (place < 0) tell("This is the first that you judged here.");
  else if (place >= state.mine.length) advance();
  else { state.place = place; open(state.mine[place]); }
}

async function choose(topic) {
  Object.assign(state, { topic, ahead: [], card: null });
  $("query").textContent = "";
  const judged = await loadMine(topic);
  await refill();
  if (state.ahead[0]?.topic === topic || !judged.length) { await advance(); return; }
  tell("Nothing is left for you in this topic. These are your judgments.");
  step(-1);
}

// Keys

const commands = {
  u: undo, ArrowLeft: () => step(-1), ArrowRight: () => step(1), n: () => $("note").focus(),
  t: () => { $("topic").open = !$("topic").open; }, h: () => $("document").classList.toggle("unmarked"), "?": () => $("help").showModal(),
};

function onKey(event) {
  if (event.target.matches("textarea, input, select")) {
    if (event.key === "Escape" && event.target === $("note")) $("title").focus({ preventScroll: true });
    return;
  }
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || $("help").open || !$("single").checked || !state.name) return;
  if (state.keys.has(event.key)) judge(state.keys.get(event.key));
  else if (event.key in commands) commands[event.key]();
  else return;
  event.preventDefault();
}

function saveNote() {
  const { card } = state;
  if (card?.judgment && card.judgment.note !== $("note").value.trim()) state.noting = judge(card.judgment.grade).then(() => { state.noting = null; });
}

async function begin() {
  $("sign-in").hidden = true;
  document.querySelector("header").hidden = false;
  $("who").textContent = state.name;
  await choose($("topics").value);
}

async function start() {
  const reply = await call("api/start");
  state.grades = reply.grades;
  showGrades();
  document.title = adjudicates ? "Differences" : "Judging";
  $("topics").replaceChildren(...reply.topics.map((topic) => element("option", { value: topic.id }, nameOf(topic))));
  $("topics").parentElement.hidden = adjudicates;
  $("other").textContent = adjudicates ? "Judge" : `Differences (${count(reply.differences)})`;
  $("other").href = adjudicates ? "./" : "adjudicate";
  $("known").replaceChildren(...reply.assessors.map((name) => element("option", { value: name })));
  $("topic").open = innerWidth > 900;
  addEventListener("keydown", onKey);
  for (const [id, key] of [["undo", "u"], ["back", "ArrowLeft"], ["forward", "ArrowRight"], ["keys", "?"]]) $(id).addEventListener("click", () => commands[key]());
  $("note").addEventListener("change", saveNote);
  $("mine").addEventListener("toggle", () => $("mine").open && listMine());
  $("topics").addEventListener("change", () => choose($("topics").value));
  $("single").checked = localStorage.getItem("judge-keys") !== "off";
  $("single").addEventListener("change", () => localStorage.setItem("judge-keys", $("single").checked ? "on" : "off"));
  $("leave").addEventListener("click", () => { localStorage.removeItem("judge-name"); location.reload(); });
  $("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    state.name = $("name").value.trim();
    if (!state.name) return;
    localStorage.setItem("judge-name", state.name);
    begin();
  });
  setInterval(() => document.hidden || !state.name || refill(), 120000);  // what is shown stays ours
  state.name = localStorage.getItem("judge-name") ?? "";
  if (state.name) await begin();
  else { $("sign-in").hidden = false; $("name").focus(); }
}

start();
})();
