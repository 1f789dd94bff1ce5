// A stub of the part of VS Code's API that the extension uses, for unit tests: it keeps what it is told.

type Listener<T> = (value: T) => unknown;

class Emitter<T> {
  private readonly listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

export class Selection {
  constructor(
    readonly anchor: Position,
    readonly active: Position,
  ) {}
}

export class Uri {
  private constructor(readonly path: string) {}
  static file(path: string): Uri {
    return new Uri(path);
  }
  static parse(text: string): Uri {
    return new Uri(text.replace("file://", ""));
  }
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `file://${this.path}`;
  }
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class CodeAction {
  diagnostics: unknown[] = [];
  command: { command: string; title: string; arguments?: unknown[] } | undefined;
  constructor(
    readonly title: string,
    readonly kind: unknown,
  ) {}
}

export const CodeActionKind = { QuickFix: "quickfix" };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 };

/** What tests set and look at. */
export const fake = {
  diagnostics: [] as [Uri, object[]][],
  diagnosticsChanged: new Emitter<unknown>(),
  settings: {} as Record<string, unknown>,
  extensions: {} as Record<string, unknown>,
  shown: [] as string[],
  messages: [] as string[],
  picker: undefined as FakePicker | undefined,
  statusItem: undefined as Record<string, unknown> | undefined,
};

export class FakePicker {
  title = "";
  placeholder = "";
  items: { label: string; description: string }[] = [];
  activeItems: { label: string }[] = [];
  private readonly active = new Emitter<unknown[]>();
  private readonly accepted = new Emitter<void>();
  private readonly hidden = new Emitter<void>();
  onDidChangeActive = this.active.event;
  onDidAccept = this.accepted.event;
  onDidHide = this.hidden.event;
  show(): void {
    fake.picker = this;
    this.move(0);
  }
  move(to: number): void {
    this.activeItems = [this.items[to]];
    this.active.fire(this.activeItems);
  }
  accept(): void {
    this.accepted.fire();
  }
  hide(): void {
    this.hidden.fire();
  }
  dispose(): void {}
}

export const languages = {
  getDiagnostics: (uri?: Uri) =>
    uri ? (fake.diagnostics.find(([where]) => where.toString() === uri.toString())?.[1] ?? []) : fake.diagnostics,
  onDidChangeDiagnostics: fake.diagnosticsChanged.event,
};

export const window = {
  activeTextEditor: undefined as unknown,
  visibleTextEditors: [] as unknown[],
  createQuickPick: () => new FakePicker(),
  createTextEditorDecorationType: () => ({ dispose: () => undefined }),
  createStatusBarItem: () => (fake.statusItem = { show: () => undefined, dispose: () => undefined }),
  showInformationMessage: async (text: string) => void fake.messages.push(text),
  showQuickPick: async (items: unknown[]) => items[0],
  showTextDocument: async (uri: Uri, options: { selection?: { start: Position }; preview?: boolean }) => {
    const editor = {
      set selection(to: Selection) {
        fake.shown.push(`${uri.path}:${to.active.line + 1}${options.preview ? "" : " stays"}`);
      },
      setDecorations: () => undefined,
      revealRange: () => undefined,
    };
    if (options.selection) fake.shown.push(`${uri.path} again`);
    return editor;
  },
};

export const workspace = {
  asRelativePath: (uri: Uri) => uri.path.replace("/project/", ""),
  getConfiguration: () => ({ get: (name: string, otherwise?: unknown) => (name in fake.settings ? fake.settings[name] : otherwise) }),
};

export const extensions = { getExtension: (name: string) => fake.extensions[name] };
export const commands = {};
