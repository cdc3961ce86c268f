/** Appends events: one write, all or nothing (docs/protocol.md §11). @module */

import {
  formatInstant,
  instantOf,
  SigError,
  type SigEvent,
  type Warning,
} from "@sig/core";
import { joinBytes } from "@sig/core/internal";
import { signEvent, type SigningKey } from "@sig/jose/keys";
import { monotonicUlid } from "@std/ulid";
import { buildEvent } from "./build_event.ts";
import {
  DraftFaults,
  type DraftMembers,
  type EventDraft,
  hasSameContent,
  readDraft,
  refused,
} from "./draft.ts";
import type { FeedIds } from "../store/feed_lines.ts";
import { yieldToEventLoop } from "./verify_feed.ts";
import { readEventAt, readLastEvent } from "./current.ts";
import type { IssuerDocuments } from "../documents/documents.ts";
import type { FeedSession } from "./feed_session.ts";
import {
  requireWritable,
  type WritableEvent,
  type WriteRules,
} from "./write_rules.ts";
import type { EventIndex } from "../index/feed_index.ts";
import {
  type FeedHead,
  type IndexedRelationship,
  IndexError,
} from "../index/index_file.ts";
import type { FeedWriter, OpenFeed } from "../store/feed_store.ts";

/** The result of appending one draft. */
export interface AppendedEvent {
  /** The event as written to the feed. */
  readonly event: SigEvent;
  /** Sequence of the event. */
  readonly sequence: number;
  /** Identifier of the event. */
  readonly event_id: string;
  /** Identifier of the event's relationship. */
  readonly relationship_id: string;
  /** True if the feed already had the event and nothing was written. */
  readonly repeated: boolean;
  /** Warnings of readers; empty unless `allowWarnings` or `amend` is set. */
  readonly warnings: readonly Warning[];
}

/** Options of {@linkcode Issuer.appendAll}. */
export interface AppendOptions {
  /** Reject with `plan_outdated` unless the feed ends with this sequence. */
  readonly ifLastSequence?: number | undefined;
  /**
   * Number of faulty drafts to collect before rejecting; `context.errors` lists
   * them, each with its `draft` (default: 1).
   */
  readonly maxFaults?: number | undefined;
  /** Called every 1,000 drafts with the number of drafts processed so far. */
  readonly onProgress?: ((drafts: number) => void) | undefined;
}

/** What an append needs besides the feed. */
interface AppendContext extends WriteRules {
  readonly key: SigningKey;
  /** The event ids of the feed, read without trusting the index. */
  readonly ids: FeedIds;
}

/**
 * Events that the index file may be behind: writing it for each would double
 * the cost of an append. After a crash, this many are verified again.
 */
const MAX_PENDING = 256;
const PROGRESS_EVERY = 1_000;
const LF = Uint8Array.of(0x0a);
const encoder = new TextEncoder();

/**
 * Appends drafts in the turn of an open issuer: checks, completes and signs
 * them, writes them in one write and adds them to the index. If a draft is
 * refused, neither the feed nor the index changes.
 *
 * @throws {SigError} as `append` of `openIssuer`.
 */
export async function appendInTurn(
  session: FeedSession,
  writer: FeedWriter,
  documents: IssuerDocuments,
  drafts: readonly EventDraft[],
  options: AppendOptions & Partial<WriteRules>,
): Promise<readonly AppendedEvent[]> {
  const { allowWarnings = false, faults: hooks, now } = session.options;
  const { ifLastSequence, maxFaults, onProgress, ...rules } = options;
  const key = await session.signingKey(documents);
  const { ids } = session;
  return await session.withFeed(writer, documents, async (feed, index) => {
    hooks?.onStep?.("recovered");
    const start = index.head!;
    requireEnd(start.sequence, ifLastSequence);
    const given = { allowWarnings, now: now(), ...rules, ...documents };
    const batch = new Batch(feed, index, { ...given, key, ids });
    const faults = new DraftFaults(drafts.length, maxFaults);
    const appended: AppendedEvent[] = [];
    try {
      for (const [at, draft] of drafts.entries()) {
        try {
          appended.push(await batch.add(readDraft(draft)));
        } catch (error) {
          faults.add(error, at);
        }
        if (at % PROGRESS_EVERY === 0) onProgress?.(at);
        await yieldToEventLoop(at);
      }
      faults.throwIfAny();
      await batch.write();
    } catch (error) {
      index.rollBack(start);
      throw error;
    }
    session.flushIndex(index, MAX_PENDING);
    hooks?.onStep?.("indexed");
    return appended;
  });
}

/** Drafts planned for another end of the feed must not be appended. */
function requireEnd(sequence: number, expected: number | undefined): void {
  if (expected === undefined || sequence === expected) return;
  const why =
    `the feed ends at sequence ${sequence}, not ${expected} as when this was planned`;
  throw refused("plan_outdated", why, {
    sequence,
    expected,
    hint: "Somebody else has appended. Make the plan again.",
  });
}

/** An invitation's event is published only once, for the first subject. */
function idInUse(
  { event_id, subject }: DraftMembers,
  { sequence, subject: first }: SigEvent,
): SigError {
  if (String(event_id).startsWith("inv-") && subject !== first) {
    return invitationUsed(sequence);
  }
  const why = `event_id is in use at sequence ${sequence}, with other content`;
  return refused("duplicate_event_id", why, { pointer: "/event_id", sequence });
}

/** A repetition would be taken for done, but the event has no effect. */
function voidId(sequence: number): SigError {
  const why = `event_id is in use at sequence ${sequence}, by a void event`;
  return refused("duplicate_event_id", why, { pointer: "/event_id", sequence });
}

