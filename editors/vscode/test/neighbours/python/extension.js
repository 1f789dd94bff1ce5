// The part of the Python extension's API by which the chosen interpreter is found.

const { Uri } = require("vscode");

exports.activate = () => ({
  environments: {
    getActiveEnvironmentPath: () => ({ path: process.env.PYTHON }),
    resolveEnvironment: async ({ path }) => ({ executable: { uri: Uri.file(path) } }),
    onDidChangeActiveEnvironmentPath: () => ({ dispose: () => undefined }),
  },
});
