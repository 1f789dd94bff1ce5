// The route of a finding, from its cause to the loader that starts the workers: a walk through the files.

import {
  languages,
  Position,
  Range,
  Selection,
  TextEditorRevealType,
  ThemeColor,
  Uri,
  window,
  workspace,
  type Diagnostic,
  type QuickPickItem,
  type TextEditor,
} from "vscode";

export const SOURCE = "dllint";
/** What the server says of the other places of a finding, which are no part of its route. */
export const SAME = "the same here";

/** A place on the way. */
export interface Step {
  readonly uri: Uri;
  readonly range: Range;
  readonly text: string;
}

/** A finding in its document. */
export interface Found {
  readonly uri: Uri;
  readonly diagnostic: Diagnostic;
}

/** The code of a rule, whether it has a link or not. */
export function codeOf(diagnostic: Diagnostic): string {
  const code = diagnostic.code;
  return String(typeof code === "object" ? code.value : (code ?? ""));
}

/** The cause, and what leads from it to the workers. */
export function steps({ uri, diagnostic }: Found): Step[] {
  const what = diagnostic.message.split(": ")[0];
  const notes = (diagnostic.relatedInformation ?? []).filter((note) => note.message !== SAME);
  return [
    { uri, range: diagnostic.range, text: what },
    ...notes.map((note) => ({ uri: note.location.uri, range: note.location.range, text: note.message })),
  ];
}

/** The findings whose cause or route is at a place: the causes first. Every finding has a route, if only its cause. */
export function findingsAt(all: Iterable<[Uri, readonly Diagnostic[]]>, uri: Uri, position: Position): Found[] {
  const found: Found[] = [];
  const passing: Found[] = [];
  for (const [where, diagnostics] of all) {
    for (const diagnostic of diagnostics.filter((item) => item.source === SOURCE)) {
      const one = { uri: where, diagnostic };
      const [cause, ...others] = steps(one);
      const touches = (step: Step) =>
        step.uri.toString() === uri.toString() && step.range.start.line <= position.line && position.line <= step.range.end.line;
      if (touches(cause)) found.push(one);
      else if (others.some(touches)) passing.push(one);
    }
  }
  return [...found, ...passing];
}

/** The command: walk the route of the finding at the cursor, or of one that is chosen. */
export async function showRoute(given?: Found): Promise<void> {
  const editor = window.activeTextEditor;
  const found = given ?? (editor && (await choose(candidatesFor(editor))));
  if (found) await walk(found);
  else if (editor) void window.showInformationMessage("dllint reports nothing here.");
}

function candidatesFor(editor: TextEditor): Found[] {
  const uri = editor.document.uri;
  const here = findingsAt(languages.getDiagnostics(), uri, editor.selection.active);
  const inFile = languages.getDiagnostics(uri).filter((item) => item.source === SOURCE);
  return here.length ? here : inFile.map((diagnostic) => ({ uri, diagnostic }));
}

async function choose(found: Found[]): Promise<Found | undefined> {
  if (found.length < 2) return found[0];
  const items = found.map((one) => ({
    label: codeOf(one.diagnostic),
    description: place({ uri: one.uri, range: one.diagnostic.range }),
    detail: one.diagnostic.message,
    one,
  }));
  return (await window.showQuickPick(items, { title: "dllint: whose route?", matchOnDetail: true }))?.one;
}

function place(step: { uri: Uri; range: Range }): string {
  return `${workspace.asRelativePath(step.uri)}:${step.range.start.line + 1}`;
}

interface Stop extends QuickPickItem {
  readonly step: Step;
}

/** Show one place after the other as they are passed; Enter stays there, Escape goes back to where one was. */
export async function walk(found: Found): Promise<void> {
  const origin = window.activeTextEditor;
  const before = origin && { uri: origin.document.uri, range: origin.selection as Range };
  const mark = window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new ThemeColor("editor.rangeHighlightBackground"),
  });
  const picker = window.createQuickPick<Stop>();
  const all = steps(found);
  picker.title = `${codeOf(found.diagnostic)}: from the cause to the workers`;
  picker.placeholder = "Up and down walk the route, Enter stays, Escape returns";
  picker.items = all.map((step, at) => ({ label: `${at + 1}. ${step.text}`, description: place(step), step }));
  let stayed = false;
  let last: Promise<void> = Promise.resolve();
  const show = (step: Step) => (last = last.then(() => reveal(step, mark, true)));
  picker.onDidChangeActive(([stop]) => stop && void show(stop.step));
  picker.onDidAccept(() => {
    stayed = true;
    const stop = picker.activeItems[0];
    picker.hide();
    if (stop) void last.then(() => reveal(stop.step, mark, false));
  });
  await new Promise<void>((resolve) => {
    picker.onDidHide(resolve);
    picker.show();
  });
  picker.dispose();
  await last;
  mark.dispose();
  if (!stayed && before) await window.showTextDocument(before.uri, { selection: before.range });
}

async function reveal(step: Step, mark: ReturnType<typeof window.createTextEditorDecorationType>, preview: boolean): Promise<void> {
  const editor = await window.showTextDocument(step.uri, { preview, preserveFocus: preview });
  for (const other of window.visibleTextEditors) other.setDecorations(mark, []);
  editor.selection = new Selection(step.range.start, step.range.start);
  editor.setDecorations(mark, preview ? [step.range] : []);
  editor.revealRange(step.range, TextEditorRevealType.InCenterIfOutsideViewport);
}
