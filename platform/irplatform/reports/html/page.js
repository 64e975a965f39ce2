"use strict";
// The page's behaviour: sorts tables, draws plots, and shows two rankings of a topic side by side.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const state = { measure: 0, topic: 0, left: 0, right: 1, show: 10 };
const views = {};

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const signed = (value, digits = 4) => (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(digits);
const valueOf = (topic, system) => topic.values[state.measure][system];
const difference = (topic) => valueOf(topic, state.right) - valueOf(topic, state.left);
const gradeOf = (topic, number) => topic.grades[number];
const nameOf = (topic, number) => data.titles[topic.documents[number]] || data.ids[topic.documents[number]];
const styleOf = (grade) => (grade === null || grade < 0 ? "gn" : grade <= 0 ? "g0" : grade < 2 ? "g1" : "g2");

function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
  select.value = String(chosen);
}

// Tables

function sortBy(button) {
  const head = button.closest("th");
  const column = [...head.parentElement.children].indexOf(head);
  const body = head.closest("table").tBodies[0];
  const valued = [...body.rows].map((row) => [row.cells[column].dataset.value, row]);
  const numbers = valued.every(([value]) => value !== "" && !Number.isNaN(Number(value)));
  const before = head.getAttribute("aria-sort");
  const direction = before === "none" ? (numbers ? "descending" : "ascending") : before === "ascending" ? "descending" : "ascending";
  for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  valued.sort(([one], [other]) => sign * (numbers ? one - other : one.localeCompare(other)));
  body.append(...valued.map(([, row]) => row));
}

// Plots

