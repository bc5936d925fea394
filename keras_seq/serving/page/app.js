// The page speaks TensorFlow Serving's REST contract to where it came from.
// What users and models write is only ever set as textContent.
"use strict";

const TASKS = ["translation", "sentiment", "captioning"];
const EXAMPLES = {
  translation: ["The black cat sleeps.", "Do you like red wine?"],
  sentiment: [
    "A warm, funny film that I would gladly see again.",
    "Not bad at all - the ending, however, is a mess.",
  ],
};
const WORST = -1e8; // the score of an alternative that there is not
const STEP_MS = 900;

const models = {}; // task -> {name, version}
const state = { task: "", text: {}, layer: "words", head: "mean" };
const $ = (selector, root = document) => root.querySelector(selector);
const panel = (task) => document.getElementById(task);

function element(tag, text = "", attributes = {}) {
  const node = document.createElement(tag);
  node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  return node;
}

// ---- The server ----------------------------------------------------------

class ServerError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// A key is kept for this tab only.
function stored(name) {
  try { return sessionStorage.getItem(name); } catch { return null; }
}

async function request(path, options = {}) {
  let answer;
  const key = stored("key");
  const headers = { ...options.headers, ...(key && { Authorization: `Bearer ${key}` }) };
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, "The server cannot be reached.");
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok && body) return body;
  const busy = answer.status === 429 || answer.status === 503;
  const said = body && typeof body.error === "string" ? body.error : "";
  const why = busy ? "The server is busy; try again." : `Error ${answer.status}.`;
  throw new ServerError(answer.status, said ? `${why} ${said}` : why);
}

async function predict(task, signature, instance, signal) {
  const body = JSON.stringify({ signature_name: signature, instances: [instance] });
  const name = encodeURIComponent(models[task].name);
  const answer = await request(`/v1/models/${name}:predict`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    signal,
  });
  if (!Array.isArray(answer.predictions) || !answer.predictions.length) {
    throw new ServerError(0, "The server's answer holds no prediction.");
  }
  return answer.predictions[0];
}

// Not every model explains itself: then its plain answer has to do.
async function explain(task, instance, signal) {
  try {
    if (has(task, "explain")) return await predict(task, "explain", instance, signal);
    return await plain();
  } catch (error) {
    if (models[task].signatures || error.status !== 400) throw error;
    return plain();
  }

  async function plain() {
    const answer = await predict(task, "serving_default", instance, signal);
    return typeof answer === "string" ? { text: answer } : answer;
  }
}

async function nBest(task, instance, signal) {
  if (!has(task, "n_best")) return null;
  return predict(task, "n_best", instance, signal).catch(() => null);
}

// TensorFlow Serving itself does not list signatures: then it is tried.
function has(task, signature) {
  const { signatures } = models[task];
  return !signatures || signatures.includes(signature);
}

async function findModels() {
  try {
    const listed = await request("/api/models");
    for (const model of listed.models) {
      const task = model.task || model.name;
      if (TASKS.includes(task) && !models[task]) models[task] = model;
    }
    return;
  } catch (error) {
    if (error.status === 401) throw error;
  }
  // TensorFlow Serving itself has no such list: ask for the usual names.
  await Promise.all(TASKS.map(async (name) => {
    const found = await request(`/v1/models/${name}`).catch(() => null);
    const versions = (found && found.model_version_status) || [];
    const ready = versions.find((version) => version.state === "AVAILABLE");
    if (ready) models[name] = { name, version: ready.version };
  }));
}

// ---- One question at a time ------------------------------------------------

const running = {}; // task -> AbortController

async function ask(task, show, work) {
  if (!models[task]) return;
  if (running[task]) running[task].abort();
  const control = new AbortController();
  running[task] = control;
  const result = $(".result", panel(task));
  const problem = $(".error", panel(task));
  problem.hidden = true;
  result.setAttribute("aria-busy", "true");
  say("Waiting for the model");
  const start = performance.now();
  try {
    const answer = await work(control.signal);
    if (running[task] !== control) return;
    const took = performance.now() - start;
    result.hidden = false;
    $("#spoken").textContent = show(answer) || "";
    say(`${Math.round(took)} ms, ${models[task].name} version ${models[task].version}`);
  } catch (error) {
    if (running[task] !== control || error.name === "AbortError") return;
    result.hidden = true;
    problem.textContent = error.message;
    problem.hidden = false;
    say("No answer");
  } finally {
    if (running[task] === control) result.removeAttribute("aria-busy");
  }
}

