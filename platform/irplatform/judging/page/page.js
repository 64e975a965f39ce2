const $ = (id) => document.getElementById(id);
const adjudicates = location.pathname.endsWith("/adjudicate");
const state = { name: "", card: null, grades: [], keys: new Map(), waits: false, noting: null };

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function tell(id, text) { $(id).textContent = text; }

// Asks the server until it answers; null while another question waits. A click has a number of its own,
// so that asking twice judges once.
async function ask(move, more) {
  if (state.waits) return null;
  state.waits = true;
  const body = JSON.stringify({ assessor: state.name, adjudicates, ...more });
  const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  for (let pause = 100; ; pause = Math.min(2 * pause, 2000)) {
    let problem = "The server does not answer.";
    try {
      const response = await fetch(`api/${move}`, { ...sent, signal: AbortSignal.timeout(15000) });
      const reply = await response.json();
      if (response.status < 500) {
        tell("alert", reply.error ?? "");
        state.waits = false;
        return reply;
      }
      problem = reply.error;
    } catch { /* no connection, or not from this server */ }
    tell("alert", `${problem} ${more.request ? "The last judgment is not saved yet. " : ""}Trying again…`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function write(move, more) {
  const request = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-");
  return ask(move, { ...more, request });
}

// What is shown

const marked = (parts) => parts.map((part, place) => (place % 2 ? element("mark", {}, part) : part));
const pairs = (fields, shown) => fields.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, ...shown(value))]);
const labelOf = (grade) => (grade === null ? "cannot tell" : `${grade} ${wordsOf(grade)[0]}`);

// The label of a grade, and its definition: "relevant: it helps".
function wordsOf(grade) {
  const { text } = state.grades.find((defined) => defined.grade === grade);
  const colon = text.indexOf(":");
  return colon > 0 && colon < 48 ? [text.slice(0, colon), text.slice(colon + 1).trim()] : [text, ""];
}

function showGrades(grades) {
  state.grades = grades;
  const digits = grades.every(({ grade }) => grade >= 0 && grade <= 9);
  const choices = grades.map(({ grade }, place) => [String(digits ? grade : place + 1), grade, ...wordsOf(grade)]);
  choices.push(["c", null, "Cannot tell", ""]);
  for (const [key, grade, label, definition] of choices) {
    state.keys.set(key, grade);
    const name = digits || grade === null ? label : `${grade}: ${label}`;
    const button = element("button", { "aria-pressed": false, "aria-keyshortcuts": key, "data-grade": grade ?? "none" },
      element("kbd", {}, key), element("span", {}, name), element("span", { class: "definition" }, definition));
    button.addEventListener("click", () => judge(grade));
    $("grades").append(button);
    if (grade !== null) $("definitions").append(element("dt", {}, element("kbd", {}, key)), element("dd", {}, definition ? `${name}: ${definition}` : name));
  }
}

function showTopic({ id, query, fields }) {
  $("topics").value = id;
  tell("query", query || `Topic ${id}`);
  $("topic-fields").replaceChildren(...pairs(fields, (value) => [value]));
  $("topic").hidden = !fields.length;
}

function show(reply) {
  if (!reply || reply.error) return;
  const { card } = reply;
  tell("progress", reply.progress);
  $("desk").hidden = !card;
  $("nothing").hidden = Boolean(card);
  if (!card) $("end").focus();
  else if (card.topic.id !== state.card?.topic.id) showTopic(card.topic);
  state.card = card;
  if (!card) return;
  $("title").replaceChildren(...marked(card.title));
  $("abstract").replaceChildren(...marked(card.abstract));
  $("fields").replaceChildren(...pairs(card.fields, marked));
  tell("id", card.id);
  $("note").value = card.judgment?.note ?? "";
  if (adjudicates) {
    const said = card.said.map(({ grade, note }) => element("li", {}, labelOf(grade), note && `: “${note}”`));
    $("said").replaceChildren("Assessors differ:", element("ul", {}, ...said));
  }
  showPressed();
  scrollTo(0, 0);
  $("title").focus({ preventScroll: true });
}