/** Returns the error for an invitation that another subject has used. */
export function invitationUsed(sequence: number): SigError {
  return new SigError("invitation_used", {
    action: "enrol",
    reason: "the invitation was used already, by somebody else",
    context: {
      sequence,
      hint: "Find out who it was (sig log), then make a new invitation.",
    },
  });
}

class Batch {
  readonly #feed: OpenFeed;
  readonly #index: EventIndex;
  /** The end of the written feed; the index is ahead of it during a batch. */
  readonly #start: FeedHead;
  readonly #context: AppendContext;
  readonly #events = new Map<string, SigEvent>();
  readonly #lines: Uint8Array[] = [];

  constructor(feed: OpenFeed, index: EventIndex, context: AppendContext) {
    this.#feed = feed;
    this.#index = index;
    this.#start = index.head!;
    this.#context = context;
  }

  async add(draft: DraftMembers): Promise<AppendedEvent> {
    const earlier = await this.#findEarlier(draft);
    if (earlier !== undefined) {
      if (hasSameContent(draft, earlier)) {
        return { ...result(earlier, []), repeated: true };
      }
      throw idInUse(draft, earlier);
    }
    this.#requireFewEvents();
    const { event, warnings } = await this.#complete(draft);
    const envelope = await signEvent(event, this.#context.key);
    const line = encoder.encode(JSON.stringify(envelope));
    this.#requireRoom(line.length);
    this.#index.add(event, line);
    this.#events.set(event.event_id, event);
    this.#lines.push(line, LF);
    return result(event, warnings);
  }

  async write(): Promise<void> {
    if (this.#lines.length === 0) return;
    await this.#feed.append(joinBytes(this.#lines));
  }

  /** Returns the event that already has the draft's `event_id`. */
  async #findEarlier(draft: DraftMembers): Promise<SigEvent | undefined> {
    const id = draft.event_id;
    if (typeof id !== "string") return undefined;
    const found = this.#events.get(id);
    if (found !== undefined) return found;
    const place = this.#index.event(id);
    if (place !== undefined) {
      const read = await readEventAt(place, this.#feed, this.#context);
      const { sequence } = place;
      if (read?.event.event_id !== id || read.event.sequence !== sequence) {
        throw new IndexError("Cannot find an event in its place");
      }
      if (read.isVoid) throw voidId(sequence);
      return read.event;
    }
    const { ids, parseLine } = this.#context;
    if (!await ids.has(id, this.#feed, parseLine)) return undefined;
    throw new IndexError("Cannot use an index that lacks an event");
  }

  /** Finds a relationship, and compares it with its last event. */
  async #findRelationship(
    id: unknown,
  ): Promise<IndexedRelationship | undefined> {
    if (typeof id !== "string") return undefined;
    const found = this.#index.relationship(id);
    // An earlier draft of this batch has no line in the feed yet.
    if (found !== undefined && found.offset < this.#start.bytes) {
      await readLastEvent(found, this.#feed, this.#context);
    }
    return found;
  }

  async #complete(draft: DraftMembers): Promise<WritableEvent> {
    const context = this.#context;
    const { issuer, now } = context;
    const relationship = await this.#findRelationship(draft.relationship_id);
    if (draft.event_type === "relationship.revoke") {
      requireRevocable(draft, relationship);
    }
    const event = buildEvent(draft, {
      issuer,
      sequence: this.#index.head!.sequence + 1,
      now: formatInstant(instantOf(now)),
      newId: () => monotonicUlid(now.getTime()),
      subject: relationship?.subject,
    });
    const amend = draft.amend === true;
    return requireWritable(event, this.#index, { ...context, amend });
  }

  /** Refuses a line that is too long, or for which the feed has no room. */
  #requireRoom(bytes: number): void {
    const { maxFeedBytes, maxLineBytes } = this.#context.limits;
    if (bytes > maxLineBytes) {
      const why =
        `the event's line has ${bytes} bytes (at most ${maxLineBytes})`;
      throw refused("line_too_long", why, { limit: maxLineBytes });
    }
    if (this.#index.head!.bytes + bytes < maxFeedBytes) return;
    const why = `the feed would have more than ${maxFeedBytes} bytes`;
    throw refused("feed_too_large", why, { limit: maxFeedBytes });
  }

  /** A feed that readers refuse for its size can't be repaired. */
  #requireFewEvents(): void {
    const { maxEvents } = this.#context.limits;
    const { sequence } = this.#index.head!;
    if (sequence < maxEvents) return;
    const why = `the feed has ${sequence} events (at most ${maxEvents})`;
    throw refused("too_many_events", why, { limit: maxEvents });
  }
}

function result(
  event: SigEvent,
  warnings: readonly Warning[],
): AppendedEvent {
  const { event_id, relationship_id, sequence } = event;
  const repeated = false;
  return { event, sequence, event_id, relationship_id, repeated, warnings };
}

function requireRevocable(
  draft: DraftMembers,
  relationship: IndexedRelationship | undefined,
): void {
  const pointer = "/relationship_id";
  if (typeof draft.relationship_id !== "string") {
    const code = Object.hasOwn(draft, "relationship_id")
      ? "invalid_field"
      : "missing_field";
    const why = "a revoke must name its relationship_id, a string";
    throw refused(code, why, { pointer });
  }
  if (relationship === undefined) {
    const why = "the feed has no relationship with this relationship_id";
    throw refused("unknown_relationship", why, { pointer });
  }
  if (draft.amend !== undefined && typeof draft.amend !== "boolean") {
    const why = "amend must be true or false";
    throw refused("invalid_field", why, { pointer: "/amend" });
  }
  if (!relationship.revoked || draft.amend === true) return;
  throw refused("already_revoked", "the relationship is revoked already", {
    pointer,
    hint: "Amend the revocation to correct its reason or time.",
  });
}
