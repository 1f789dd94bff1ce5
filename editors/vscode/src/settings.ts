// What the settings say: which dllint to run, and what its server is told.

import { homedir } from "node:os";
import { workspace } from "vscode";
import { filledIn, type Wishes } from "./locate";
import { activeInterpreter } from "./python";

/** What the server takes of the settings, under the names that it knows. */
export const SERVER_SETTINGS = ["configuration", "select", "extendSelect", "ignore"] as const;

/** What the settings and the Python extension say, for the window's first folder: one server serves all of them. */
export async function wishes(): Promise<Wishes> {
  const folder = workspace.workspaceFolders?.[0];
  const settings = workspace.getConfiguration("dllint", folder?.uri);
  const setting = (name: string) => filledIn(settings.get(name, ""), folder?.uri.fsPath ?? "", homedir(), process.env);
  const [path, interpreter] = [setting("path"), setting("interpreter")];
  const active = path || interpreter ? undefined : await activeInterpreter(folder?.uri).catch(() => undefined);
  return { path, interpreter, active };
}

export function serverSettings(): Record<string, unknown> {
  const settings = workspace.getConfiguration("dllint");
  return Object.fromEntries(SERVER_SETTINGS.map((name) => [name, settings.get(name)]));
}