function tooltip(_handler, event, _item, value) {
  const tip = $("tip");
  tip.hidden = !value || typeof value !== "object";
  if (tip.hidden) return;
  const rows = Object.entries(value).filter(([, text]) => text !== "");
  tip.replaceChildren(element("dl", {}, ...rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, String(text))])));
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8))}px`;
}

async function draw(name, rows, title) {
  const spec = JSON.parse(JSON.stringify(data.plots[name]).replaceAll("@title", JSON.stringify(title ?? "").slice(1, -1)));
  for (const each of spec.data) if (each.name === "rows") each.values = rows;
  views[name]?.finalize();
  views[name] = await vegaEmbed($(`plot-${name}`), spec, { mode: "vega", renderer: "svg", actions: false, ast: true, tooltip });
  if (name === "topics") {
    views[name].view.addEventListener("click", (_event, item) => {
      const place = data.topics.findIndex((topic) => topic.id === item?.datum?.topic);
      if (place >= 0) choose(place, true);
    });
  }
}

// Plots are drawn anew in the width that they have on paper: smaller pictures have smaller letters.
function fitPaper(printing) {
  for (const [name, { view }] of Object.entries(views)) {
    const width = printing ? (name.startsWith("curve-") ? 335 : 690) : $(`plot-${name}`).clientWidth;
    view.signal("width", width).run();
  }
}

function drawTopics() {
  const [one, other] = data.pairs[$("pair").value].map((name) => data.systems.indexOf(name));
  const rows = [...data.topics, ...data.others].map((topic) => {
    const values = topic.values[state.measure], change = values[other] - values[one];
    return { topic: topic.id, query: topic.query, difference: change, baseline: values[one], system: values[other], result: change > 0 ? "gain" : change < 0 ? "loss" : "same" };
  });
  rows.sort((a, b) => b.difference - a.difference);
  rows.forEach((row, order) => { row.order = order; });
  const named = `${data.measures[state.measure]}: ${data.systems[other]} − ${data.systems[one]}`;
  $("topics-of").textContent = named;
  return draw("topics", rows, named.length <= 36 ? named : `${data.measures[state.measure]}: difference`);
}

function drawIntervals() {
  const measure = data.measures[state.measure];
  return draw("intervals", data.intervals[measure], `${measure}: difference`);
}

// Topics

function listTopics() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (topic) => `${topic.id} ${topic.query} ${Object.values(topic.fields).join(" ")}`.toLowerCase();
  let places = data.topics.map((_, place) => place);
  places = places.filter((place) => words.every((word) => text(data.topics[place]).includes(word)));
  if ($("order").value === "difference") places.sort((a, b) => difference(data.topics[b]) - difference(data.topics[a]));
  $("topic-list").replaceChildren(...places.map((place) => {
    const topic = data.topics[place], change = difference(topic);
    const item = element("li", { role: "option", id: `topic-${place}`, "aria-selected": place === state.topic },
      element("span", { class: "id" }, topic.id),
      element("span", { class: change > 0 ? "plus" : change < 0 ? "minus" : "" }, signed(change, 3)),
      element("span", { class: "query" }, topic.query));
    item.addEventListener("click", () => choose(place));
    return item;
  }));
  $("topic-count").textContent = `${places.length} of ${data.topics.length} topics`;
  showChosen();
}

function showChosen() {
  const list = $("topic-list"), item = $(`topic-${state.topic}`);
  for (const other of list.children) other.setAttribute("aria-selected", other === item);
  if (item) list.setAttribute("aria-activedescendant", item.id);
  else list.removeAttribute("aria-activedescendant");
  if (item) list.scrollTop = Math.max(0, Math.min(item.offsetTop - list.offsetTop - 40, list.scrollHeight));
}

function choose(place, scroll = false) {
  state.topic = place;
  showChosen();
  showTopic();
  if (scroll) $("topic-head").scrollIntoView({ block: "start" });
}

function moveInList(event) {
  const items = [...$("topic-list").children];
  const now = items.findIndex((item) => item.id === `topic-${state.topic}`);
  const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: items.length - 1, PageDown: now + 8, PageUp: now - 8 }[event.key];
  if (to === undefined || !items.length) return;
  event.preventDefault();
  choose(Number(items[Math.max(0, Math.min(to, items.length - 1))].id.slice(6)));
}

// Rankings

function highlighter(topic) {
  const concepts = new Set(topic.concepts);
  const parts = [...topic.words, ...topic.concepts].sort((a, b) => b.length - a.length);
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = parts.length ? new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "gu") : null;
  return (text) => (pattern ? text.split(pattern) : [text]).map((part, place) =>
    place % 2 ? element("mark", { class: concepts.has(part) ? "concept" : null }, part) : part);
}

function documentItem(topic, number, rank, side, other, marked) {
  const grade = gradeOf(topic, number), style = styleOf(grade), byMachine = topic.machine?.includes(number);
  const there = other.indexOf(number) + 1, system = data.systems[side === "left" ? state.left : state.right];
  const move = there ? (side === "left" ? `→ ${there}` : there === rank ? `= ${there}` : `${there > rank ? "▲" : "▼"} from ${there}`)
    : side === "left" ? `→ beyond ${data.depth}` : `from beyond ${data.depth}`;
  const explained = topic.explanations[system]?.[number];
  const title = data.titles[topic.documents[number]];
  const item = element("li", { class: style, "data-document": number },
    element("span", { class: "rank" }, String(rank)),
    element("div", {},
      title ? element("div", { class: "title" }, ...marked(title)) : null,
      topic.passages[number] ? element("div", { class: "passage" }, ...marked(topic.passages[number])) : null,
      element("div", { class: "meta" },
        element("span", { class: `grade ${style}`, title: style === "gn" ? "not judged" : `grade ${grade}${byMachine ? ", by a machine" : ""}` },
          style === "gn" ? "–" : `${grade}${byMachine ? " m" : ""}`),
        element("span", {}, data.ids[topic.documents[number]]),
        element("span", {}, move),
        element("span", {}, `score ${topic.scores[side === "left" ? state.left : state.right][rank - 1]}`),
        explained ? element("details", {}, element("summary", {}, "explain"), element("pre", {}, explained)) : null)));
  for (const [event, on] of [["mouseenter", true], ["mouseleave", false]]) {
    item.addEventListener(event, () => {
      for (const same of document.querySelectorAll(`[data-document="${number}"]`)) same.classList.toggle("same", on);
    });
  }
  return item;
}

function showTopic() {
  const topic = data.topics[state.topic];
  const marked = highlighter(topic);
  const facts = [...Object.entries(topic.fields), ["relevant documents", topic.relevant],
    ...data.systems.map((name, system) => [`${name} ${data.measures[state.measure]}`, valueOf(topic, system).toFixed(4)])];
  $("topic-head").replaceChildren(element("h3", {}, `${topic.id}: ${topic.query}`),
    element("dl", {}, ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(value))))));
  const rankings = { left: topic.runs[state.left], right: topic.runs[state.right] };
  for (const side of ["left", "right"]) {
    const other = rankings[side === "left" ? "right" : "left"];
    const head = element("li", { class: "head" }, element("h4", {}, `${data.systems[state[side]]} `, element("span", { class: "quiet" }, valueOf(topic, state[side]).toFixed(4))));
    const items = rankings[side].slice(0, state.show).map((number, place) => documentItem(topic, number, place + 1, side, other, marked));
    $(`list-${side}`).replaceChildren(head, ...(items.length ? items : [element("li", { class: "head" }, "no results")]));
  }
  showMoved(topic, rankings);
  link(topic);
  try { history.replaceState(null, "", `#${new URLSearchParams({ topic: topic.id, left: data.systems[state.left], right: data.systems[state.right], measure: data.measures[state.measure] })}`); } catch { /* some viewers forbid it */ }
}

