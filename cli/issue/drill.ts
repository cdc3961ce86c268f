/** `sig recover --drill`: a rehearsal on a copy in memory. @module */

import { isSigError, type OpenObject, WELL_KNOWN_PATHS } from "@sig/core";
import {
  createMemoryKeyStore,
  createMemoryStore,
  type FeedStore,
  type KeyStore,
  openIssuer,
  type RecoveryPlan,
  type RecoveryRequest,
} from "@sig/issuer";
import {
  generateSigningKey,
  importSigningKey,
  type SigningKey,
} from "@sig/jose";
import type { StatementClaims } from "@sig/jose/recovery";
import { parseObject } from "../terminal/read_input.ts";

/** What is rehearsed. */
interface Drill {
  readonly store: FeedStore;
  /** The keys of this machine; nothing is written to it. */
  readonly keys: KeyStore;
  readonly request: RecoveryRequest;
  readonly plan: RecoveryPlan;
  readonly now: Date;
  /** The questions, one for each affected person. */
  readonly questions: readonly DrillQuestion[];
}

/** A question about an affected person. */
export interface DrillQuestion {
  readonly subject: string;
  readonly require: readonly string[];
}

/** The published files before the recovery, with its statement, and after it. */
const STAGES = ["before", "between", "after"] as const;
type Files = ReadonlyMap<string, Uint8Array>;
type Stages = Readonly<Record<typeof STAGES[number], Files>>;

/** What a reader says of a person: a decision, or the code of an error. */
interface Rehearsed extends Record<typeof STAGES[number], string> {
  readonly subject: string;
  readonly reader: typeof READERS[number];
}

/** The readers of a drill. */
const READERS = ["first look", "by feed", "by proof", "v0.1"] as const;

/** Maximum size of a document or feed that is copied. */
const MAX_BYTES = 1024 ** 3;

/**
 * Runs a recovery on a copy in memory with throwaway recovery keys, and asks
 * four readers before it, after the statement alone, and after it. A statement
 * of the real key must never leave it: a second statement of the same number
 * would split readers for good.
 *
 * @throws {SigError} as `recover` of an issuer.
 */
export async function rehearse(drill: Drill): Promise<readonly Rehearsed[]> {
  const { now, request } = drill;
  const copy = createMemoryStore();
  const metadata = await copyFiles(drill.store, copy.files);
  const recovery = await throwawayChain(metadata);
  const { proofs_uri: _, ...plain } = metadata;
  const path = WELL_KNOWN_PATHS.metadata;
  copy.files.set(path, encode({ ...plain, recovery: recovery.member }));
  const made = createMemoryKeyStore();
  const open = (hidden: readonly string[]) =>
    openIssuer({
      store: copy,
      keys: overlay(drill.keys, made, hidden),
      now: () => now,
    });
  const issuer = await open([]);
  const hasProofs = await issuer.checkpoint({ init: true }).then(
    () => true,
    (error) => {
      // The keys of this issuer are all lost.
      if (isSigError(error, "signing_key_not_found")) return false;
      throw error;
    },
  );
  const before = new Map(copy.files);
  const gone = [...request.lost ?? [], ...request.stolen?.keys() ?? []];
  const recovering = await open(gone);
  await recovering.recover({
    ...request,
    recoveryKey: recovery.key,
    next: recovery.next,
  });
  const after = new Map(copy.files);
  const between = new Map([...before, [path, after.get(path)!]]);
  return await askReaders(drill, { before, between, after }, hasProofs);
}

