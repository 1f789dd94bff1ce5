// The packaged extension in a real VS Code (code-server), driven through a browser, beside Ruff's language server and a
// stand-in for the Python extension, which says that PYTHON is chosen.
// CODE_SERVER, CHROMIUM, PYTHON and RUFF name the programs; PICTURES a folder for pictures.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const { CODE_SERVER = "code-server", CHROMIUM = "/usr/bin/chromium", PYTHON = "python3", RUFF = "ruff", PICTURES } = process.env;
const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const PATIENCE = { timeout: 60_000 };
const EXAMPLE = resolve("../../examples/training");

const NOTEBOOK = "from torch.utils.data import DataLoader\nloader = DataLoader([1], num_workers=2, collate_fn=lambda batch: batch)\n";

const home = mkdtempSync(join(tmpdir(), "dllint-vscode-"));
const project = join(home, "training");
const extensions = ["--user-data-dir", join(home, "data"), "--extensions-dir", join(home, "extensions")];

function run(program, args, cwd = ".") {
  const done = spawnSync(program, args, { cwd, encoding: "utf8" });
  assert.equal(done.status, 0, `${program}: ${done.error ?? done.stdout + done.stderr}`);
}

/** Package the extensions that dllint's meets, and install all of them. */
async function install() {
  await build({
    entryPoints: ["test/neighbours/ruff/extension.ts"],
    outfile: join(home, "ruff", "dist", "extension.js"),
    external: ["vscode"],
    bundle: true,
    platform: "node",
  });
  cpSync("test/neighbours/ruff/package.json", join(home, "ruff", "package.json"));
  cpSync("test/neighbours/python", join(home, "python"), { recursive: true });
  const vsce = resolve("node_modules", ".bin", "vsce");
  for (const name of ["ruff", "python"]) {
    writeFileSync(join(home, name, "README.md"), "For tests.\n");
    run(vsce, ["package", "--no-dependencies", "--skip-license", "--allow-missing-repository", "--out", "it.vsix"], join(home, name));
    run(CODE_SERVER, [...extensions, "--install-extension", join(home, name, "it.vsix")]);
  }
  run(CODE_SERVER, [...extensions, "--install-extension", resolve("dllint.vsix")]);
}

