/** An issuer in memory, for trying out the whole story: `--demo` (docs/reference/http.md). @module */

import { didWebOf, parseIssuerDid, SigError } from "@sig/core";
import {
  createMemoryKeyStore,
  createMemoryStore,
  type EventDraft,
  initIssuer,
  openIssuer,
} from "@sig/issuer";

/** An event of the demo's feed, for the page. */
export interface DemoEvent {
  /** The relationship that it is about; `/demo/revoke` takes it. */
  readonly relationship_id: string;
  /** Its place in the feed, from 1. */
  readonly sequence: number;
  /** Whether the relationship is active after it. */
  readonly status: "active" | "revoked";
  /** RFC 3339 UTC. */
  readonly issued_at: string;
  /** Who it is about. */
  readonly subject: string;
  /** What the person was enrolled as, if they gave a name. */
  readonly name: string | null;
  /** Type of the relationship, or why it ended. */
  readonly what: string;
}

/** An issuer that lives as long as the process. */
export type DemoIssuer = Awaited<ReturnType<typeof createDemoIssuer>>;

/** Options of {@linkcode createDemoIssuer}. */
interface DemoIssuerOptions {
  /** `http://host:port`, where the server listens. */
  readonly origin: string;
  /** The clock, for `issued_at` of events. */
  readonly now: () => Date;
}

/** What the demo asks of those who log in: {@linkcode DemoIssuer.enrol} gives it. */
export const DEMO_REQUIRE: readonly string[] = Object.freeze([
  "relationship=employee",
]);

/** Limits the memory that a demo can use. */
const MAX_DEMO_EVENTS = 1_000;

/**
 * Makes an issuer with a fresh key. It signs real events; nothing of it is
 * written to a disk.
 *
 * @example
 * ```ts
 * import { createDemoIssuer } from "./demo_issuer.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const demo = await createDemoIssuer({
 *   origin: "http://127.0.0.1:8788",
 *   now: () => new Date(),
 * });
 * assertEquals(demo.did, "did:web:127.0.0.1%3A8788");
 * const { sequence } = await demo.enrol("did:web:alice.example", "Alice");
 * assertEquals(sequence, 1);
 * ```
 *
 * @throws {SigError} from its methods as `Issuer.append`; `too_many_events`
 * beyond 1,000.
 */
export async function createDemoIssuer({ origin, now }: DemoIssuerOptions) {
  const did = didWebOf(new URL(origin));
  parseIssuerDid(did, { allowPrivate: true });
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did, allowPrivate: true });
  const issuer = await openIssuer({ store, keys, now });
  const events: DemoEvent[] = [];
  const append = async (
    draft: EventDraft,
    { subject, name, status, what }: Pick<
      DemoEvent,
      "subject" | "name" | "status" | "what"
    >,
  ): Promise<DemoEvent> => {
    if (events.length >= MAX_DEMO_EVENTS) throw full();
    const { relationship_id, sequence } = await issuer.append(draft);
    const issued_at = now().toISOString();
    const event = { relationship_id, sequence, status, issued_at };
    events.unshift({ ...event, subject, name, what });
    return events[0]!;
  };
  /** The last event about a subject. */
  const lastOf = (subject: string): DemoEvent | undefined =>
    events.find((each) => each.subject === subject);
  return {
    /** Its DID: the server's own address. */
    did,
    /** All that it has signed, the newest first. */
    events: events as readonly DemoEvent[],
    lastOf,
    /** Makes a subject, or a further key of a person, an employee who may deploy. */
    enrol: (
      subject: string,
      name = lastOf(subject)?.name ?? undefined,
      same_person_as?: string,
    ) =>
      append({
        event_type: "relationship.upsert",
        subject,
        relationship_type: "employee",
        roles: ["deploy"],
        ...(name === undefined ? {} : { display: { title: name } }),
        ...(same_person_as && { metadata: { same_person_as } }),
      }, { subject, name: name ?? null, status: "active", what: "employee" }),
    async revoke(relationshipId: string) {
      const { subject = "", name = null } =
        events.find((each) => each.relationship_id === relationshipId) ?? {};
      return await append({
        event_type: "relationship.revoke",
        relationship_id: relationshipId,
        reason_code: "employment_ended",
      }, { subject, name, status: "revoked", what: "employment ended" });
    },
    /** One of its documents by its path under the origin. */
    document: (path: string): Uint8Array | undefined => store.files.get(path),
  };
}

function full(): SigError {
  return new SigError(
    "too_many_events",
    `Cannot append to the demo: it has ${MAX_DEMO_EVENTS} events`,
    { context: { hint: "Start the server again: the demo forgets all." } },
  );
}
