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
import type { Page } from "playwright-core";
import { createIssuerSite } from "../../../cli/site/issuer_site.ts";
import { Workspace } from "../../../cli/testdata/workspace.ts";
import { browserTest, openPage, type PageOptions } from "./browser.ts";
import { type RunningServer, startServer } from "./server.ts";

/** Its host; the server gets its documents without a network. */
export const HOST = "acme.example";

const TERMS = ["--type", "contractor", "--role", "deploy"];

/** The issuer in a temporary folder, and the page. */
export type Inviting = Awaited<ReturnType<typeof startInviting>>;

/** Options of {@linkcode startInviting}. */
interface InvitingOptions {
  /** Whether the page knows the issuer's keys (default: true). */
  readonly isKnown?: boolean;
  /** What a sign-in requires. */
  readonly require?: readonly string[];
}

/** Starts both. */
export async function startInviting(
  { isKnown = true, require }: InvitingOptions = {},
) {
  const folder = await Deno.makeTempDir({ prefix: "sig-invite-" });
  const workspace = new Workspace(folder);
  const publish = createIssuerSite(`${folder}/issuer`);
  let aheadMs = 0;
  const server: RunningServer = await startServer({
    ...isKnown ? { issuers: [HOST], fetch: publish, require } : {},
    now: () => new Date(Date.now() + aheadMs),
  });
  const io = { now: () => new Date() };
  /** Runs `sig`, which must succeed, and returns its output. */
  const sig = async (command: string, ...words: string[]): Promise<string> => {
    const dir = ["--dir", "$D/issuer"];
    const call = [command, ...DIRECT.has(command) ? [] : dir, ...words];
    return (await workspace.says(call, { io })).stdout.trim();
  };
  await sig("init", HOST);
  /** Creates an invitation and returns its link to this page. */
  const invite = (...words: string[]) =>
    sig("invite", "--page", server.origin, ...words);
  return {
    origin: server.origin,
    /** The folder, `$D` in arguments; the issuer's own is `issuer` in it. */
    folder,
    sig,
    /** Lets the server's copies of the documents become too old. */
    expireCopies: () => aheadMs += 60_000,
    invite,
    /** Creates an invitation for a contractor; returns its link's fragment. */
    offer: async (...words: string[]) =>
      fragmentOf(await invite(...TERMS, ...words)),
    /** Accepts an answer, and returns what `sig enrol` prints. */
    async enrol(answer: string) {
      const file = `${folder}/${crypto.randomUUID()}.json`;
      await Deno.writeTextFile(file, answer);
      const words = ["--answer", file, "--yes", "--format", "json"];
      return JSON.parse(await sig("enrol", ...words));
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Commands that take the folder as an argument. */
const DIRECT = new Set(["check", "who"]);

/** What a test with an issuer and a page uses. */
interface OpenedInviting {
  readonly page: Page;
  readonly issuer: Inviting;
  /** Opens another page. */
  open(options?: PageOptions): ReturnType<typeof openPage>;
}

/** Defines a test with an issuer and a page that knows it. */
export function invitingTest(
  name: string,
  options: InvitingOptions & PageOptions,
  fn: (opened: OpenedInviting) => Promise<void>,
): void {
  browserTest(name, async (browser) => {
    await using issuer = await startInviting(options);
    const open = (options?: PageOptions) =>
      openPage(browser, issuer.origin, options);
    await using watched = await open(options);
    await fn({ page: watched.page, issuer, open });
  });
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
