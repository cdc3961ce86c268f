/** An issuer in memory for the demo, `--demo` (docs/reference/http.md). @module */

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
  /** The id of its relationship, for `/demo/revoke`. */
  readonly relationship_id: string;
  readonly sequence: number;
  /** Whether the relationship is active or revoked after it. */
  readonly status: "active" | "revoked";
  readonly issued_at: string;
  readonly subject: string;
  /** The name under which the person was enrolled, if given. */
  readonly name: string | null;
  /** The type of the relationship, or the reason of its end. */
  readonly what: string;
}

/** An issuer that exists as long as the process. */
export type DemoIssuer = Awaited<ReturnType<typeof createDemoIssuer>>;

/**
 * The requirement for logging in to the demo; {@linkcode DemoIssuer.enrol}
 * fulfils it.
 */
export const DEMO_REQUIRE: readonly string[] = Object.freeze([
  "relationship=employee",
]);

/** Maximum number of events, to limit the memory of a demo. */
const MAX_DEMO_EVENTS = 1_000;

/**
 * Creates an issuer with a new key. It signs real events and writes nothing to
 * the disk.
 *
 * @throws {SigError} from its methods as `Issuer.append`; `too_many_events`
 * beyond 1,000.
 */
export async function createDemoIssuer({ origin, now }: {
  /** `http://host:port`, where the server listens. */
  readonly origin: string;
  readonly now: () => Date;
}) {
  const did = didWebOf(new URL(origin));
  parseIssuerDid(did, { allowPrivate: true });
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did, allowPrivate: true });
  const issuer = await openIssuer({ store, keys, now });
  const events: DemoEvent[] = [];
  const append = async (
    draft: EventDraft,
    shown: Pick<DemoEvent, "subject" | "name" | "status" | "what">,
  ): Promise<DemoEvent> => {
    if (events.length >= MAX_DEMO_EVENTS) {
      throw new SigError("too_many_events", {
        action: "append to the demo",
        reason: `it has ${MAX_DEMO_EVENTS} events`,
        context: { hint: "Start the server again: the demo forgets all." },
      });
    }
    const { relationship_id, sequence } = await issuer.append(draft);
    const issued_at = now().toISOString();
    const event = { relationship_id, sequence, issued_at, ...shown };
    events.unshift(event);
    return event;
  };
  /** Returns the last event about a subject. */
  const lastOf = (subject: string): DemoEvent | undefined =>
    events.find((each) => each.subject === subject);
  return {
    /** Its DID, which names the server's own address. */
    did,
    /** All events, newest first. */
    events: events as readonly DemoEvent[],
    lastOf,
    /**
     * Enrols a subject, or another key of a person, as an employee with the
     * role deploy.
     */
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
    /** Returns one of its documents by its path in the origin. */
    document: (path: string): Uint8Array | undefined => store.files.get(path),
  };
}
