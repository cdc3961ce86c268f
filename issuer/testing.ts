/**
 * An issuer for the tests of relying parties: real keys, real signed events and
 * real refusals, without a disk, a network or waiting.
 *
 * @example
 * ```ts
 * import { fakeIssuer } from "@sig/issuer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * await using issuer = await fakeIssuer({ did: "did:web:acme.example" });
 * await issuer.upsert({
 *   subject: "did:web:alice.example",
 *   relationship_type: "employee",
 * });
 * const feed = "https://acme.example/.well-known/sig/events.jsonl";
 * const response = await issuer.fetch(new Request(feed));
 * assertEquals((await response.text()).split("\n").length, 2);
 * ```
 *
 * @module
 */

import { type FeedState, parseIssuerDid, type SigMetadata } from "@sig/core";
import { importSigningKey, type SigningKey } from "@sig/jose/keys";
import type { AppendedEvent } from "./append/append_batch.ts";
import type { RevokeDraft, UpsertDraft } from "./append/draft.ts";
import {
  damagedFiles,
  faultyAnswer,
  type IssuerFault,
  serveFile,
} from "./testing/faults.ts";
import { initIssuer } from "./init_issuer.ts";
import type { KeyStore } from "./keys/key_store.ts";
import { createMemoryKeyStore } from "./keys/key_store.ts";
import { type Issuer, openIssuer, type RotatedKey } from "./open_issuer.ts";
import { createMemoryStore, type MemoryStore } from "./store/memory_store.ts";

export type { AppendedEvent } from "./append/append_batch.ts";
export type { DraftBase, RevokeDraft, UpsertDraft } from "./append/draft.ts";
export type { IssuerFault } from "./testing/faults.ts";
export type { RotatedKey } from "./open_issuer.ts";

/** Options of {@linkcode fakeIssuer}. */
export interface FakeIssuerOptions {
  /** Its DID (default: `did:web:acme.example`). */
  readonly did?: string;
  /** Start of its clock (default: `2026-01-01T00:00:00Z`). */
  readonly at?: string | Date;
}

/** An issuer in memory; made by {@linkcode fakeIssuer}. */
export interface FakeIssuer extends AsyncDisposable {
  /** Its DID, for `createConsumer({ issuers: [did] })`. */
  readonly did: string;
  /** The metadata that it publishes in `sig.json`. */
  readonly metadata: SigMetadata;
  /** Its clock, also for the consumer; it changes only through `advance`. */
  readonly now: () => Date;
  /**
   * Its web server: for the option `fetch` of a consumer, or to be served.
   * Rejects for another host, like a host name that does not resolve.
   */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The requested paths, in order. */
  readonly requests: readonly string[];
  /** Advances the clock by this number of milliseconds. */
  advance(milliseconds: number): void;
  /** Publishes a relationship, like `append` of `openIssuer`. */
  upsert(draft: Omit<UpsertDraft, "event_type">): Promise<AppendedEvent>;
  /**
   * Revokes a relationship, like `append` of `openIssuer` (default: reason
   * `other`).
   */
  revoke(
    draft:
      & Omit<RevokeDraft, "event_type" | "reason_code">
      & Partial<Pick<RevokeDraft, "reason_code">>,
  ): Promise<AppendedEvent>;
  /** Signs with a further key from now on (default: its kid is generated). */
  rotateKey(kid?: string): Promise<RotatedKey>;
  /** Returns the state that its feed derives. */
  state(): Promise<FeedState>;
  /** Introduces a fault, which lasts until `mend` or another fault. */
  break(fault: IssuerFault): void;
  /** Removes the current fault. */
  mend(): void;
}

