/** Shared functions of the issuer's tests. @module */

import {
  parseEventPayload,
  parseFeedLine,
  parseJson,
  Replay,
  type SigEvent,
} from "@sig/core";
import { createKeyResolver, readDidDocument, verifyEnvelope } from "@sig/jose";
import type { KeyResolver } from "@sig/jose/keys";
import {
  createFileKeyStore,
  createFileStore,
  type EventDraft,
  type FeedStore,
  type InitializedIssuer,
  initIssuer,
  type InitIssuerOptions,
  type Issuer,
  openIssuer,
  type OpenIssuerOptions,
} from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import { type Ended, TestProcess } from "../../tests/kit/process.ts";
import { programArgs } from "../../tests/kit/programs.ts";

/** DID of the issuer in all tests. */
export const DID = "did:web:acme.example";
export const HOST = "acme.example";
/** The time in all tests. */
export const NOW = new Date("2026-03-01T09:00:00Z");

/** An issuer in a temporary directory. */
export interface Place {
  /** Path of the temporary directory, which contains the two others. */
  readonly base: string;
  readonly dir: string;
  readonly keysDir: string;
  readonly feed: string;
  /** Opens the issuer; it is closed when the test ends. */
  open(options?: Partial<OpenIssuerOptions>): Promise<Issuer>;
}

/** A test in a temporary directory, with its open issuer. */
export type PlaceTest = (place: Place, issuer: Issuer) => Promise<void>;

/** Runs a test in a temporary directory with a new issuer (default). */
export async function withPlace(
  test: PlaceTest,
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
        store: createFileStore(dir, more),
        keys: createFileKeyStore(keysDir),
        now: () => NOW,
        ...more,
      });
      opened.push(issuer);
      return issuer;
    },
  };
  try {
    if (options.empty) return await test(place, undefined as never);
    await init(place);
    await test(place, await place.open());
  } finally {
    for (const issuer of opened) await issuer.close();
    await Deno.remove(base, { recursive: true });
  }
}

/** Registers {@linkcode withPlace} as a test. */
export function placeTest(
  name: string,
  test: (of: { place: Place; issuer: Issuer }) => Promise<void>,
  options?: Parameters<typeof withPlace>[1],
): void {
  const run: PlaceTest = (place, issuer) => test({ place, issuer });
  Deno.test(name, () => withPlace(run, options));
}

export async function init(
  place: Pick<Place, "dir" | "keysDir">,
  more: Partial<InitIssuerOptions> = {},
): Promise<InitializedIssuer> {
  const store = createFileStore(place.dir, more);
  const keys = createFileKeyStore(place.keysDir);
  return await initIssuer({ store, keys, did: DID, ...more })
    .finally(() => store.close());
}

/** Removes the index files, or passes each one to `work` instead. */
export async function eachIndexFile(
  place: Place,
  work: (path: string, suffix: string) => Promise<void> = (path) =>
    Deno.remove(path),
): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) {
    await work(`${place.dir}/.sig/index.db${suffix}`, suffix).catch(() => {});
  }
}

/** Changes a byte in the feed's first payload. */
export function forged(feed: string): string {
  const at = feed.indexOf('"payload":"') + 30;
  const other = feed[at] === "A" ? "B" : "A";
  return feed.slice(0, at) + other + feed.slice(at + 1);
}

export const modeOf = (path: string): number =>
  (Deno.statSync(path).mode ?? 0) & 0o777;

/** Returns the relative paths of all files below a folder, sorted. */
export function* walk(folder: string, below = ""): Generator<string> {
  const entries = [...Deno.readDirSync(folder + below)];
  for (const { isDirectory, name } of entries.sort(byName)) {
    const path = `${below}/${name}`;
    if (isDirectory) yield* walk(folder, path);
    else yield path;
  }
}

const byName = (a: Deno.DirEntry, b: Deno.DirEntry) => a.name < b.name ? -1 : 1;

