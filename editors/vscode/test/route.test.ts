import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Position, Range, Uri, fake, window } from "./vscode";
import { SAME, codeOf, findingsAt, showRoute, steps, walk } from "../src/route";
import { Routes } from "../src/actions";

const VOCAB = Uri.file("/project/vocab.py");
const LOADERS = Uri.file("/project/loaders.py");

function note(uri: Uri, line: number, message: string) {
  return { location: { uri, range: new Range(line, 4, line, 9) }, message };
}

function finding(code: string, line: number, related: object[] = []) {
  const message = `\`lambda\` of ${code} cannot be pickled: fails on macOS; use a function`;
  return { source: "dllint", code: { value: code, target: VOCAB }, range: new Range(line, 0, line, 5), message, relatedInformation: related };
}

const ROUTE = [note(VOCAB, 2, "kept as `word2id`"), note(LOADERS, 24, "`DataLoader(...)` starts the workers here")];
const one = finding("DLL101", 22, ROUTE);
// The stub's types stand for VS Code's.
const found = (diagnostic: object, uri = VOCAB) => ({ uri, diagnostic }) as never;
const at = (uri: Uri, line: number) =>
  findingsAt(fake.diagnostics as never, uri as never, new Position(line, 0) as never).map((item) => codeOf(item.diagnostic));

beforeEach(() => {
  fake.diagnostics = [
    [LOADERS, [finding("DLL103", 24), { ...finding("F401", 24), source: "Ruff" }]],
    [VOCAB, [one]],
  ];
  fake.shown = [];
  fake.messages = [];
  window.activeTextEditor = undefined;
});

test("a route begins at the cause and ends at the loader", () => {
  assert.deepEqual(
    steps(found(one)).map((step) => [step.uri.fsPath, step.range.start.line, step.text]),
    [
      ["/project/vocab.py", 22, "`lambda` of DLL101 cannot be pickled"],
      ["/project/vocab.py", 2, "kept as `word2id`"],
      ["/project/loaders.py", 24, "`DataLoader(...)` starts the workers here"],
    ],
  );
});

test("the other places of a finding are no steps of its route", () => {
  const also = finding("DLL101", 22, [...ROUTE, note(LOADERS, 30, SAME)]);
  assert.deepEqual(steps(found(also)), steps(found(one)));
});

test("a place has the findings that are there, then those that pass by, and none of other tools", () => {
  assert.deepEqual(at(LOADERS, 24), ["DLL103", "DLL101"]);
  assert.deepEqual(at(VOCAB, 22), ["DLL101"]);
  assert.deepEqual(at(VOCAB, 3), []);
});

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test("each step of the walk shows its file; Enter stays there", async () => {
  const walking = walk(found(one));
  assert.deepEqual(
    fake.picker?.items.map((item) => `${item.label} (${item.description})`),
    [
      "1. `lambda` of DLL101 cannot be pickled (vocab.py:23)",
      "2. kept as `word2id` (vocab.py:3)",
      "3. `DataLoader(...)` starts the workers here (loaders.py:25)",
    ],
  );
  fake.picker?.move(1);
  fake.picker?.move(2);
  fake.picker?.accept();
  await walking;
  await settled();
  assert.deepEqual(fake.shown, [
    "/project/vocab.py:23",
    "/project/vocab.py:3",
    "/project/loaders.py:25",
    "/project/loaders.py:25 stays",
  ]);
});

function editorAt(uri: Uri, line: number) {
  const place = new Position(line, 0);
  return { document: { uri }, selection: { active: place, start: place, end: place } };
}

test("Escape goes back to where one was", async () => {
  window.activeTextEditor = editorAt(VOCAB, 22);
  const walking = showRoute();
  await settled();
  fake.picker?.move(2);
  fake.picker?.hide();
  await walking;
  assert.deepEqual(fake.shown.slice(-2), ["/project/loaders.py:25", "/project/vocab.py again"]);
});

test("where nothing is reported, that is said", async () => {
  window.activeTextEditor = editorAt(Uri.file("/project/other.py"), 0);
  await showRoute();
  assert.deepEqual(fake.messages, ["dllint reports nothing here."]);
});

test("the light bulb offers the route of findings that have one", () => {
  const context = { diagnostics: [one, finding("DLL301", 1), { ...one, source: "Pylance" }] };
  const offered = new Routes().provideCodeActions({ uri: VOCAB } as never, undefined, context as never);
  assert.deepEqual(
    offered.map((action) => [action.title, action.command?.command]),
    [["dllint (DLL101): show the route to the workers", "dllint.showRoute"]],
  );
});
