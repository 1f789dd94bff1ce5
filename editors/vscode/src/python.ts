// What the Python extension knows: which interpreter is chosen, and when another one is.

import { extensions, type Event, type Uri } from "vscode";

const PYTHON = "ms-python.python";

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: Uri): { readonly path: string };
    resolveEnvironment(path: { readonly path: string }): Promise<{ readonly executable: { readonly uri?: Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: Event<unknown>;
  };
}

async function api(): Promise<PythonApi | undefined> {
  const extension = extensions.getExtension<PythonApi>(PYTHON);
  if (!extension) return undefined;
  const exported = extension.isActive ? extension.exports : await extension.activate();
  return exported?.environments ? exported : undefined;
}

/** The interpreter that is chosen for a folder; nothing without the Python extension. */
export async function activeInterpreter(resource?: Uri): Promise<string | undefined> {
  const python = await api();
  if (!python) return undefined;
  const chosen = python.environments.getActiveEnvironmentPath(resource);
  const resolved = await python.environments.resolveEnvironment(chosen);
  return resolved?.executable.uri?.fsPath;
}

/** Tells of another choice, once the Python extension is there. */
export async function onInterpreterChange(listener: () => void): Promise<{ dispose(): void } | undefined> {
  return (await api())?.environments.onDidChangeActiveEnvironmentPath(listener);
}
