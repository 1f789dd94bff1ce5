// dllint in VS Code: the language server of `dllint server`, and what VS Code shows besides.

import { CodeActionKind, commands, languages, window, workspace, type ExtensionContext, type QuickPickItem } from "vscode";
import { Routes } from "./actions";
import { onInterpreterChange } from "./python";
import { showRoute, type Found } from "./route";
import { Server } from "./server";
import { Status } from "./status";

/** Settings that only a new server takes up. */
const RESTARTING = ["dllint.enable", "dllint.path", "dllint.interpreter"];

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel("dllint", { log: true });
  const status = new Status();
  const running = (server = new Server(output, status));
  context.subscriptions.push(
    output,
    status,
    commands.registerCommand("dllint.restart", () => running.restart()),
    commands.registerCommand("dllint.showOutput", () => output.show()),
    commands.registerCommand("dllint.showRoute", (found?: Found) => showRoute(found?.diagnostic ? found : undefined)),
    commands.registerCommand("dllint.fixAll", fixAll),
    commands.registerCommand("dllint.showState", showState),
    commands.registerCommand("dllint.menu", () => menu(status)),
    languages.registerCodeActionsProvider({ language: "python" }, new Routes(), {
      providedCodeActionKinds: [CodeActionKind.QuickFix],
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (RESTARTING.some((name) => event.affectsConfiguration(name))) void running.restart();
    }),
  );
  void onInterpreterChange(() => void running.restart()).then((listening) => listening && context.subscriptions.push(listening));
  await running.restart();
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

async function fixAll(): Promise<void> {
  const document = window.activeTextEditor?.document;
  if (document) await commands.executeCommand("dllint.applyAutofix", document.uri.toString());
}

async function showState(): Promise<void> {
  const content = await commands.executeCommand<string>("dllint.debugInformation");
  await window.showTextDocument(await workspace.openTextDocument({ content }));
}

async function menu(status: Status): Promise<void> {
  const state = status.get();
  const entries: (QuickPickItem & { readonly command: string })[] = [
    { label: "$(refresh) Restart the server", command: "dllint.restart" },
    { label: "$(output) Show the output", command: "dllint.showOutput" },
    ...(state.kind === "running"
      ? [
          { label: "$(list-tree) Show the route of a finding", command: "dllint.showRoute" },
          { label: "$(info) Show what the server sees", command: "dllint.showState" },
        ]
      : []),
    { label: "$(gear) Open the settings", command: "workbench.action.openSettings" },
  ];
  const title = state.kind === "running" ? `dllint ${state.version}` : state.kind === "failed" ? state.problem : "dllint";
  const chosen = await window.showQuickPick(entries, { title });
  if (chosen) await commands.executeCommand(chosen.command, ...(chosen.command.endsWith("openSettings") ? ["dllint."] : []));
}