function prepare() {
  cpSync(EXAMPLE, project, { recursive: true, filter: (name) => !name.includes("__pycache__") });
  writeFileSync(join(project, "ruff.toml"), '[lint]\nselect = ["F", "RUF100", "RUF102"]\n');
  const cell = { cell_type: "code", metadata: {}, outputs: [], execution_count: null, source: NOTEBOOK };
  const content = { cells: [cell], metadata: { language_info: { name: "python" } }, nbformat: 4, nbformat_minor: 5 };
  writeFileSync(join(project, "notes.ipynb"), JSON.stringify(content));
  const user = join(home, "data", "User");
  mkdirSync(user, { recursive: true });
  const settings = {
    "editor.codeActionsOnSave": { "source.fixAll.ruff": "explicit" },
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Default Light Modern",
    "editor.minimap.enabled": false,
    "chat.commandCenter.enabled": false,
  };
  writeFileSync(join(user, "settings.json"), JSON.stringify(settings));
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

async function serve(port) {
  const options = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  const server = spawn(CODE_SERVER, [...extensions, ...options], {
    detached: true, // a group of its own, to be ended whole
    env: { ...process.env, PYTHON, RUFF },
  });
  await new Promise((done, fail) => {
    server.stdout.on("data", (text) => String(text).includes("HTTP server listening") && done());
    server.once("exit", (code) => fail(new Error(`code-server ended with ${code}`)));
  });
  return server;
}

class Window {
  constructor(page) {
    this.page = page;
  }

  async picture(name) {
    if (PICTURES) await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }

  async pick(text, key) {
    await this.page.keyboard.press(key);
    await this.page.locator(".quick-input-widget input").waitFor(PATIENCE);
    await this.page.keyboard.type(text, { delay: 15 });
    await this.page.locator(".quick-input-list .monaco-list-row").first().waitFor(PATIENCE);
    await this.page.waitForTimeout(600);
    await this.page.keyboard.press("Enter");
  }

  command(title) {
    return this.pick(title, "F1");
  }

  async open(name, line, column) {
    await this.page.locator(".explorer-viewlet .monaco-list-row", { hasText: name }).dblclick();
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor(PATIENCE);
    await this.pick(`:${line}:${column}`.slice(1), "Control+g");
    await this.page.waitForTimeout(300);
  }

  /** Open the light bulb and choose an action by its keys: a block lies over the list that takes away clicks. */
  async act(title, before = async () => undefined) {
    await this.page.keyboard.press("Control+.");
    const rows = this.page.locator(".action-widget .monaco-list-row.action");
    await rows.filter({ hasText: title }).waitFor(PATIENCE);
    const offered = await rows.allInnerTexts();
    await before();
    const focused = this.page.locator(".action-widget .monaco-list-row.focused");
    for (let tries = 0; tries < offered.length && !(await focused.innerText()).includes(title); tries++) {
      await this.page.keyboard.press("ArrowDown");
    }
    assert.ok((await focused.innerText()).includes(title));
    await this.page.keyboard.press("Enter");
    return offered;
  }

  status(text) {
    return this.page.locator(".statusbar-item", { hasText: text }).first().waitFor(PATIENCE);
  }

  activeTab() {
    return this.page.locator(".tab.active").getAttribute("data-resource-name");
  }
}

async function findings(one) {
  await one.open("vocab.py", 23, 40);
  await one.status("dllint 9");
  await one.page.locator(".squiggly-error").first().waitFor(PATIENCE);
  await one.page.keyboard.press("Control+Shift+M");
  await one.page.locator(".markers-panel .monaco-list-row", { hasText: "DLL105" }).waitFor(PATIENCE);
  await one.page.waitForTimeout(800);
  await one.picture("vscode-findings");
  await one.page.keyboard.press("Control+j");
}

async function hover(one) {
  await one.open("vocab.py", 23, 40);
  await one.page.keyboard.press("Control+k");
  await one.page.keyboard.press("Control+i");
  const shown = one.page.locator(".monaco-hover", { hasText: "lambda-default-factory" }).first();
  await shown.waitFor(PATIENCE);
  assert.ok((await shown.innerText()).length < 1200, "a hover is short");
  await one.picture("vscode-hover");
  await one.page.keyboard.press("Escape");
}

async function route(one) {
  await one.open("vocab.py", 23, 40);
  await one.command("dllint: Show Route");
  const rows = one.page.locator(".quick-input-list .monaco-list-row");
  await one.page.locator(".quick-input-titlebar", { hasText: "DLL101: from the cause to the workers" }).waitFor(PATIENCE);
  const steps = await rows.count();
  const passed = [];
  for (let step = 1; step < steps; step++) {
    await one.page.keyboard.press("ArrowDown");
    await one.page.waitForTimeout(700);
    passed.push(await one.activeTab());
  }
  assert.deepEqual([...new Set(passed)], ["vocab.py", "data.py", "loaders.py"]);
  await one.picture("vscode-route");
  await one.page.keyboard.press("Escape");
  await one.page.locator('.tab.active[data-resource-name="vocab.py"]').waitFor(PATIENCE);
}

async function explain(one) {
  await one.open("vocab.py", 23, 40);
  await one.act("(DLL101): explain");
  await one.page.locator(".tab.active", { hasText: "Preview dll101_lambda_default_factory.md" }).waitFor(PATIENCE);
  await one.page.keyboard.press("Control+k");
  await one.page.keyboard.press("w"); // closes all editors: the browser takes Control+W for itself
  await one.page.locator(".tab.active").waitFor({ ...PATIENCE, state: "detached" });
}

/** A cell of a notebook has its finding. */
async function notebook(one) {
  await one.page.locator(".explorer-viewlet .monaco-list-row", { hasText: "notes.ipynb" }).dblclick();
  const cell = one.page.locator(".notebookOverlay .cell.code");
  await cell.locator(".squiggly-warning, .squiggly-error").first().waitFor(PATIENCE);
  await one.picture("vscode-notebook");
  await one.page.keyboard.press("Control+k");
  await one.page.keyboard.press("w");
  await one.page.locator(".tab.active").waitFor({ ...PATIENCE, state: "detached" });
}

async function fix(one) {
  await one.open("vocab.py", 23, 40);
  const offered = await one.act("Move the lambda to the function", () => one.picture("vscode-fix"));
  assert.ok(offered.some((text) => text.includes("show the route")), offered.join("\n"));
  assert.ok(!offered.some((text) => text.includes("everything that is safe")), "nothing here is safe");
  await one.status("dllint 8");
  await one.page.keyboard.press("Control+s");
  await one.page.waitForTimeout(1000);
  await one.picture("vscode-fixed");
  const text = readFileSync(join(project, "vocab.py"), "utf8");
  assert.match(text, /def _default_word2id\(\):\n {4}return UNK_ID/);
  assert.match(text, /defaultdict\(_default_word2id\)/);
}

async function silence(one) {
  await one.open("transforms.py", 28, 22);
  await one.page.locator(".squiggly-error").first().waitFor(PATIENCE);
  await one.act("(DLL102): disable for this line");
  await one.status("dllint 7");
  await one.page.keyboard.press("Control+Home");
  await one.page.keyboard.type("MARK = 1  # noqa: DLL101\n"); // a comment that Ruff takes away
  await one.page.locator(".view-line", { hasText: "noqa: DLL101" }).waitFor(PATIENCE);
  await one.page.locator(".squiggly-warning").first().waitFor(PATIENCE);
  await one.page.keyboard.press("Control+s");
  const text = () => readFileSync(join(project, "transforms.py"), "utf8");
  for (let tries = 0; tries < 50 && !/^MARK = 1\n/.test(text()); tries++) await one.page.waitForTimeout(200);
  assert.match(text(), /^MARK = 1\n/, "Ruff fixes when saving");
  assert.match(text(), /# dllint: ignore\[DLL102\]/);
}

async function restart(one) {
  await one.command("dllint: Restart Server");
  await one.page.waitForTimeout(1500);
  await one.status("dllint 7");
  await one.command("dllint: Show Output");
  await one.page.locator(".output-view-container, .panel .view-lines", { hasText: "the chosen interpreter" }).first().waitFor(PATIENCE);
  await one.picture("vscode-output");
}

/** A wrong setting is told of, and put right without a reload. */
async function failure(one) {
  mkdirSync(join(project, ".vscode"));
  const setting = join(project, ".vscode", "settings.json");
  writeFileSync(setting, JSON.stringify({ "dllint.path": "/no/such/dllint" }));
  await one.page.locator(".notification-list-item", { hasText: "/no/such/dllint was not found" }).waitFor(PATIENCE);
  await one.page.locator(".statusbar-item.error-kind", { hasText: "dllint" }).waitFor(PATIENCE);
  await one.picture("vscode-failure");
  rmSync(setting);
  await one.status("dllint 7");
}

prepare();
await install();
const port = await freePort();
const server = await serve(port);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
let one;
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  one = new Window(await context.newPage());
  await one.page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(project)}`);
  await one.page.locator(".monaco-workbench .explorer-viewlet").waitFor(PATIENCE);
  for (const part of [findings, hover, route, explain, fix, silence, notebook, restart, failure]) {
    await part(one);
    console.log(`ok ${part.name}`);
  }
} catch (error) {
  if (one) await one.picture("vscode-failed");
  throw error;
} finally {
  await browser.close();
  process.kill(-server.pid);
  rmSync(home, { recursive: true, force: true });
}