function showPressed() {
  const { judgment } = state.card;
  const pressed = judgment ? String(judgment.grade ?? "none") : "";
  for (const button of $("grades").children) button.setAttribute("aria-pressed", button.dataset.grade === pressed);
}

// Moves

const here = () => ({ topic: state.card?.topic.id ?? $("topics").value, document: state.card?.id ?? "" });

async function judge(grade, moves = true) {
  const { card } = state;
  await state.noting;
  if (!card || card !== state.card) return;
  const reply = await write("judge", { ...here(), grade, note: $("note").value, seen: card.judgment?.number ?? 0 });
  if (!reply) return;
  if ("judgment" in reply) card.judgment = reply.judgment;
  if (!reply.error) tell("status", `Saved: ${labelOf(grade)}`);
  else if (card.judgment) $("note").value = card.judgment.note;
  if (reply.error || !moves) showPressed();
  else if (reply.card) show(reply);
  else show(await ask("next", here()));
}

function saveNote() {
  const { judgment } = state.card ?? {};
  if (judgment && judgment.note !== $("note").value.trim()) state.noting = judge(judgment.grade, false);
}

async function undo() {
  const reply = await write("undo", {});
  if (!reply || reply.error) return;
  const { card } = reply;
  if (card) show(reply);
  const back = card?.judgment ? `it is ${labelOf(card.judgment.grade)} again` : "it is not judged now";
  tell("status", card ? `Taken back: ${back}.` : "There is nothing to take back.");
}

async function step(by) {
  const reply = await ask("step", { ...here(), by });
  if (!reply) return;
  if (reply.card || by > 0) show(reply);
  tell("status", reply.card || by > 0 ? "" : "You judged nothing before this.");
}

async function choose(topic) {
  const reply = await ask("next", { topic });
  if (!reply) return;
  const judged = reply.card?.topic.id !== topic && (await ask("step", { topic, by: -1 }));
  show(judged && judged.card?.topic.id === topic ? judged : reply);
}

// Keys

const commands = {
  u: undo, ArrowLeft: () => step(-1), ArrowRight: () => step(1), n: () => $("note").focus(),
  t: () => { $("topic").open = !$("topic").open; }, "?": () => $("help").showModal(),
};

function onKey(event) {
  const { key, target } = event;
  if (target === $("note") && key === "Escape") $("title").focus({ preventScroll: true });
  if (target.matches("textarea, input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if ($("help").open || !$("single").checked || (event.repeat && !key.startsWith("Arrow"))) return;
  if (state.keys.has(key)) judge(state.keys.get(key));
  else if (key in commands) commands[key]();
  else return;
  event.preventDefault();
}

async function begin() {
  $("sign-in").hidden = true;
  document.querySelector("header").hidden = false;
  tell("who", state.name);
  if (adjudicates) document.title = "Differences";
  const reply = await ask("start", {});
  showGrades(reply.grades);
  $("topics").append(...reply.topics.map(({ id, query }) => element("option", { value: id }, `${id}: ${query.slice(0, 70)}`)));
  $("topics").parentElement.hidden = adjudicates;
  tell("other", adjudicates ? "Judge" : `Differences (${reply.differences.toLocaleString("en")})`);
  $("other").href = adjudicates ? "./" : "adjudicate";
  $("said").hidden = !adjudicates;
  $("topic").open = innerWidth > 900;
  addEventListener("keydown", onKey);
  for (const [id, key] of [["undo", "u"], ["back", "ArrowLeft"], ["forward", "ArrowRight"], ["keys", "?"]]) $(id).addEventListener("click", commands[key]);
  $("note").addEventListener("change", saveNote);
  $("topics").addEventListener("change", () => choose($("topics").value));
  show(reply);
}

$("single").checked = localStorage.getItem("judge-keys") !== "off";
$("single").addEventListener("change", () => localStorage.setItem("judge-keys", $("single").checked ? "on" : "off"));
$("leave").addEventListener("click", () => { localStorage.removeItem("judge-name"); location.reload(); });
$("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  state.name = $("name").value.trim();
  localStorage.setItem("judge-name", state.name);
  if (state.name) begin();
});
state.name = localStorage.getItem("judge-name") ?? "";
if (state.name) begin();
else { $("sign-in").hidden = false; $("name").focus(); }
