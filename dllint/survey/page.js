"use strict";
// Everything that a source says is set as text. Only what is looked at is made: 50 sources at a time, findings when opened.
(() => {
  const STEP = 50, CHUNK = 100;
  const METHODS = ["fork", "spawn", "forkserver"];
  const HARMS = { exception: "stops", hang: "hangs", corrupt: "wrong data", bloat: "memory", ok: "works" };
  const byId = (id) => document.getElementById(id);
  const data = (id) => JSON.parse(byId(id).textContent);
  const sources = data("index").map(([name, outcome, reason, files, omitted, warnings, findings], at) =>
    ({ name, outcome, reason, files, omitted, warnings, findings, at, text: "" }));
  const inputs = ["query", "rule", "breaking", "outcome", "order"].map(byId);
  const [query, rule, breaking, outcome, order] = inputs;
  const list = byId("list"), more = byId("more"), count = byId("count");
  const chunks = new Map();
  let found = [], shown = 0;

  const many = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const breaks = (harm) => harm === "exception" || harm === "hang";
  const isNew = (finding) => breaks(finding[7]) && !breaks(finding[5]);
  const breaksBy = (finding, how) => how === "new" ? isNew(finding) : breaks(finding[5 + METHODS.indexOf(how)]);
  const matches = (finding) =>
    (!rule.value || finding[0] === rule.value) && (!breaking.value || breaksBy(finding, breaking.value));

  function searched(source) {
    source.text ||= [source.name, source.reason, ...source.findings.flatMap((f) => [f[0], f[1], f[4]])].join("\n").toLowerCase();
    return source.text;
  }

  function choose() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const narrow = rule.value || breaking.value;
    found = sources.filter((source) =>
      (!outcome.value || source.outcome === outcome.value) &&
      (!narrow || source.findings.some(matches)) &&
      words.every((word) => searched(source).includes(word)));
    if (order.value === "findings") found.sort((a, b) => b.findings.length - a.findings.length || a.at - b.at);
    const findings = found.reduce((sum, source) => sum + source.findings.filter(matches).length, 0);
    count.textContent = `${many(found.length, "source")}, ${many(findings, "finding")}`;
    list.replaceChildren();
    shown = 0;
    show();
  }

  function show() {
    const next = found.slice(shown, shown + STEP).map(row);
    list.append(...next);
    shown += next.length;
    more.hidden = shown >= found.length;
    return next[0];
  }

  function make(name, text, kind) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }

  function row(source) {
    const item = make("li"), details = make("details"), head = make("summary", source.name);
    if (source.outcome !== "ok") head.append(make("span", source.outcome, "badge bad"));
    const fresh = source.findings.filter(isNew).length;
    if (fresh) head.append(make("span", `${fresh} on 3.14`, "badge bad"));
    if (source.findings.length) head.append(make("span", many(source.findings.length, "finding"), "badge"));
    details.append(head);
    details.addEventListener("toggle", () => open(source, details), { once: true });
    item.append(details);
    return item;
  }

  function open(source, details) {
    if (source.reason) details.append(make("p", source.reason));
    for (const warning of source.warnings) details.append(make("p", `Warning: ${warning}`));
    const kept = source.omitted ? `, ${source.omitted} more findings are not kept` : "";
    details.append(make("p", many(source.files, "file") + kept));
    const number = Math.floor(source.at / CHUNK);
    if (!chunks.has(number)) chunks.set(number, data(`chunk-${number}`));
    const rest = chunks.get(number)[source.at % CHUNK];
    source.findings.forEach((finding, at) => { if (matches(finding)) details.append(article(finding, rest[at])); });
  }

  function article([code, path, line, column, message, ...harms], [certainty, route, frame, fix]) {
    const element = make("article"), title = make("p"), steps = make("ol");
    title.append(make("b", `${code} `), make("span", message));
    const where = make("p");
    where.append(make("code", `${path}:${line}:${column}`));
    const told = METHODS.flatMap((method, at) => harms[at] ? [`${method}: ${HARMS[harms[at]] || harms[at]}`] : []);
    where.append(make("span", ` ${[certainty, ...told].join(" · ")}`));
    const code_frame = make("pre", frame);
    code_frame.tabIndex = 0;
    for (const [text, place, at, from] of route) {
      const step = make("li", `${text} `);
      step.append(make("code", `${place}:${at}:${from}`));
      steps.append(step);
    }
    element.append(title, where);
    if (frame) element.append(code_frame);
    if (route.length) element.append(make("p", "Route to the workers:"), steps);
    if (fix) element.append(make("p", `Fix: ${fix}`));
    return element;
  }

  for (const input of inputs) input.addEventListener("input", choose);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => { const first = show(); if (first) first.querySelector("summary").focus(); });
  choose();
})();
