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
import type { AppendedEvent } from "./append/append_batch.ts";
import type { RevokeDraft, UpsertDraft } from "./append/draft.ts";
import { answerWithFault, type IssuerFault } from "./testing/faults.ts";
import { initIssuer } from "./init_issuer.ts";
import { createMemoryKeyStore } from "./keys/key_store.ts";
import { openIssuer } from "./open_issuer.ts";
import type { RotatedKey } from "./rotate_key.ts";
import { createMemoryStore } from "./store/memory_store.ts";

export type { AppendedEvent } from "./append/append_batch.ts";
export type { DraftBase, RevokeDraft, UpsertDraft } from "./append/draft.ts";
export type { IssuerFault } from "./testing/faults.ts";
export type { RotatedKey } from "./rotate_key.ts";

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
  /** Revokes a relationship, like `append` (default: reason `other`). */
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
  const { metadata } = await initIssuer({ store, keys, did });
  const { host } = parseIssuerDid(did);
  const requests: string[] = [];
  let time = new Date(at).getTime();
  let rotations = 1;
  let fault: IssuerFault | undefined;
  const now = () => new Date(time);
  const issuer = await openIssuer({ store, keys, now });
  return {
    ...{ did, metadata, now, requests },
    async fetch(request) {
      const { hostname, pathname } = new URL(request.url);
      if (hostname !== host) throw new TypeError("No such host");
      requests.push(pathname);
      const findKey = async () => (await issuer.identity()).signingKey;
      return await answerWithFault(fault, store.files, request, findKey);
    },
    advance(milliseconds) {
      time += milliseconds;
    },
    upsert: (draft) =>
      issuer.append({ ...draft, event_type: "relationship.upsert" }),
    revoke: (draft) =>
      issuer.append({
        reason_code: "other",
        ...draft,
        event_type: "relationship.revoke",
      }),
    rotateKey: (kid = `orgsign-${++rotations}`) => issuer.rotateKey({ kid }),
    state: () => issuer.state(),
    break(next) {
      fault = next;
    },
    mend() {
      fault = undefined;
    },
    [Symbol.asyncDispose]: () => issuer.close(),
  };
}
