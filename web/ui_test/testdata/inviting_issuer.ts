/**
 * An issuer that sends invitations with the real command line, and a page that
 * knows it.
 *
 * @module
 */

import {
  createInvitation,
  generateSigningKey,
  importSigningKey,
} from "@sig/jose";
import { createIssuerSite } from "../../../cli/site/issuer_site.ts";
import { Workspace } from "../../../cli/testdata/workspace.ts";
import { type RunningServer, startServer } from "./server.ts";

/** Its host; the server gets its documents without a network. */
export const HOST = "acme.example";

/** The issuer in a temporary folder, and the page. */
export interface Inviting extends AsyncDisposable {
  readonly origin: string;
  /** The folder, `$D` in arguments; the issuer's own is `issuer` in it. */
  readonly folder: string;
  /** Runs `sig`, which must succeed, and returns its output. */
  sig(...words: string[]): Promise<string>;
  /** Creates an invitation and returns its link to this page. */
  invite(...words: string[]): Promise<string>;
}

/**
 * Starts both; with `isKnown` false the page does not know the issuer's keys.
 */
export async function startInviting(
  isKnown = true,
  host = HOST,
  require?: readonly string[],
): Promise<Inviting> {
  const folder = await Deno.makeTempDir({ prefix: "sig-invite-" });
  const workspace = new Workspace(folder);
  const publish = createIssuerSite(`${folder}/issuer`);
  const server: RunningServer = await startServer(
    isKnown ? { issuers: [host], fetch: publish, require } : {},
  );
  const io = { now: () => new Date() };
  const sig = async (...words: string[]): Promise<string> =>
    (await workspace.says(words, { io })).stdout.trim();
  await sig("init", host, "--dir", "$D/issuer");
  return {
    origin: server.origin,
    folder,
    sig,
    invite: (...words) =>
      sig("invite", "--dir", "$D/issuer", "--page", server.origin, ...words),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Returns the fragment of a link, which no server receives. */
export function fragmentOf(link: string): string {
  return new URL(link).hash;
}

/** Returns the fragment of an invitation signed with another key. */
export async function forged(
  terms: object = {},
  at = new Date(),
  key?: Awaited<ReturnType<typeof generateSigningKey>>,
): Promise<string> {
  const { text } = await createInvitation({
    issuer: `did:web:${HOST}`,
    key: await importSigningKey(key ?? await generateSigningKey()),
    terms: { relationship_type: "employee", roles: [], ...terms },
    now: () => at,
  });
  return `#/invitation/${text}`;
}
