/** What the issuer's tests share. @module */

import {
  parseEventPayload,
  parseFeedLine,
  parseJson,
  Replay,
  type SigEvent,
} from "@sig/core";
import { createKeyResolver, readDidDocument, verifyEnvelope } from "@sig/jose";
import {
  createFileKeyStore,
  createFileStore,
  type EventDraft,
  initIssuer,
  type Issuer,
  openIssuer,
  type OpenIssuerOptions,
} from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";

/** The issuer of all tests. */
export const DID = "did:web:acme.example";
/** Its host. */
export const HOST = "acme.example";
/** The time of all tests. */
export const NOW = new Date("2026-03-01T09:00:00Z");

/** An issuer in a temporary directory. */
export interface Place {
  /** Holds the two others. */
  readonly base: string;
  /** The issuer's directory. */
  readonly dir: string;
  /** The key store's directory. */
  readonly keysDir: string;
  /** The feed's file. */
  readonly feed: string;
  /** Opens the issuer; closed when the test ends. */
  open(options?: Partial<OpenIssuerOptions>): Promise<Issuer>;
}

/** Runs a test in a temporary directory, with an issuer (default). */
export async function withPlace(
  test: (place: Place) => Promise<void>,
  options: { readonly empty?: boolean; readonly parent?: string } = {},
): Promise<void> {
  const base = await Deno.makeTempDir(
    options.parent === undefined ? {} : { dir: options.parent },
  );
  const dir = `${base}/issuer`;
  const keysDir = `${base}/keys`;
  const opened: Issuer[] = [];
  const place: Place = {
    base,
    dir,
    keysDir,
    feed: `${dir}/.well-known/sig/events.jsonl`,
    async open(more = {}) {
      const issuer = await openIssuer({
        store: createFileStore(dir),
        keys: createFileKeyStore(keysDir),
        now: () => NOW,
        ...more,
      });
      opened.push(issuer);
      return issuer;
    },
  };
  try {
    if (options.empty !== true) await init(place);
    await test(place);
  } finally {
    for (const issuer of opened) await issuer.close();
    await Deno.remove(base, { recursive: true });
  }
}

/** Makes the issuer of a place. */
export async function init(place: Place): Promise<void> {
  const store = createFileStore(place.dir);
  try {
    await initIssuer({
      store,
      keys: createFileKeyStore(place.keysDir),
      did: DID,
    });
  } finally {
    await store.close();
  }
}

/** A plain upsert. */
export function upsert(
  more: Partial<EventDraft & { event_type: "relationship.upsert" }> = {},
): EventDraft {
  return {
    event_type: "relationship.upsert",
    subject: "did:web:alice.example",
    relationship_type: "employee",
    ...more,
  };
}

/**
 * Verifies a feed by the parts that a consumer is made of, without the
 * issuer's code: line by line, gapless, unique ids, and nothing to warn about.
 */
export async function readFeed(place: Place): Promise<readonly SigEvent[]> {
  const well = `${place.dir}/.well-known`;
  const authorized = readDidDocument(
    parseJson(await Deno.readFile(`${well}/did.json`)),
    DID,
  );
  const jwks = parseJson(await Deno.readFile(`${well}/jwks.json`));
  const keys = await createKeyResolver(jwks, { authorized });
  const text = await Deno.readTextFile(place.feed);
  assert(text === "" || text.endsWith("\n"), "the last line ends in LF");
  const replay = new Replay({ issuer: DID });
  const events: SigEvent[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const parsed = parseFeedLine(line);
    await verifyEnvelope(parsed, keys);
    const event = parseEventPayload(parsed.payload, { publicOnly: true });
    replay.apply(event);
    events.push(event as SigEvent);
  }
  assertEquals(replay.warnings, []);
  return events;
}

/** A job for the worker process. */
export interface Job {
  /** What to do. */
  readonly work:
    | "append"
    | "batch"
    | "checkpoint"
    | "exhaust"
    | "hold"
    | "init"
    | "rotate";
  /** How often. */
  readonly count?: number;
  /** Names the events, relationships and keys it makes. */
  readonly name?: string;
  /** The step at which it ends itself; `any`: whatever the step. */
  readonly killAt?: string;
  /** How (default: SIGKILL). */
  readonly signal?: Deno.Signal;
  /** Steps of that name that are passed before. */
  readonly passes?: number;
  /** Bytes of one write. */
  readonly maxWriteBytes?: number;
  /** Milliseconds to wait for the lock. */
  readonly lockTimeoutMs?: number;
}

/** What a worker process left behind. */
export interface WorkerResult {
  /** Lines that it printed: what was acknowledged to it. */
  readonly lines: readonly string[];
  /** All that it said on both streams. */
  readonly output: string;
  /** Exit code. */
  readonly code: number;
  /** The signal that ended it. */
  readonly signal: Deno.Signal | null;
}

/** The command line of a worker, for a shell to run as well. */
export function workerArguments(place: Place, job: Job): string[] {
  const at = (path: string) => new URL(path, import.meta.url).pathname;
  return [
    "run",
    "--no-prompt",
    "--config",
    at("../../deno.json"),
    `--allow-read=${place.base}`,
    `--allow-write=${place.base}`,
    at("./worker.ts"),
    JSON.stringify({ dir: place.dir, keysDir: place.keysDir, ...job }),
  ];
}

/** Starts a worker process; the caller awaits it. */
export async function runWorker(
  place: Place,
  job: Job,
): Promise<WorkerResult> {
  const allowed = job.killAt === undefined ? [] : ["--allow-run"];
  const [run = "", ...rest] = workerArguments(place, job);
  const result = toResult(
    await new Deno.Command(Deno.execPath(), {
      args: [run, ...allowed, ...rest],
      stdout: "piped",
      stderr: "piped",
    }).output(),
  );
  await assertSecret(place, result.output);
  return result;
}

/** No private key is ever in an output. */
async function assertSecret(place: Place, output: string): Promise<void> {
  const folder = `${place.keysDir}/${HOST}`;
  const made = await Deno.stat(folder).then(() => true, () => false);
  for (const entry of made ? Deno.readDirSync(folder) : []) {
    let text: string;
    try {
      text = await Deno.readTextFile(`${folder}/${entry.name}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      // Another worker has just given it its last name: all are read again.
      return await assertSecret(place, output);
    }
    const d = /"d":"([^"]+)"/.exec(text)?.[1];
    assert(d === undefined || !output.includes(d), entry.name);
  }
}

/** Reads what a process left behind. */
export function toResult(output: Deno.CommandOutput): WorkerResult {
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const stdout = text(output.stdout);
  return {
    lines: stdout.split("\n").filter((line) => line !== ""),
    output: stdout + text(output.stderr),
    code: output.code,
    signal: output.signal,
  };
}
