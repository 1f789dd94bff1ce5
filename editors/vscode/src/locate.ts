// Which dllint to run: the command or the interpreter of the settings, else the interpreter that the Python extension
// has chosen, else what is on the PATH.

import { execFile } from "node:child_process";

/** A way to run dllint. */
export interface Candidate {
  /** The program and the arguments before `server`. */
  readonly command: readonly string[];
  /** Where it comes from, for people. */
  readonly origin: string;
  /** Whether a setting names it: then nothing else is tried. */
  readonly chosen: boolean;
}

/** A candidate that was tried. */
export type Tried =
  | { readonly candidate: Candidate; readonly version: string }
  | { readonly candidate: Candidate; readonly problem: string };

export interface Wishes {
  readonly path: string;
  readonly interpreter: string;
  /** The interpreter that the Python extension has chosen. */
  readonly active?: string;
}

export type Run = (program: string, args: readonly string[]) => Promise<{ code: number; stdout: string; stderr: string }>;

const PATIENCE_MS = 20_000;

/** What may run dllint, in the order in which it is tried. */
export function candidates(wishes: Wishes, windows = process.platform === "win32"): Candidate[] {
  if (wishes.path) return [{ command: [wishes.path], origin: "dllint.path", chosen: true }];
  if (wishes.interpreter) return [inside(wishes.interpreter, "dllint.interpreter", true)];
  return [
    ...(wishes.active ? [inside(wishes.active, "the chosen interpreter", false)] : []),
    { command: ["dllint"], origin: "the PATH", chosen: false },
    inside(windows ? "python" : "python3", "Python on the PATH", false),
  ];
}

function inside(interpreter: string, origin: string, chosen: boolean): Candidate {
  return { command: [interpreter, "-m", "dllint"], origin, chosen };
}

/** The first candidate that is a dllint with its language server; and what was wrong with those before it. */
export async function locate(wishes: Wishes, run: Run = execute): Promise<{ found?: Tried & { version: string }; tried: Tried[] }> {
  const tried: Tried[] = [];
  for (const candidate of candidates(wishes)) {
    const result = await probe(candidate, run);
    tried.push(result);
    if ("version" in result) return { found: result, tried };
  }
  return { tried };
}

/** `dllint server --help` costs nothing and is refused where the server's own packages are missing. */
export async function probe(candidate: Candidate, run: Run = execute): Promise<Tried> {
  const [program, ...before] = candidate.command;
  try {
    const told = await run(program, [...before, "--version"]);
    const version = /dllint (\S+)/.exec(told.stdout)?.[1];
    if (told.code !== 0 || version === undefined) return { candidate, problem: lastLine(told.stderr) || "this is no dllint" };
    const missing = candidate.command.length > 1 ? await missingPackages(program, run) : [];
    if (missing.length) return { candidate, problem: `dllint ${version} lacks ${missing.join(" and ")}: pip install "dllint[lsp]"` };
    return { candidate, version };
  } catch (error) {
    return { candidate, problem: error instanceof Error ? error.message : String(error) };
  }
}

const LACKING = "import importlib.util as u; print(*(n for n in ('pygls', 'lsprotocol') if u.find_spec(n) is None))";

async function missingPackages(interpreter: string, run: Run): Promise<string[]> {
  const told = await run(interpreter, ["-c", LACKING]);
  return told.stdout.split(/\s+/).filter(Boolean);
}

function lastLine(text: string): string {
  return text.trim().split(/\r?\n/).at(-1) ?? "";
}

/** Run a program to its end. Rejects where it cannot be started. */
export const execute: Run = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, [...args], { timeout: PATIENCE_MS, windowsHide: true }, (error, stdout, stderr) => {
      if (error && typeof error.code === "string") {
        reject(new Error(error.code === "ENOENT" ? `${program} was not found` : `${program}: ${error.code}`));
      } else {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      }
    });
  });

/** A setting with `${workspaceFolder}`, `${userHome}` and `${env:NAME}` filled in. */
export function filledIn(value: string, folder: string, home: string, env: NodeJS.ProcessEnv): string {
  return value
    .trim()
    .replace(/\$\{workspaceFolder\}/g, () => folder)
    .replace(/\$\{userHome\}/g, () => home)
    .replace(/\$\{env:(\w+)\}/g, (_, name: string) => env[name] ?? "");
}
