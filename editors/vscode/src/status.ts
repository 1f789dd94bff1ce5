// The item in the status bar: whether the server runs, and how many findings there are.

import { languages, StatusBarAlignment, ThemeColor, window, type Disposable, type StatusBarItem } from "vscode";
import { SOURCE } from "./route";

export type State =
  | { readonly kind: "starting" }
  | { readonly kind: "running"; readonly version: string; readonly command: string; readonly origin: string }
  | { readonly kind: "off" }
  | { readonly kind: "failed"; readonly problem: string };

const ICONS = { starting: "$(loading~spin)", running: "$(check)", off: "$(circle-slash)", failed: "$(error)" };

export class Status implements Disposable {
  private readonly item: StatusBarItem;
  private readonly listening: Disposable;
  private state: State = { kind: "off" };

  constructor() {
    this.item = window.createStatusBarItem("dllint", StatusBarAlignment.Right, 90);
    this.item.name = "dllint";
    this.item.command = "dllint.menu";
    this.listening = languages.onDidChangeDiagnostics(() => this.draw());
    this.draw();
    this.item.show();
  }

  set(state: State): void {
    this.state = state;
    this.draw();
  }

  get(): State {
    return this.state;
  }

  private draw(): void {
    const state = this.state;
    const found = state.kind === "running" ? count() : 0;
    this.item.text = `${found ? "$(warning)" : ICONS[state.kind]} dllint${found ? ` ${found}` : ""}`;
    this.item.tooltip = tooltip(state, found);
    this.item.backgroundColor = state.kind === "failed" ? new ThemeColor("statusBarItem.errorBackground") : undefined;
  }

  dispose(): void {
    this.listening.dispose();
    this.item.dispose();
  }
}

function count(): number {
  return languages.getDiagnostics().reduce((sum, [, own]) => sum + own.filter((item) => item.source === SOURCE).length, 0);
}

export function tooltip(state: State, found: number): string {
  switch (state.kind) {
    case "starting":
      return "dllint is starting";
    case "off":
      return "dllint is off (dllint.enable)";
    case "failed":
      return `dllint does not run: ${state.problem}`;
    case "running":
      return `dllint ${state.version} of ${state.origin}\n${state.command}\n${found} ${found === 1 ? "finding" : "findings"}`;
  }
}
