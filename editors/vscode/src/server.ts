// The server's life: found, started, restarted, stopped.

import { commands, Uri, window, workspace, type LogOutputChannel } from "vscode";
import {
  LanguageClient,
  State as ClientState,
  type LanguageClientOptions,
  type StaticFeature,
  type ShowDocumentResult,
} from "vscode-languageclient/node";
import { locate, type Tried } from "./locate";
import { serverSettings, wishes } from "./settings";
import type { Status } from "./status";

export class Server {
  private client: LanguageClient | undefined;
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly output: LogOutputChannel,
    private readonly status: Status,
  ) {}

  /** Start anew with what the settings say now. Calls follow one another. */
  restart(): Promise<void> {
    this.turn = this.turn.then(async () => {
      await this.end();
      await this.begin();
    });
    return this.turn;
  }

  stop(): Promise<void> {
    this.turn = this.turn.then(() => this.end());
    return this.turn;
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose().catch((error: unknown) => this.output.warn(`while stopping: ${told(error)}`));
  }

  private async begin(): Promise<void> {
    if (!workspace.getConfiguration("dllint").get("enable", true)) {
      this.status.set({ kind: "off" });
      return;
    }
    this.status.set({ kind: "starting" });
    const { found, tried } = await locate(await wishes());
    for (const one of tried) this.output.info(line(one));
    if (!found) {
      this.fail(tried.map(line).join("; "));
      return;
    }
    const { candidate, version } = found;
    const client = makeClient(candidate.command, this.output);
    const running = { kind: "running", version, command: candidate.command.join(" "), origin: candidate.origin } as const;
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) return;
      if (newState === ClientState.Running) this.status.set(running);
      if (newState === ClientState.Starting) this.status.set({ kind: "starting" });
      if (newState === ClientState.Stopped) this.status.set({ kind: "failed", problem: "the server has stopped; see the output" });
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.fail(told(error));
    }
  }

  private fail(problem: string): void {
    this.output.error(problem);
    this.status.set({ kind: "failed", problem });
    void offerHelp(problem);
  }
}

async function offerHelp(problem: string): Promise<void> {
  const [install, settings, output] = ["Install in a Terminal", "Open Settings", "Show Output"];
  const chosen = await window.showErrorMessage(`dllint does not run: ${problem}`, install, settings, output);
  if (chosen === install) {
    const terminal = window.createTerminal("dllint");
    terminal.show();
    terminal.sendText(`"${(await wishes()).active ?? "python"}" -m pip install "../dllint[lsp]"`, false); // for a person to confirm
  } else if (chosen === settings) {
    await commands.executeCommand("workbench.action.openSettings", "dllint.");
  } else if (chosen === output) {
    await commands.executeCommand("dllint.showOutput");
  }
}

function line(tried: Tried): string {
  const { command, origin } = tried.candidate;
  return `${command.join(" ")} (${origin}): ${"version" in tried ? `dllint ${tried.version}` : tried.problem}`;
}

function makeClient(command: readonly string[], output: LogOutputChannel): LanguageClient {
  const [program, ...before] = command;
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
      { notebook: { scheme: "file", notebookType: "jupyter-notebook" }, language: "python" },
    ],
    outputChannel: output,
    traceOutputChannel: output,
    initializationOptions: { settings: serverSettings() },
    middleware: {
      workspace: {
        didChangeConfiguration: async (_sections, _next) => {
          await client.sendNotification("workspace/didChangeConfiguration", { settings: { dllint: serverSettings() } });
        },
      },
      window: {
        showDocument: async (params, next) => {
          // A rule's page: read it rendered.
          if (!params.uri.endsWith(".md")) return (await next(params, NEVER)) as ShowDocumentResult;
          await commands.executeCommand("markdown.showPreview", Uri.parse(params.uri));
          return { success: true };
        },
      },
    },
    synchronize: { configurationSection: "dllint" },
  };
  const client: LanguageClient = new LanguageClient("dllint", "dllint", { command: program, args: [...before, "server"] }, options);
  client.registerFeature(PUSHED);
  return client;
}

/**
 * Findings are told, not asked for: they are about all files, and the client forgets those of a file whose tab is left
 * while it asks for them.
 */
const PUSHED: StaticFeature = {
  fillClientCapabilities(capabilities) {
    delete capabilities.textDocument?.diagnostic;
    delete capabilities.workspace?.diagnostics;
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

const NEVER = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };

function told(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