/** Replaces methods of a store; a spread would lose the others. */
export function withMethods(
  store: FeedStore,
  methods: Partial<FeedStore>,
): FeedStore {
  return {
    revision: (path) => store.revision(path),
    read: (path, maxBytes) => store.read(path, maxBytes),
    exclusively: (options, work) => store.exclusively(options, work),
    close: () => store.close(),
    ...methods,
  };
}

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

export function revoke(
  relationship_id: string,
  more: Record<string, unknown> = {},
): EventDraft {
  return {
    event_type: "relationship.revoke",
    relationship_id,
    reason_code: "other",
    ...more,
  };
}

/** Returns a resolver of the keys that the documents of a place authorise. */
export async function publishedKeys({ dir }: Place): Promise<KeyResolver> {
  const read = async (name: string) =>
    parseJson(await Deno.readFile(`${dir}/.well-known/${name}`));
  const authorized = readDidDocument(await read("did.json"), DID);
  return await createKeyResolver(await read("jwks.json"), { authorized });
}

/**
 * Verifies a feed with the functions of a consumer, without the issuer's code:
 * line by line, without gaps, duplicates or warnings.
 */
export async function readFeed(place: Place): Promise<readonly SigEvent[]> {
  const keys = await publishedKeys(place);
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

/** Asserts that each acknowledged event is in the feed at its sequence. */
export function assertKept(
  { lines }: Pick<WorkerResult, "lines">,
  events: readonly SigEvent[],
): void {
  for (const line of lines) {
    const [id, sequence] = line.split(" ");
    if (id === "refused") continue;
    assertEquals(events[Number(sequence) - 1]?.event_id, id);
  }
}

/** What the program `worker.ts` does. */
export interface Job {
  /** `exhaust` appends when no file can be opened, and again. */
  readonly work: "append" | "exhaust" | "hold";
  /** The number of events (default: 1). */
  readonly count?: number;
  /** Prefix of the event and relationship identifiers. */
  readonly name?: string;
  /** The step at which the worker kills itself. */
  readonly killAt?: string;
  /** Number of such steps to pass first. */
  readonly passes?: number;
  readonly maxWriteBytes?: number;
}

export interface WorkerResult extends Pick<Ended, "code" | "signal"> {
  /** The lines that it printed, one per acknowledged operation. */
  readonly lines: readonly string[];
  readonly output: string;
}

export function startWorker(
  place: Place,
  job: Job,
  limit = ":",
): TestProcess {
  const task = { dir: place.dir, keysDir: place.keysDir, ...job };
  return new TestProcess("sh", [
    ...["-c", `${limit}; exec "$@"`, "sh", Deno.execPath()],
    ...["run", "--no-prompt"],
    ...[`--allow-read=${place.base}`, `--allow-write=${place.base}`],
    ...(job.killAt === undefined ? [] : ["--allow-run"]),
    ...[...programArgs("worker"), JSON.stringify(task)],
  ], { stdin: "open" });
}

/** Runs a worker process to its end, under a limit set by the shell. */
export async function runWorker(
  place: Place,
  job: Job,
  limit?: string,
): Promise<WorkerResult> {
  await using worker = startWorker(place, job, limit);
  const { code, signal, stdout, stderr } = await worker.ended();
  const output = stdout + stderr;
  await assertSecret(place, output);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { code, signal, output, lines };
}

/** No output may contain a private key. */
async function assertSecret(place: Place, output: string): Promise<void> {
  const folder = `${place.keysDir}/${HOST}`;
  const made = await Deno.stat(folder).then(() => true, () => false);
  for (const entry of made ? Deno.readDirSync(folder) : []) {
    const text = await Deno.readTextFile(`${folder}/${entry.name}`)
      // Another worker has just renamed it.
      .catch(() => undefined);
    if (text === undefined) return await assertSecret(place, output);
    const d = /"d":"([^"]+)"/.exec(text)?.[1];
    assert(d === undefined || !output.includes(d), entry.name);
  }
}