function showMoved(topic, rankings) {
  const first = (side) => rankings[side].slice(0, state.show).join();
  const same = first("left") === first("right");
  $("sides").classList.toggle("same", same);
  const names = { left: data.systems[state.left], right: data.systems[state.right] };
  const counted = (side, test) => rankings[side].slice(0, state.show).filter((number) => test(gradeOf(topic, number))).length;
  const relevant = (grade) => grade > 0, unjudged = (grade) => styleOf(grade) === "gn";
  const lines = `Relevant in the first ${state.show}: ${names.left} ${counted("left", relevant)}, ${names.right} ${counted("right", relevant)}.`
    + ` Not judged: ${counted("left", unjudged)}, ${counted("right", unjudged)}.`;
  const both = new Set([...rankings.left, ...rankings.right]);
  const place = (side, number) => { const found = rankings[side].indexOf(number); return found < 0 ? data.depth + 1 : found + 1; };
  const moves = [...both].filter((number) => relevant(gradeOf(topic, number)))
    .map((number) => ({ number, left: place("left", number), right: place("right", number) }))
    .filter((each) => each.left !== each.right && Math.min(each.left, each.right) <= state.show)
    .sort((a, b) => Math.abs(Math.log(b.left / b.right)) - Math.abs(Math.log(a.left / a.right))).slice(0, 5);
  const rank = (value) => (value > data.depth ? `beyond ${data.depth}` : value);
  $("moved").replaceChildren(element("p", {}, lines), same ? element("p", {}, `${names.left} and ${names.right} rank the same ${state.show} documents first, in the same order.`) : "", moves.length ? element("p", {}, `Relevant documents that moved most from ${names.left} to ${names.right}:`) : "",
    element("ul", {}, ...moves.map((each) => element("li", {}, element("span", { class: each.right < each.left ? "plus" : "minus" }, `${rank(each.left)} → ${rank(each.right)}`), ` ${nameOf(topic, each.number)}`))));
}

function link(topic) {
  const links = $("links"), origin = links.getBoundingClientRect();
  const middle = (side, number) => {
    const item = $(`list-${side}`).querySelector(`[data-document="${number}"]`);
    const box = item?.getBoundingClientRect();
    return box ? box.top + Math.min(24, box.height / 2) - origin.top : null;
  };
  const paths = topic.runs[state.left].slice(0, state.show).map((number) => {
    const from = middle("left", number), to = middle("right", number);
    if (from === null || to === null) return null;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const width = origin.width, half = width / 2;
    path.setAttribute("d", `M2,${from} C${half},${from} ${half},${to} ${width - 2},${to}`);
    path.setAttribute("class", styleOf(gradeOf(topic, number)));
    path.setAttribute("data-document", number);
    return path;
  });
  links.replaceChildren(...paths.filter(Boolean));
}

