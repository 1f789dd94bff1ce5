// What is offered beside the server's own actions.

import {
  CodeAction,
  CodeActionKind,
  type CodeActionContext,
  type CodeActionProvider,
  type TextDocument,
} from "vscode";
import { codeOf, SOURCE, type Found } from "./route";

/** Offers the route of a finding beside its fixes. */
export class Routes implements CodeActionProvider {
  provideCodeActions(document: TextDocument, _range: unknown, context: CodeActionContext): CodeAction[] {
    return context.diagnostics
      .filter((diagnostic) => diagnostic.source === SOURCE && diagnostic.relatedInformation?.length)
      .map((diagnostic) => {
        const action = new CodeAction(`dllint (${codeOf(diagnostic)}): show the route to the workers`, CodeActionKind.QuickFix);
        action.diagnostics = [diagnostic];
        const found: Found = { uri: document.uri, diagnostic };
        action.command = { command: "dllint.showRoute", title: "Show Route", arguments: [found] };
        return action;
      });
  }
}