function encode(value: OpenObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Copies the documents and the feed; returns the metadata. */
async function copyFiles(
  store: FeedStore,
  files: Map<string, Uint8Array>,
): Promise<OpenObject> {
  const copy = async (path: string) => {
    const bytes = await store.read(path, MAX_BYTES);
    if (bytes !== undefined) files.set(path, bytes.slice());
    return bytes ?? new Uint8Array();
  };
  const metadata = parseObject(await copy(WELL_KNOWN_PATHS.metadata)) ?? {};
  await copy(WELL_KNOWN_PATHS.did_document);
  for (const uri of [metadata.jwks_uri, metadata.events_uri]) {
    await copy(decodeURIComponent(new URL(String(uri)).pathname));
  }
  return metadata;
}

/** Signs the published statements again, with keys that are thrown away. */
async function throwawayChain({ issuer, recovery }: OpenObject) {
  const { commitmentTo, readRecovery, signStatement } = await import(
    "@sig/jose/recovery"
  );
  const { statements } = await readRecovery(recovery, String(issuer));
  const make = async () => await importSigningKey(await generateSigningKey());
  const keys: SigningKey[] = [];
  for (let n = 0; n < statements.length + 2; n++) keys.push(await make());
  const xOf = (n: number) => keys[n]!.publicJwk.x;
  const signed = await Promise.all(
    statements.map((claims: StatementClaims, i) =>
      signStatement(
        { ...claims, key: xOf(i), next: commitmentTo(xOf(i + 1)) },
        keys[i]!,
      )
    ),
  );
  const last = statements.length;
  return {
    member: { commitment: commitmentTo(xOf(0)), statements: signed },
    key: keys[last]!,
    next: xOf(last + 1),
  };
}

/** Returns a key store that reads both and writes only to the second. */
function overlay(
  real: KeyStore,
  made: KeyStore,
  hidden: readonly string[],
): KeyStore {
  const isHidden = ({ kid }: { readonly kid: string }) => hidden.includes(kid);
  return {
    read: async (name) =>
      await made.read(name) ??
        (isHidden(name) ? undefined : await real.read(name)),
    has: async (name) =>
      await made.has(name) || (!isHidden(name) && await real.has(name)),
    write: (name, key) => made.write(name, key),
  };
}

async function askReaders(
  { now, plan, questions }: Drill,
  stages: Stages,
  hasProofs: boolean,
): Promise<readonly Rehearsed[]> {
  const { checkIssuer, createConsumer } = await import("@sig/consumer");
  const { iss } = plan.claims;
  let files: Files;
  const common = { now: () => now, allowPrivate: true };
  const fetch = (request: Request) => Promise.resolve(serve(files, request));
  const plainFetch = (request: Request) =>
    Promise.resolve(serve(withoutRecovery(files), request));
  const [byFeed, byProof] = (["never", "always"] as const).map((proofs) =>
    createConsumer({ ...common, issuers: [iss], fetch, proofs, maxAgeMs: 0 })
  );
  const answer = (reader: typeof READERS[number], of: DrillQuestion) => {
    const question = of as never;
    if (reader === "by feed") return byFeed!.check(iss, question);
    if (reader === "by proof") return byProof!.check(iss, question);
    const read = reader === "v0.1" ? plainFetch : fetch;
    return checkIssuer(iss, question, { ...common, now, fetch: read });
  };
  const rows = questions.flatMap((question) =>
    READERS.map((reader) => ({
      question,
      said: { subject: question.subject, reader } as Rehearsed,
    }))
  );
  for (const stage of STAGES) {
    files = stages[stage];
    for (const { question, said } of rows) {
      said[stage] = said.reader === "by proof" && !hasProofs
        ? "no signing key"
        : await answer(said.reader, question).then(
          ({ decision }) => decision,
          (error) => {
            if (isSigError(error)) return error.code;
            throw error;
          },
        );
    }
  }
  return rows.map(({ said }) => said);
}

function withoutRecovery(files: Files): Files {
  const path = WELL_KNOWN_PATHS.metadata;
  const { recovery: _, proofs_uri: __, ...plain } = parseObject(
    files.get(path)!,
  )!;
  return new Map([...files, [path, encode(plain)]]);
}

/** Serves a whole file: ranges are optional. */
function serve(files: Files, request: Request): Response {
  const { pathname } = new URL(request.url);
  const bytes = files.get(decodeURIComponent(pathname));
  if (bytes === undefined) return new Response(null, { status: 404 });
  const headers = { "content-type": mediaTypeOf(pathname) };
  return new Response(new Uint8Array(bytes), { headers });
}

function mediaTypeOf(path: string): string {
  if (path.endsWith(".jsonl")) return "application/x-ndjson";
  if (path.endsWith("/checkpoint")) return "text/plain; charset=utf-8";
  return path.endsWith(".json")
    ? "application/json"
    : "application/octet-stream";
}
