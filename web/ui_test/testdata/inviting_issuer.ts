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
import { type RunningServer, startServer } from "./server.ts";

const MAIN = new URL("../../../cli/main.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Its host; the server gets its documents without a network. */
export const HOST = "acme.example";

/** The issuer in a temporary folder, and the page. */
export interface Inviting extends AsyncDisposable {
  readonly origin: string;
  /** The folder; the issuer's own is `issuer` in it. */
  readonly folder: string;
  /** Runs `sig` and returns its output; throws if it fails. */
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
  const publish = async (request: Request) => {
    const { pathname } = new URL(request.url);
    const bytes = await Deno.readFile(`${folder}/issuer${pathname}`)
      .catch(() => undefined);
    return new Response(bytes ?? null, {
      status: bytes === undefined ? 404 : 200,
      headers: {
        "content-type": pathname.endsWith(".jsonl")
          ? "application/x-ndjson"
          : "application/json",
      },
    });
  };
  const server: RunningServer = await startServer(
    isKnown ? { issuers: [host], fetch: publish, require } : {},
  );
  const sig = async (...words: string[]): Promise<string> => {
    const { success, stdout, stderr } = await new Deno.Command(
      Deno.execPath(),
      {
        args: [
          ...["run", "--quiet", "--no-check", "--config", CONFIG],
          ...["--allow-read", "--allow-write", "--allow-env", "--allow-run"],
          ...["--allow-sys", MAIN, ...words],
        ],
        cwd: folder,
        env: { SIG_KEYS_DIR: `${folder}/keys`, NO_COLOR: "1" },
        stdin: "null",
      },
    ).output();
    const decoder = new TextDecoder();
    if (success) return decoder.decode(stdout).trim();
    throw new Error(decoder.decode(stderr));
  };
  await sig("init", host, "--dir", "issuer");
  return {
    origin: server.origin,
    folder,
    sig,
    invite: (...words) =>
      sig("invite", "--dir", "issuer", "--page", server.origin, ...words),
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
