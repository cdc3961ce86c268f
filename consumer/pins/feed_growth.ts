/**
 * What verified events add to a stored state. The rows of a feed that is read
 * anew (`staged_feed.ts`) must come to the same.
 *
 * @module
 */

import {
  decodeBase64UrlStrict,
  isObject,
  type RelationshipState,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import type {
  FeedVerification,
  VerificationStart,
} from "../verify/feed_verification.ts";
import type { SignatureMarks } from "../verify/signature_marks.ts";
import { BlockWriter } from "./block_writer.ts";
import { writeVersions, writeWarnings } from "./feed_rows.ts";
import type { PinRow } from "./pin_store.ts";
import { holdsDigest } from "./row_digests.ts";
import { readRows } from "./row_directory.ts";
import {
  eventIdDigest,
  relationshipKey,
  subjectKey,
  WARNINGS_KEY,
} from "./row_keys.ts";
import {
  isTexts,
  readBlock,
  readRelationship,
  readText,
  type StoredState,
} from "./stored_state.ts";
import type { StoredHistory } from "./stored_history.ts";

const LF = 0x0a;

/** What is known of the bytes up to the end of a piece. */
export interface StepBytes {
  /** SHA-256 of all of them, hexadecimal. */
  readonly sha256: string;
  /** The state of that digest. */
  readonly hash: string;
  /** The last of them. */
  readonly overlap: Uint8Array;
}

/** What a piece of a feed's tail adds: rows, and where its verification stands. */
export interface GrowthStep extends StepBytes {
  /** At the end of the piece. */
  readonly end: VerificationStart;
  /** The rows that change. */
  readonly rows: readonly PinRow[];
}

/**
 * Goes with a verification that goes on from a stored state: reads what the
 * next lines rest upon, and collects what they add.
 */
export class FeedGrowth {
  /** What came so far. */
  readonly steps: GrowthStep[] = [];
  readonly #stored: StoredState;
  readonly #history: StoredHistory;
  readonly #marks: SignatureMarks;
  /** What is read already: relationships that are not there, too. */
  readonly #read = new Set<string>();
  readonly #digests = new Map<string, string>();
  /** Those of the lines that were read ahead last. */
  readonly #eventIds = new Map<string, ReturnType<typeof eventIdDigest>>();
  #blocks: BlockWriter | undefined;
  #events: (SigEvent | UnknownEvent)[] = [];
  #warnings: number;

  /** @param warnings How many warnings are kept already. */
  constructor(
    stored: StoredState,
    history: StoredHistory,
    marks: SignatureMarks,
    warnings: number,
  ) {
    this.#stored = stored;
    this.#history = history;
    this.#marks = marks;
    this.#warnings = warnings;
  }

  /**
   * Reads what whole lines rest upon. They are not verified yet: whatever they
   * say only decides what is looked up.
   */
  async before(
    verification: FeedVerification,
    lines: Uint8Array,
  ): Promise<void> {
    const { lastSequence } = this.#stored;
    this.#blocks ??= new BlockWriter(
      this.#marks,
      lastSequence,
      lastSequence > 0
        ? await readBlock(this.#stored, lastSequence)
        : undefined,
    );
    const ids = new Set<string>();
    const subjects = new Set<string>();
    const eventIds = this.#eventIds;
    eventIds.clear();
    for (const each of claims(lines)) {
      ids.add(each.relationshipId);
      subjects.add(each.subject);
      eventIds.set(each.eventId, eventIdDigest(each.eventId));
    }
    const relationships: RelationshipState[] = [];
    for (const text of await this.#rows([...ids], relationshipKey)) {
      const { id, versions } = readRelationship(this.#stored, text);
      this.#history.learnRelationship(id, versions);
      const last = versions.at(-1)?.state;
      if (last === undefined) continue;
      subjects.add(last.subject);
      relationships.push(last);
    }
    const unread = [...subjects]
      .filter((subject) => !this.#read.has(subjectKey(subject)));
    const texts = await readRows(this.#stored, unread.map(subjectKey));
    for (const [i, text] of texts.entries()) {
      const subject = unread[i]!;
      this.#read.add(subjectKey(subject));
      const known = text === undefined
        ? []
        : readText<readonly string[]>(this.#stored, text, "a subject", isTexts);
      this.#history.learnSubject(subject, known);
    }
    const keys = [...new Set([...eventIds.values()].map(({ key }) => key))]
      .filter((key) => !this.#digests.has(key));
    const found = await readRows(this.#stored, keys);
    for (const [i, key] of keys.entries()) {
      this.#digests.set(key, found[i] ?? "");
    }
    verification.learn({
      eventIds: [...eventIds]
        .filter(([, { key, digest }]) =>
          holdsDigest(this.#digests.get(key)!, digest)
        )
        .map(([eventId]) => eventId),
      relationships,
    });
  }

  /** Takes an event that was verified. */
  note(event: SigEvent | UnknownEvent): void {
    this.#events.push(event);
  }

  /** Ends a step: what the lines since the last one add. */
  step(verification: FeedVerification, bytes: StepBytes): void {
    const rows = new Map<string, string>();
    const relationships = new Set<string>();
    const subjects = new Set<string>();
    for (const event of this.#events) {
      const { sequence, event_id, relationship_id: id } = event;
      this.#blocks!.add(event);
      const { key, digest } = this.#eventIds.get(event_id)!;
      const digests = this.#digests.get(key)! + digest;
      this.#digests.set(key, digests);
      rows.set(key, digests);
      const version = this.#history.versions.get(id)
        ?.findLast(({ state }) => state.last_sequence === sequence);
      // An event may leave all relationships as they are.
      if (version === undefined) continue;
      relationships.add(id);
      subjects.add(version.state.subject);
    }
    for (const row of this.#blocks!.rows()) rows.set(...row);
    for (const id of relationships) {
      const versions = this.#history.versions.get(id)!;
      rows.set(relationshipKey(id), writeVersions(id, versions));
    }
    for (const subject of subjects) {
      const ids = [...this.#history.relationshipsOf(subject)];
      rows.set(subjectKey(subject), JSON.stringify(ids));
    }
    const end = verification.checkpoint();
    const { warnings } = end.replay;
    if (warnings.length !== this.#warnings) {
      this.#warnings = warnings.length;
      rows.set(WARNINGS_KEY, writeWarnings(warnings, this.#history));
    }
    this.#events = [];
    this.steps.push({ ...bytes, end, rows: [...rows] });
  }

  /** The rows that are there, of those that were not read yet. */
  async #rows(
    names: readonly string[],
    keyOf: (name: string) => string,
  ): Promise<readonly string[]> {
    const keys = names.map(keyOf).filter((key) => !this.#read.has(key));
    for (const key of keys) this.#read.add(key);
    const texts = await readRows(this.#stored, keys);
    return texts.filter((text) => text !== undefined);
  }
}

interface Claim {
  readonly eventId: string;
  readonly relationshipId: string;
  readonly subject: string;
}

/** What lines say of themselves; nothing of those that say nothing. */
function* claims(lines: Uint8Array): Generator<Claim> {
  const text = new TextDecoder();
  for (let from = 0; from < lines.length;) {
    const found = lines.indexOf(LF, from);
    const to = found < 0 ? lines.length : found;
    const claim = claimOf(text.decode(lines.subarray(from, to)));
    if (claim !== undefined) yield claim;
    from = to + 1;
  }
}

function claimOf(line: string): Claim | undefined {
  try {
    const { payload } = JSON.parse(line);
    const bytes = decodeBase64UrlStrict(payload);
    const event: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isObject(event)) return undefined;
    const { event_id, relationship_id, subject } = event;
    return typeof event_id === "string" &&
        typeof relationship_id === "string" && typeof subject === "string"
      ? { eventId: event_id, relationshipId: relationship_id, subject }
      : undefined;
  } catch {
    // The verification finds out what is wrong with it.
    return undefined;
  }
}