/**
 * Makes an issuer in memory. Its files are made by the same code as any
 * issuer's, so a reader verifies every signature.
 *
 * @example An application denies a person who was dismissed
 * ```ts
 * import { createConsumer } from "@sig/consumer";
 * import { fakeIssuer } from "@sig/issuer/testing";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * await using issuer = await fakeIssuer();
 * const { did, fetch, now } = issuer;
 * const consumer = createConsumer({ issuers: [did], fetch, now });
 * const subject = "did:web:alice.example";
 * const mayRefund = async () => {
 *   const answer = await consumer.check(did, { subject, require: ["role=refund"] });
 *   return answer.decision;
 * };
 *
 * const { relationship_id } = await issuer.upsert({
 *   subject,
 *   relationship_type: "employee",
 *   roles: ["refund"],
 * });
 * assertEquals(await mayRefund(), "allow");
 *
 * await issuer.revoke({ relationship_id });
 * issuer.advance(60_001); // older than the consumer lets an answer be
 * assertEquals(await mayRefund(), "deny");
 *
 * issuer.break("unreachable"); // no answer is not a deny
 * issuer.advance(60_001);
 * await assertRejects(mayRefund, Error, "Cannot");
 * ```
 *
 * @throws {SigError} such as `invalid_identifier` for a DID that can't be an
 * issuer's.
 */
export async function fakeIssuer(
  { did = "did:web:acme.example", at = "2026-01-01T00:00:00Z" }:
    FakeIssuerOptions = {},
): Promise<FakeIssuer> {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  const { metadata, kid } = await initIssuer({ store, keys, did });
  const clock = { time: new Date(at).getTime() };
  const issuer = await openIssuer({
    store,
    keys,
    now: () => new Date(clock.time),
  });
  return new IssuerInMemory({ issuer, store, keys, metadata, kid, clock });
}

/** The parts of an issuer in memory. */
interface Parts {
  readonly issuer: Issuer;
  readonly store: MemoryStore;
  readonly keys: KeyStore;
  readonly metadata: SigMetadata;
  readonly kid: string;
  readonly clock: { time: number };
}

class IssuerInMemory implements FakeIssuer {
  readonly #parts: Parts;
  readonly #host: string;
  readonly #requests: string[] = [];
  #rotations = 1;
  #kid: string;
  #fault: IssuerFault | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#kid = parts.kid;
    this.#host = parseIssuerDid(this.did).host;
  }

  get did(): string {
    return this.metadata.issuer;
  }

  get metadata(): SigMetadata {
    return this.#parts.metadata;
  }

  get requests(): readonly string[] {
    return this.#requests;
  }

  readonly now = (): Date => new Date(this.#parts.clock.time);

  readonly fetch = async (request: Request): Promise<Response> => {
    const { hostname, pathname } = new URL(request.url);
    if (hostname !== this.#host) throw new TypeError("No such host");
    this.#requests.push(pathname);
    const { files } = this.#parts.store;
    const fault = this.#fault;
    if (fault === undefined) return await serveFile(files, request);
    const answer = faultyAnswer(fault, request);
    if (answer !== undefined) return await answer;
    const damaged = await damagedFiles(fault, files, await this.#key());
    return await serveFile(damaged, request);
  };

  advance(milliseconds: number): void {
    this.#parts.clock.time += milliseconds;
  }

  async upsert(
    draft: Omit<UpsertDraft, "event_type">,
  ): Promise<AppendedEvent> {
    const { issuer } = this.#parts;
    return await issuer.append({ ...draft, event_type: "relationship.upsert" });
  }

  async revoke(
    draft:
      & Omit<RevokeDraft, "event_type" | "reason_code">
      & Partial<Pick<RevokeDraft, "reason_code">>,
  ): Promise<AppendedEvent> {
    return await this.#parts.issuer.append({
      reason_code: "other",
      ...draft,
      event_type: "relationship.revoke",
    });
  }

  async rotateKey(kid = `orgsign-${++this.#rotations}`): Promise<RotatedKey> {
    const rotated = await this.#parts.issuer.rotateKey({ kid });
    this.#kid = rotated.kid;
    return rotated;
  }

  async state(): Promise<FeedState> {
    return await this.#parts.issuer.state();
  }

  break(fault: IssuerFault): void {
    this.#fault = fault;
  }

  mend(): void {
    this.#fault = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.issuer.close();
  }

  /** Returns the key that currently signs. */
  async #key(): Promise<SigningKey> {
    const kid = this.#kid;
    const jwk = await this.#parts.keys.read({ host: this.#host, kid });
    return await importSigningKey({ ...jwk!, kid });
  }
}