// Choices

function changeMeasure() {
  state.measure = $("measure").selectedIndex;
  for (const block of document.querySelectorAll(".of-measure")) block.hidden = block.dataset.measure !== data.measures[state.measure];
  const drawn = [drawIntervals(), drawTopics()];
  if (data.topics.length) { listTopics(); showTopic(); }
  return Promise.all(drawn);
}

function changeSides() {
  state.left = Number($("left").value);
  state.right = Number($("right").value);
  state.show = Number($("show").value);
  listTopics();
  showTopic();
}

function start() {
  for (const button of document.querySelectorAll(".sort")) button.addEventListener("click", () => sortBy(button));
  fill($("pair"), data.pairs.map(([one, other], place) => [place, `${other} − ${one}`]), data.first);
  const asked = new URLSearchParams(location.hash.slice(1));
  const given = (list, name, otherwise) => { const found = list.indexOf(asked.get(name)); return found < 0 ? otherwise : found; };
  const [one, other] = data.pairs[data.first].map((name) => data.systems.indexOf(name));
  Object.assign(state, { left: given(data.systems, "left", one), right: given(data.systems, "right", other) });
  $("measure").selectedIndex = given(data.measures, "measure", 0);
  const listed = data.pairs.findIndex(([a, b]) => a === data.systems[state.left] && b === data.systems[state.right]);
  $("pair").value = listed < 0 ? data.first : listed;
  for (const side of ["left", "right"]) fill($(side), data.systems.map((name, place) => [place, name]), state[side]);
  fill($("show"), [10, 20, 50, 100].filter((count) => count <= Math.max(10, data.depth)).map((count) => [count, count]), 10);
  state.measure = $("measure").selectedIndex;
  const size = (place) => Math.abs(difference(data.topics[place]));
  const first = data.topics.map((_, place) => place).sort((a, b) => size(b) - size(a))[0] ?? 0;
  state.topic = given(data.topics.map((topic) => topic.id), "topic", first);
  const linked = asked.has("topic");
  $("measure").addEventListener("change", changeMeasure);
  $("pair").addEventListener("change", () => {
    const [left, right] = data.pairs[$("pair").value].map((name) => data.systems.indexOf(name));
    drawTopics();
    $("left").value = left;
    $("right").value = right;
    if (data.topics.length) changeSides();
  });
  for (const id of ["left", "right", "show"]) $(id).addEventListener("change", changeSides);
  $("passages").addEventListener("change", () => $("sides").classList.toggle("titles", !$("passages").checked));
  $("filter").addEventListener("input", listTopics);
  $("order").addEventListener("change", listTopics);
  $("topic-list").addEventListener("keydown", moveInList);
  $("copy")?.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText($("bibtex").textContent); $("copied").textContent = "copied"; }
    catch { getSelection().selectAllChildren($("bibtex")); $("copied").textContent = "selected: copy it with Ctrl+C"; }
  });
  const drawn = Object.keys(data.plots).filter((name) => name.startsWith("curve-")).map((name) => draw(name));
  drawn.push(changeMeasure());
  new ResizeObserver(() => data.topics.length && link(data.topics[state.topic])).observe($("sides"));
  // a plot has its height when it is drawn
  if (linked) Promise.allSettled(drawn).then(() => $("topic-head").scrollIntoView({ behavior: "instant" }));
  addEventListener("hashchange", () => { if (location.hash.includes("topic=")) location.reload(); });
  addEventListener("beforeprint", () => fitPaper(true));
  addEventListener("afterprint", () => fitPaper(false));
}

start();
})();
