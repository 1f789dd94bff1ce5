import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";
import { Uri, fake } from "./vscode";
import { activeInterpreter, onInterpreterChange } from "../src/python";
import { SERVER_SETTINGS, serverSettings } from "../src/settings";
import { Status, tooltip } from "../src/status";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));

beforeEach(() => {
  fake.extensions = {};
  fake.settings = {};
  fake.diagnostics = [];
});

test("the interpreter is the one that the Python extension has chosen", async () => {
  assert.equal(await activeInterpreter(), undefined);
  let listener: unknown;
  const environments = {
    getActiveEnvironmentPath: () => ({ path: "/venv" }),
    resolveEnvironment: async ({ path }: { path: string }) => ({ executable: { uri: Uri.file(`${path}/bin/python`) } }),
    onDidChangeActiveEnvironmentPath: (given: unknown) => ((listener = given), { dispose: () => undefined }),
  };
  fake.extensions["ms-python.python"] = { isActive: false, activate: async () => ({ environments }) };
  assert.equal(await activeInterpreter(), "/venv/bin/python");
  const restart = () => undefined;
  await onInterpreterChange(restart);
  assert.equal(listener, restart);
  fake.extensions["ms-python.python"] = { isActive: true, exports: {} };
  assert.equal(await activeInterpreter(), undefined, "an extension without this part of the API");
});

test("the status bar says how it goes", () => {
  const status = new Status();
  assert.equal(fake.statusItem?.text, "$(circle-slash) dllint");
  status.set({ kind: "running", version: "0.1.0", command: "dllint", origin: "the PATH" });
  assert.equal(fake.statusItem?.text, "$(check) dllint");
  fake.diagnostics = [[Uri.file("/a.py"), [{ source: "dllint" }, { source: "Ruff" }, { source: "dllint" }]]];
  fake.diagnosticsChanged.fire(undefined);
  assert.equal(fake.statusItem?.text, "$(warning) dllint 2");
  assert.equal(fake.statusItem?.tooltip, "dllint 0.1.0 of the PATH\ndllint\n2 findings");
  status.set({ kind: "failed", problem: "dllint was not found" });
  assert.equal(fake.statusItem?.text, "$(error) dllint");
  assert.equal(tooltip(status.get(), 0), "dllint does not run: dllint was not found");
  status.dispose();
});

test("the server's settings are those of the manifest", () => {
  const own = Object.keys(manifest.contributes.configuration.properties).map((name) => name.replace("dllint.", ""));
  assert.deepEqual(
    own.filter((name) => !["enable", "path", "interpreter", "trace.server"].includes(name)),
    [...SERVER_SETTINGS],
  );
  fake.settings = { ignore: ["DLL2"], select: null, extendSelect: [], configuration: "" };
  assert.deepEqual(serverSettings(), { configuration: "", select: null, extendSelect: [], ignore: ["DLL2"] });
});

test("every command of the manifest is registered", () => {
  const source = readFileSync("src/extension.ts", "utf8");
  for (const { command } of manifest.contributes.commands) assert.ok(source.includes(`registerCommand("${command}"`), command);
});
