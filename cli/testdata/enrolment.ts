/** Invitations and answers on the command line, for tests. @module */

import type { Ran, Workspace } from "./workspace.ts";

/** An answer as `sig accept` prints it. */
export interface Answer {
  readonly invitation: string;
  readonly attestation: string;
  readonly subject: string;
}

const ENROL = "enrol --dir $D/acme --answer -";

/** Returns an invitation of the issuer in `acme`. */
export async function invited(
  workspace: Workspace,
  words = "",
): Promise<string> {
  const { stdout } = await workspace.says(
    `invite --dir $D/acme --type contractor --role review ${words}`,
  );
  return stdout.trim();
}

/** Answers with the key of a file, which it creates if it is missing. */
export async function answered(
  workspace: Workspace,
  invitation: string,
  key = "alice.jwk",
): Promise<Answer> {
  await workspace.sig(`key generate --out $D/${key}`);
  return await workspace.json(
    `accept ${invitation} --key $D/${key} --sig $D/acme`,
  );
}

function textOf(answer: object | string): string {
  return typeof answer === "string" ? answer : JSON.stringify(answer);
}

/** Runs `sig enrol` with an answer on standard input. */
export async function enrolled(
  workspace: Workspace,
  answer: object | string,
  words = "--yes --format json",
): Promise<Ran> {
  return await workspace.sig(`${ENROL} ${words}`, { stdin: textOf(answer) });
}

/** Runs `sig enrol`, which must be refused; the error contains `parts`. */
export async function notEnrolled(
  workspace: Workspace,
  answer: object | string,
  parts: string | readonly string[],
  words = "--yes",
): Promise<void> {
  const stdin = textOf(answer);
  await workspace.refused(`${ENROL} ${words}`, parts, { stdin });
}