function say(text) {
  $("#status").textContent = text;
}

// ---- Words that light up -----------------------------------------------------

function wordButtons(list, words, onChoose) {
  const buttons = words.map((word, index) => {
    const button = element("button", word, { type: "button" });
    button.tabIndex = index ? -1 : 0;
    button.addEventListener("pointerenter", () => onChoose(index));
    button.addEventListener("focus", () => onChoose(index));
    button.addEventListener("click", () => onChoose(index));
    button.addEventListener("keydown", (event) => {
      const place = {
        ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: buttons.length - 1,
      }[event.key];
      const next = buttons[place];
      if (!next) return;
      event.preventDefault();
      button.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    return button;
  });
  list.replaceChildren(...buttons.map((button) => {
    const item = element("li");
    item.append(button);
    return item;
  }));
  return buttons;
}

function light(buttons, weights) {
  const most = Math.max(...weights, 1e-9);
  buttons.forEach((button, index) => {
    const weight = weights[index] || 0;
    button.style.setProperty("--w", (weight / Math.max(most, 0.15)).toFixed(3));
  });
}

function choose(buttons, index) {
  buttons.forEach((button, i) => {
    button.classList.toggle("chosen", i === index);
    if (i === index) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
}

function strongest(words, weights, count = 3) {
  return weights
    .map((weight, index) => [weight, words[index]])
    .sort((a, b) => b[0] - a[0])
    .filter(([weight], rank) => rank < count && weight >= 0.01)
    .map(([weight, word]) => `${word} ${percent(weight)}`)
    .join(", ");
}

function percent(share) {
  if (share >= 1) return "100 %";
  return share > 0.999 ? "over 99.9 %" : `${(100 * share).toFixed(1)} %`;
}
const signed = (number) => number.toFixed(2).replace("-", "\u2212");
const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / (numbers.length || 1);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// Rows of a batch are padded with "" at the end.
function unpadded(words) {
  let end = (words || []).length;
  while (end && words[end - 1] === "") end -= 1;
  return (words || []).slice(0, end);
}

function rank(values) {
  return Array.isArray(values) ? 1 + rank(values[0]) : 0;
}

function meanOf(matrices) {
  return matrices[0].map((row, t) => row.map((_, s) => mean(matrices.map((m) => m[t][s]))));
}

// ---- Translation ---------------------------------------------------------------

let translated = null;
let redrawLinks = () => {};

function runTranslation(text) {
  return ask("translation", showTranslation, async (signal) => {
    const alternatives = nBest("translation", text, signal);
    const answer = await explain("translation", text, signal);
    return { answer, alternatives: await alternatives };
  });
}

function showTranslation({ answer, alternatives }) {
  translated = answer;
  const attention = answer.attention || [];
  const layers = attention.map((_, i) => [String(i), `Layer ${i + 1}`]);
  const heads = (attention[0] || []).map((_, i) => [String(i), `Head ${i + 1}`]);
  options("layer", answer.alignment ? [["words", "Word alignment"], ...layers] : layers);
  options("head", [["mean", "Mean of all"], ...heads]);
  $(".choices", panel("translation")).hidden = !attention.length;
  showAttention();
  showAlternatives("translation", alternatives);
  return `Translation: ${answer.text || unpadded(answer.target_words).join(" ")}`;
}

function showAlternatives(task, alternatives) {
  const box = $(".n-best", panel(task));
  const texts = (alternatives && alternatives.texts) || [];
  const rows = texts
    .map((text, i) => [text, alternatives.scores[i]])
    .filter(([, score]) => score > WORST)
    .map(([text, score]) => {
      const row = element("tr");
      row.append(element("td", text), element("td", signed(score), { class: "number" }));
      return row;
    });
  $("tbody", box).replaceChildren(...rows);
  box.hidden = rows.length < 2;
}

function options(name, values) {
  const select = $(`[data-choice="${name}"]`);
  select.replaceChildren(...values.map(([value, text]) => element("option", text, { value })));
  const known = values.some(([value]) => value === state[name]);
  if (!known && values.length) state[name] = values[0][0];
  select.value = state[name];
}

// What is shown: words by the model's own alignment, or tokens by layer, head.
function currentView() {
  const { layer, head } = state;
  const byWords = layer === "words" || !translated.attention;
  if (byWords && translated.alignment) {
    return {
      source: unpadded(translated.source_words),
      target: unpadded(translated.target_words),
      weights: translated.alignment,
    };
  }
  if (!translated.attention) {
    return { source: [], target: translated.text.split(/\s+/), weights: [] };
  }
  const heads = translated.attention[Number(layer) || 0];
  return {
    source: unpadded(translated.source_tokens),
    target: unpadded(translated.target_tokens),
    weights: head === "mean" ? meanOf(heads) : heads[Number(head)],
    tokens: true,
  };
}

function showAttention() {
  const view = currentView();
  const root = panel("translation");
  const detail = $(".detail", root);
  const weights = view.target.map((_, t) =>
    view.source.map((_, s) => (view.weights[t] || [])[s] || 0));
  $('[data-choice="head"]').disabled = !view.tokens;
  const draw = (chosen, from, to, row, words, arrow) => {
    choose(from, chosen);
    choose(to, -1);
    light(from, from.map(() => 0));
    light(to, row);
    const said = strongest(words, row);
    detail.textContent = said ? `${from[chosen].textContent} ${arrow} ${said}` : "";
    redrawLinks = () => drawLinks(from[chosen], to, row);
    redrawLinks();
  };
  const targets = wordButtons($('[data-words="target"]', root), view.target, (t) =>
    draw(t, targets, sources, weights[t], view.source, "\u2190"));
  const sources = wordButtons($('[data-words="source"]', root), view.source, (s) =>
    draw(s, sources, targets, weights.map((row) => row[s]), view.target, "\u2192"));
  root.querySelectorAll(".words").forEach((list) =>
    list.classList.toggle("tokens", Boolean(view.tokens)));
  redrawLinks = () => drawLinks(null, [], []);
  redrawLinks();
  detail.textContent = "";
  if (targets.length && view.source.length) {
    draw(0, targets, sources, weights[0], view.source, "\u2190");
  }
}

function drawLinks(from, to, weights) {
  const svg = $(".links");
  const box = svg.getBoundingClientRect();
  const paths = to.flatMap((button, index) => {
    if (weights[index] < 0.1) return [];
    const [upper, lower] = [from, button]
      .map((node) => node.getBoundingClientRect())
      .sort((a, b) => a.top - b.top);
    const [x0, x1] = [upper, lower].map((r) => r.left + r.width / 2 - box.left);
    const [y0, y1] = [upper.bottom - box.top, lower.top - box.top];
    const middle = (y0 + y1) / 2;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x0} ${y0}C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}`);
    path.setAttribute("stroke-width", (0.75 + 3 * weights[index]).toFixed(2));
    path.setAttribute("stroke-opacity", Math.min(1, 0.3 + weights[index]).toFixed(2));
    return [path];
  });
  svg.replaceChildren(...paths);
}

// ---- Sentiment --------------------------------------------------------------------

function runSentiment(text) {
  return ask("sentiment", (answer) => showSentiment(text, answer), (signal) =>
    explain("sentiment", text, signal));
}

function showSentiment(text, answer) {
  const root = panel("sentiment");
  $(".verdict strong", root).textContent = answer.label;
  const sure = `${percent(answer.probability)} sure`;
  $(".verdict span", root).textContent = sure;
  showScale(answer);
  // Offsets count characters, of which JavaScript's strings have halves.
  const letters = Array.from(text);
  const spans = (answer.offsets || [])
    .map(([start, end], i) => ({ start, end, weight: answer.weights[i] || 0 }))
    .filter(({ start, end }) => start >= 0 && end > start);
  const total = sum(spans.map(({ weight }) => Math.abs(weight))) || 1;
  const most = Math.max(...spans.map(({ weight }) => Math.abs(weight)), 1e-9);
  const parts = [];
  let place = 0;
  for (const span of spans) {
    parts.push(document.createTextNode(letters.slice(place, span.start).join("")));
    span.word = letters.slice(span.start, span.end).join("");
    const mark = element("mark", span.word);
    mark.style.setProperty("--w", (Math.abs(span.weight) / most).toFixed(3));
    parts.push(mark);
    place = span.end;
  }
  parts.push(document.createTextNode(letters.slice(place).join("")));
  $(".review", root).replaceChildren(...parts);
  const rows = [...spans]
    .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
    .slice(0, 6)
    .map(({ word, weight }) => {
      const bar = element("span", "", { class: "bar" });
      bar.style.setProperty("--w", (Math.abs(weight) / most).toFixed(3));
      const cell = element("td", "", { class: "wide" });
      cell.append(bar);
      const row = element("tr");
      const share = percent(Math.abs(weight) / total);
      row.append(element("td", word), cell, element("td", share, { class: "number" }));
      return row;
    });
  $("tbody", root).replaceChildren(...rows);
  [$("h2", root), $("table", root)].forEach((node) => { node.hidden = !rows.length; });
  return `${answer.label}, ${sure}`;
}

// Between two labels there is a scale; of more there is none.
function showScale({ label, probability }) {
  const scale = $(".scale", panel("sentiment"));
  const labels = (models.sentiment.card || {}).labels || [];
  scale.hidden = labels.length !== 2 || !labels.includes(label);
  if (scale.hidden) return;
  const [low, track, high] = scale.children;
  [low.textContent, high.textContent] = labels;
  const share = label === labels[1] ? probability : 1 - probability;
  track.style.setProperty("--w", share.toFixed(4));
}

// ---- Captioning --------------------------------------------------------------------

const film = { image: null, words: [], maps: [], buttons: [], at: -1, timer: 0 };

async function runCaptioning(file) {
  stop();
  return ask("captioning", showCaption, async (signal) => {
    const image = await createImageBitmap(file).catch(() => {
      throw new ServerError(0, "This file is no image that the browser can read.");
    });
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = "";
    for (let i = 0; i < bytes.length; i += 8192) {
      binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
    }
    const instance = { b64: btoa(binary) };
    const alternatives = nBest("captioning", instance, signal);
    const answer = await explain("captioning", instance, signal);
    return { image, answer, alternatives: await alternatives };
  });
}

function showCaption({ image, answer, alternatives }) {
  const text = answer.text || answer.caption || "";
  let words = unpadded(answer.target_words || answer.words || answer.target_tokens || answer.tokens);
  if (!words.length) words = text.split(/\s+/).filter(Boolean);
  film.image = image;
  film.words = words;
  film.maps = mapsOf(answer.attention || answer.alignment, words.length);
  film.buttons = wordButtons($('[data-words="target"]', panel("captioning")), words, showStep);
  $(".drop").classList.add("small");
  const canvas = $("#captioning .result > canvas");
  fit(canvas, image, 480, 1024);
  film.buttons.forEach((button, index) => {
    const thumb = element("canvas", "", { "aria-hidden": "true" });
    fit(thumb, image, 200, 200);
    paint(thumb, film.maps[index]);
    button.prepend(thumb);
  });
  showAlternatives("captioning", alternatives);
  canvas.setAttribute("aria-label", `The image, lit where the model looks: ${text || words.join(" ")}`);
  showStep(0);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!calm && film.maps.length) play();
  return `Caption: ${text || words.join(" ")}`;
}

// A canvas of the shape of the image, its longer side within bounds.
function fit(canvas, image, least, most) {
  const side = Math.max(image.width, image.height);
  const scale = Math.min(Math.max(side, least), most) / side;
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
}

// The part of the picture that the model was shown: its middle, or all of it.
function seenPart(width, height) {
  const { fit: how, image_size: size } = models.captioning.card || {};
  if (how !== "crop" || !Array.isArray(size)) return [0, 0, width, height];
  const scale = Math.min(height / size[0], width / size[1]);
  const [h, w] = [size[0] * scale, size[1] * scale];
  return [(width - w) / 2, (height - h) / 2, w, h];
}

function paint(canvas, map) {
  const pen = canvas.getContext("2d");
  const { width, height } = canvas;
  pen.drawImage(film.image, 0, 0, width, height);
  if (!map) return;
  const most = Math.max(...map.flat(), 1e-9);
  const shade = new OffscreenCanvas(map[0].length, map.length);
  const shadePen = shade.getContext("2d");
  const [x0, y0, w, h] = seenPart(width, height);
  map.forEach((row, y) => row.forEach((weight, x) => {
    shadePen.fillStyle = `rgba(0, 0, 0, ${(0.72 * (1 - weight / most)).toFixed(3)})`;
    shadePen.fillRect(x, y, 1, 1);
  }));
  pen.imageSmoothingEnabled = true;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(shade, x0, y0, w, h);
  pen.fillStyle = "rgba(0, 0, 0, 0.72)";
  const frame = new Path2D();
  frame.rect(0, 0, width, height);
  frame.rect(x0, y0, w, h);
  pen.fill(frame, "evenodd");
}

// Attention (..., T, N), or (T, rows, columns), as one grid for each word.
function mapsOf(attention, count) {
  let found = attention || [];
  if (rank(found) === 3 && found.length >= count) return found.slice(0, count);
  while (rank(found) > 3) found = found.flat(1);
  if (rank(found) === 3) found = meanOf(found);
  return found.slice(0, count).map((row) => {
    const side = Math.floor(Math.sqrt(row.length));
    const cells = row.slice(row.length - side * side); // without a class token
    return Array.from({ length: side }, (_, y) => cells.slice(y * side, (y + 1) * side));
  });
}

function showStep(index) {
  if (!film.image || !film.words.length) return;
  film.at = Math.min(Math.max(index, 0), film.words.length - 1);
  choose(film.buttons, film.at);
  light(film.buttons, film.words.map((_, i) => (i === film.at ? 1 : 0)));
  paint($("#captioning .result > canvas"), film.maps[film.at]);
  const where = `Word ${film.at + 1} of ${film.words.length}: \u201c${film.words[film.at]}\u201d`;
  $(".detail", panel("captioning")).textContent = where;
}

function play() {
  if (film.at >= film.words.length - 1) showStep(0);
  $("[data-play]").textContent = "Pause";
  film.timer = setInterval(() => {
    if (film.at >= film.words.length - 1) stop();
    else showStep(film.at + 1);
  }, STEP_MS);
}

function stop() {
  clearInterval(film.timer);
  film.timer = 0;
  $("[data-play]").textContent = "Play";
}

// ---- The link, the tabs, the theme ---------------------------------------------------

const RUN = { translation: runTranslation, sentiment: runSentiment };

function writeLink() {
  const link = new URLSearchParams({ task: state.task });
  if (state.text[state.task]) link.set("text", state.text[state.task]);
  if (state.task === "translation" && state.layer !== "words") {
    link.set("layer", state.layer);
    link.set("head", state.head);
  }
  history.replaceState(null, "", `#${link}`);
}

function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  const task = TASKS.includes(link.get("task")) ? link.get("task") : "";
  const whole = (name, other) => (/^\d{1,3}$/.test(link.get(name)) ? link.get(name) : other);
  state.layer = whole("layer", "words");
  state.head = whole("head", "mean");
  select(models[task] ? task : TASKS.find((name) => models[name]) || TASKS[0]);
  const text = link.get("text");
  if (text && RUN[task] && models[task]) submit(task, text);
}

function submit(task, text) {
  $("textarea", panel(task)).value = text;
  state.text[task] = text;
  writeLink();
  return RUN[task](text);
}

function select(task) {
  state.task = task;
  if (task !== "captioning") stop();
  for (const name of TASKS) {
    const tab = document.getElementById(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === task));
    tab.tabIndex = name === task ? 0 : -1;
    panel(name).hidden = name !== task;
  }
  $("#share").hidden = task === "captioning"; // an image fits into no link
}

// An image may come to any tab: there is only one that it can be meant for.
function takeImage(files) {
  if (!files.length || !models.captioning) return;
  select("captioning");
  writeLink();
  runCaptioning(files[0]);
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("#theme").textContent = `Theme: ${theme}`;
  try { localStorage.setItem("theme", theme); } catch { /* private window */ }
}

function savedTheme() {
  let saved = null;
  try { saved = localStorage.getItem("theme"); } catch { /* private window */ }
  return ["light", "dark"].includes(saved) ? saved : "auto";
}

function wire() {
  for (const task of TASKS) {
    const tab = document.getElementById(`tab-${task}`);
    tab.addEventListener("click", () => { select(task); writeLink(); });
    tab.addEventListener("keydown", (event) => {
      const served = TASKS.filter((name) => models[name]);
      const here = served.indexOf(task);
      const place = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: -1 }[event.key];
      const next = place !== undefined && served.at(place % served.length);
      if (!next) return;
      event.preventDefault();
      select(next);
      writeLink();
      document.getElementById(`tab-${next}`).focus();
    });
  }
  for (const task of Object.keys(RUN)) {
    const form = $("form", panel(task));
    const field = $("textarea", form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (field.value.trim()) submit(task, field.value);
    });
    field.addEventListener("keydown", (event) => {
      const send = event.key === "Enter" && (event.ctrlKey || event.metaKey || task === "translation");
      if (send && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    $(".examples", form).replaceChildren(...EXAMPLES[task].map((text) => {
      const button = element("button", text, { type: "button" });
      button.addEventListener("click", () => submit(task, text));
      return button;
    }));
  }
  for (const name of ["layer", "head"]) {
    $(`[data-choice="${name}"]`).addEventListener("change", (event) => {
      state[name] = event.target.value;
      writeLink();
      showAttention();
    });
  }
  addEventListener("resize", () => redrawLinks());
  const drop = $(".drop");
  $("form", panel("captioning")).addEventListener("submit", (event) => event.preventDefault());
  $("input", drop).addEventListener("change", (event) => {
    takeImage(event.target.files);
    event.target.value = ""; // the same one may be chosen again
  });
  // Dropped beside the field, an image would replace the page.
  addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.toggle("over", drop.contains(event.target));
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    takeImage(event.dataTransfer.files);
  });
  addEventListener("paste", (event) => takeImage(event.clipboardData.files));
  document.querySelectorAll("[data-step]").forEach((button) => {
    button.addEventListener("click", () => {
      stop();
      showStep(film.at + Number(button.dataset.step));
    });
  });
  $("[data-play]").addEventListener("click", () => (film.timer ? stop() : play()));
  $("#theme").addEventListener("click", () => {
    const themes = ["auto", "light", "dark"];
    setTheme(themes[(themes.indexOf(savedTheme()) + 1) % 3]);
  });
  $("#share").addEventListener("click", async () => {
    writeLink();
    try {
      await navigator.clipboard.writeText(location.href);
      say("Link copied");
    } catch {
      say("The link is in the address bar");
    }
  });
  document.getElementById("key").addEventListener("submit", (event) => {
    event.preventDefault();
    try { sessionStorage.setItem("key", $("#key-text").value); } catch { /* private window */ }
    look();
  });
  addEventListener("hashchange", readLink);
}

async function start() {
  setTheme(savedTheme());
  wire();
  select(TASKS[0]);
  await look();
}

let looks = 0; // a late answer to an earlier key is no answer to this one

async function look() {
  const form = document.getElementById("key");
  const mine = ++looks;
  try {
    await findModels();
  } catch (error) {
    if (mine !== looks) return;
    say(error.message);
    form.hidden = false;
    TASKS.forEach((task) => { panel(task).hidden = true; });
    return;
  }
  if (mine !== looks) return;
  form.hidden = true;
  for (const task of TASKS) {
    const tab = document.getElementById(`tab-${task}`);
    tab.disabled = !models[task];
    if (tab.disabled) tab.title = "This server has no such model";
  }
  const found = TASKS.filter((task) => models[task]);
  say(found.length ? `Ready: ${found.join(", ")}` : "This server has no model for this page");
  readLink();
}

start();
