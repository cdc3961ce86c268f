/** Inviting and answering on the command line, for tests. @module */

import type { Ran, Workspace } from "./workspace.ts";

/** An answer as `sig accept` gives it. */
export interface Answer {
  readonly invitation: string;
  readonly attestation: string;
  readonly subject: string;
}

/** The exit code, and the code of the problem. */
export function codeOf({ code, stderr }: Ran): readonly [number, string] {
  return [code, JSON.parse(stderr).code];
}

/** An invitation of the issuer in `acme`. */
export async function invited(
  workspace: Workspace,
  words: readonly string[] = [],
): Promise<string> {
  const terms = ["--type", "contractor", "--role", "review", ...words];
  const { code, stdout, stderr } = await workspace.sig(
    ["invite", "--dir", "$D/acme", ...terms],
  );
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

/** An answer with the key of that file, which is made if it isn't there. */
export async function answered(
  workspace: Workspace,
  invitation: string,
  key = "alice.jwk",
): Promise<Answer> {
  await workspace.sig(["key", "generate", "--out", `$D/${key}`]);
  const { code, stdout, stderr } = await workspace.sig([
    ...["accept", invitation, "--key", `$D/${key}`, "--sig", "$D/acme"],
    ...["--format", "json"],
  ]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** `sig enrol` of an answer, given on standard input. */
export async function enrolled(
  workspace: Workspace,
  answer: object | string,
  words: readonly string[] = ["--yes", "--format", "json"],
): Promise<Ran> {
  const stdin = typeof answer === "string" ? answer : JSON.stringify(answer);
  return await workspace.sig(
    ["enrol", "--dir", "$D/acme", "--answer", "-", ...words],
    { stdin },
  );
}
