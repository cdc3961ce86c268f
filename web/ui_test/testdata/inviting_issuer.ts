/** An issuer that invites, by the real command line, and a page that knows it. @module */

import {
  createInvitation,
  generateSigningKey,
  importSigningKey,
} from "@sig/jose";
import { type RunningServer, startServer } from "./server.ts";

const MAIN = new URL("../../../cli/main.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Its host; what it publishes is handed to the server without a network. */
export const HOST = "acme.example";

/** The issuer in a folder of its own, and the page. */
export interface Inviting extends AsyncDisposable {
  readonly origin: string;
  /** The folder; `issuer` in it is the issuer's. */
  readonly folder: string;
  /** Runs `sig`, and gives what it printed; throws when it fails. */
  sig(...words: string[]): Promise<string>;
  /** The link of a new invitation to this page. */
  invite(...words: string[]): Promise<string>;
}

/** Makes both; a page that does not know the issuer's keys on `isKnown` false. */
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

/** The part of a link that no server sees. */
export function fragmentOf(link: string): string {
  return new URL(link).hash;
}

/** The fragment of an invitation that somebody else's key made. */
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
