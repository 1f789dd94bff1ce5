import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates, execute, filledIn, locate, probe, type Run } from "../src/locate";

const commands = (wishes: Parameters<typeof candidates>[0], windows = false) =>
  candidates(wishes, windows).map((one) => one.command.join(" "));

test("a setting is taken at its word, and nothing else is tried", () => {
  assert.deepEqual(commands({ path: "/opt/dllint", interpreter: "/opt/python", active: "/venv/python" }), ["/opt/dllint"]);
  assert.deepEqual(commands({ path: "", interpreter: "/opt/python", active: "/venv/python" }), ["/opt/python -m dllint"]);
});

test("the chosen interpreter comes before the PATH", () => {
  assert.deepEqual(commands({ path: "", interpreter: "", active: "/venv/python" }), [
    "/venv/python -m dllint",
    "dllint",
    "python3 -m dllint",
  ]);
  assert.deepEqual(commands({ path: "", interpreter: "" }, true), ["dllint", "python -m dllint"]);
});

/** A machine with these programs: what each prints, or the exit status with which it fails. */
function machine(programs: Record<string, { version?: string; lacks?: string; stderr?: string }>): Run {
  return async (program, args) => {
    const known = programs[program];
    if (!known) throw new Error(`${program} was not found`);
    if (args[0] === "-c") return { code: 0, stdout: `${known.lacks ?? ""}\n`, stderr: "" };
    if (!known.version) return { code: 1, stdout: "", stderr: known.stderr ?? "" };
    return { code: 0, stdout: `dllint ${known.version}\n`, stderr: "" };
  };
}

test("the first that runs is taken, and why not the others is told", async () => {
  const python = { stderr: "Traceback\n/venv/python: No module named dllint\n" };
  const { found, tried } = await locate(
    { path: "", interpreter: "", active: "/venv/python" },
    machine({ "/venv/python": python, dllint: { version: "0.1.0" } }),
  );
  assert.equal(found?.version, "0.1.0");
  assert.deepEqual(found?.candidate.command, ["dllint"]);
  assert.deepEqual(tried[0], { candidate: tried[0].candidate, problem: "/venv/python: No module named dllint" });
});

test("an environment without the server's packages is told of, with the remedy", async () => {
  const { found, tried } = await locate(
    { path: "", interpreter: "/p" },
    machine({ "/p": { version: "0.1.0", lacks: "pygls lsprotocol" }, dllint: { version: "9" } }),
  );
  assert.equal(found, undefined);
  assert.equal(tried.length, 1);
  assert.match(JSON.stringify(tried), /dllint 0.1.0 lacks pygls and lsprotocol: pip install \\"dllint\[lsp\]\\"/);
});

test("a program that does not exist, and one that is no dllint", async () => {
  const named = (path: string) => ({ command: [path], origin: "dllint.path", chosen: true });
  const gone = await probe(named("/no/such/program"), execute);
  assert.ok("problem" in gone && gone.problem === "/no/such/program was not found");
  const other = await probe(named(process.execPath), execute);
  assert.ok("problem" in other && other.problem === "this is no dllint");
});

test("variables in settings", () => {
  const value = " ${workspaceFolder}/.venv/${env:KIND}/${env:NONE}python$& ";
  assert.equal(filledIn(value, "/w$1", "/home/me", { KIND: "bin" }), "/w$1/.venv/bin/python$&");
  assert.equal(filledIn("${userHome}/x", "", "/home/me", {}), "/home/me/x");
});
