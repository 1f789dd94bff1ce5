// Ruff's language server, started as Ruff's extension starts it.

import { LanguageClient } from "vscode-languageclient/node";

export async function activate(): Promise<void> {
  const command = { command: process.env.RUFF ?? "ruff", args: ["server"] };
  await new LanguageClient("ruff", "Ruff", command, { documentSelector: [{ scheme: "file", language: "python" }] }).start();
}
