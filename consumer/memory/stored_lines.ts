/**
 * Answers from stored lines and continues the feed after them. The lines that
 * an answer relies on are verified again (docs/protocol.md §6.4).
 *
 * @module
 */

import {
  compareInstants,
  createFeedLineParser,
  DEFAULT_LIMITS,
  type FeedState,
  type Instant,
  isSigError,
  type Limits,
  parseEventPayload,
  parseJson,
  type PastEvents,
  Replay,
  type SigEvent,
  type UnknownEvent,
  type Warning,
} from "@sig/core";
import { validInstant } from "@sig/core/internal";
import {
  createKeyResolver,
  type KeyResolver,
  readDidDocument,
  verifyEnvelope,
} from "@sig/jose/keys";
import { Sha256 } from "@sig/jose/internal";
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";
import type { DocumentName } from "../fetch/media_type.ts";
import type { HeldDocument, HeldDocuments } from "../read/issuer_documents.ts";
import { createSha256 } from "@sig/jose/proofs";
import { FeedTree } from "../proofs/feed_tree.ts";
import { FeedVerification } from "../verify/feed_verification.ts";
import {
  type ReadingOptions,
  type RunningHash,
  verifyFeed,
} from "../verify/verify_feed.ts";
import type { KeyUse } from "../verify/verified_feed.ts";
import {
  PartialHistory,
  replayFrom,
  type StatePart,
  type StoredWarning,
  WarnedEvents,
} from "./partial_history.ts";
import { HistoryMoved, sha256Hex, type StoredPin } from "./pin.ts";
import {
  instantKey,
  KIND,
  type LinesAbout,
  type NewLines,
  type SqliteLines,
  type StoredLine,
} from "./sqlite_lines.ts";

/** A verified feed that can be continued. */
export interface HeldFeed {
  /** The verification, at the end of the feed. */
  readonly verification: FeedVerification;
  /** The SHA-256 of the feed, at its end. */
  readonly digest: RunningHash;
  /** The URL or path of the feed. */
  readonly ref: string;
  /** `public_only` of the metadata that its events were verified with. */
  readonly publicOnly: boolean;
  /** Warnings about how the feed is served. */
  readonly warnings: readonly Warning[];
  /** When the feed was last compared from its first byte. */
  readonly comparedAt: Date;
}

/** The data that belongs to the lines of a feed, stored as JSON. */
interface Attachment {
  /** The documents that the lines were verified with. */
  readonly documents: readonly (readonly [
    DocumentName,
    Omit<HeldDocument, "bytes"> & { readonly bytes: string },
  ])[];
  readonly keys: readonly KeyUse[];
  /** The URL or path of the feed. */
  readonly ref: string;
  readonly last_event_id: string | null;
  readonly hash: string;
  readonly overlap: string;
  /** Peaks of the tree over the lines; undefined without proofs. */
  readonly tree?: readonly string[] | undefined;
  readonly latest: Instant | null;
  /** Warnings about events, with `issued_at` of events ahead of the clock. */
  readonly warnings: readonly StoredWarning[];
  readonly warnings_left_out: number;
  /** Warnings about how the feed is served. */
  readonly served_warnings: readonly Warning[];
  readonly notices: readonly Warning[];
}

/** Maximum number of lines behind the cached states. */
const MAX_CACHED_LINES = 20_000;

export class StoredLines {
  readonly attachment: Attachment;
  /** The documents that the lines were verified with. */
  readonly documents: HeldDocuments;
  readonly #lines: SqliteLines;
  readonly #pin: StoredPin;
  readonly #options: ReadingOptions;
  #keys: Promise<KeyResolver> | undefined;
  /** By subjects and time; cleared when they have too many lines. */
  readonly #states = new Map<string, FeedState>();
  #cachedLines = 0;
  #whole: WeakRef<FeedState> | undefined;

  private constructor(
    lines: SqliteLines,
    pin: StoredPin,
    attachment: Attachment,
    options: ReadingOptions,
  ) {
    this.#lines = lines;
    this.#pin = pin;
    this.#options = options;
    this.attachment = attachment;
    this.documents = new Map(
      attachment.documents.map(([name, { bytes, ...rest }]) => [
        name,
        { ...rest, bytes: decodeBase64Url(bytes) },
      ]),
    );
  }

  /**
   * Opens the lines of a pin; undefined if the store has only the pin.
   *
   * @throws {SigError} `store_unavailable` if the attachment was altered.
   * @throws {HistoryMoved}
   */
  static async open(
    lines: SqliteLines,
    stored: StoredPin,
    options: ReadingOptions,
  ): Promise<StoredLines | undefined> {
    if (stored.lines === null) return undefined;
    const { issuer } = stored.pin;
    const { sha256 } = stored.lines;
    const bytes = await lines.attachment(issuer, sha256);
    if (bytes === undefined || await sha256Hex(bytes) !== sha256) {
      throw lines.damaged(`what is stored with the lines of ${issuer}`);
    }
    const attachment = JSON.parse(new TextDecoder().decode(bytes));
    return new StoredLines(lines, stored, attachment, options);
  }

  /**
   * Reads and verifies the lines of a part of the state.
   *
   * @throws {SigError} `store_unavailable`.
   * @throws {HistoryMoved}
   */
  async read({ subjects: asked, asOf }: StatePart): Promise<FeedState> {
    if (asked === undefined) return await this.#readWhole();
    const subjects = [...new Set(asked)];
    const time = typeof asOf === "object" ? asOf.instant : asOf;
    const key = JSON.stringify([subjects, time]);
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const found = await this.#lines.about(this.#place, {
      subjects,
      sequences: this.#moved,
      asOf: time,
    });
    for (const line of found.named) this.#parse(line);
    const history = new PartialHistory();
    await this.#learnTime(history, found, time);
    const state = await this.#replay(history, found.lines);
    this.#keep(key, state, found.lines.length);
    return state;
  }

  keepWhole(state: FeedState): void {
    this.#whole = new WeakRef(state);
  }

  /** Returns the feed to continue from; new lines are added to `lines`. */
  continued(
    lines: NewLines,
    limits: Limits | undefined,
  ): Omit<HeldFeed, "comparedAt"> {
    const { attachment } = this;
    const { pin, public_only: publicOnly } = this.#pin;
    const latest = attachment.latest ?? undefined;
    lines.restart(latest);
    const hash = Sha256.load(attachment.hash);
    if (hash === undefined) throw this.#damaged("the digest");
    return {
      verification: new FeedVerification({
        issuer: pin.issuer,
        publicOnly,
        limits,
        unknownEvents: this.#options.unknownEvents,
        unmatchedRevoke: this.#options.unmatchedRevoke,
        onLine: (...line) => lines.add(...line),
        tree: attachment.tree && new FeedTree(createSha256(), {
          size: pin.sequence,
          peaks: attachment.tree.map(decodeBase64Url),
        }),
        start: {
          bytes: pin.bytes,
          lastEventId: attachment.last_event_id,
          overlap: decodeBase64Url(attachment.overlap),
          keys: attachment.keys,
          replay: replayFrom(new WarnedEvents(attachment.warnings), {
            lastSequence: pin.sequence,
            latest,
            past: this.#pastEvents(),
            warnings: attachment.warnings.map(withoutTime),
            warningsLeftOut: attachment.warnings_left_out,
          }),
        },
      }),
      digest: hash,
      ref: attachment.ref,
      publicOnly,
      warnings: attachment.served_warnings,
    };
  }

  /**
   * The sequences of lines that moved a relationship to another subject. They
   * are always checked: a question about the first subject would not detect
   * that their columns were altered.
   */
  get #moved(): readonly number[] {
    return this.attachment.warnings.flatMap(({ code, sequence = 0 }) =>
      code === "subject_changed" ? [sequence] : []
    );
  }

  get #place() {
    return { issuer: this.#pin.pin.issuer, table: this.#pin.lines!.table };
  }

  #damaged(what: string): Error {
    return this.#lines.damaged(`${what} of ${this.#pin.pin.issuer}`);
  }

  async #loadKeys(): Promise<KeyResolver> {
    const { issuer } = this.#pin.pin;
    const { backend = "auto" } = this.#options;
    const json = (name: DocumentName) => {
      const document = this.documents.get(name);
      return document && parseJson(document.bytes);
    };
    const did = json("did_document");
    return await createKeyResolver(json("jwks"), {
      authorized: did === undefined ? did : readDidDocument(did, issuer),
      limits: this.#limits,
      backend,
    });
  }

  async #replay(
    history: PartialHistory,
    lines: readonly StoredLine[],
  ): Promise<FeedState> {
    const { sequence: last, issuer } = this.#pin.pin;
    const warned = new Set(
      this.attachment.warnings.map(({ sequence }) => sequence),
    );
    const replay = new Replay({ issuer }, replayFrom(history));
    for (const line of lines) {
      // Another process may have stored more lines since.
      if (line.sequence > last) break;
      const event = await this.#verify(line);
      if (warned.has(line.sequence)) history.warnAt(event);
      replay.applySparse(event);
    }
    replay.resume(last);
    return replay.state();
  }

  /** Verifies a line like a fetched one, and returns its event. */
  async #verify(line: StoredLine): Promise<SigEvent | UnknownEvent> {
    const keys = await (this.#keys ??= this.#loadKeys());
    const { parsed, event } = this.#parse(line);
    try {
      await verifyEnvelope(parsed, keys);
      return event;
    } catch (error) {
      if (!isSigError(error)) throw error;
      throw this.#damaged(`the stored line ${line.sequence}`);
    }
  }

  /** Parses a line and requires that its event matches the columns. */
  #parse(line: StoredLine) {
    try {
      const parsed = createFeedLineParser({ limits: this.#limits })(line.line);
      const event = parseEventPayload(parsed.payload, {
        publicOnly: this.#pin.public_only,
        unknownEvents: this.#options.unknownEvents ?? "reject",
      });
      const isSame = event.sequence === line.sequence &&
        event.event_id === line.event_id && event.subject === line.subject &&
        event.relationship_id === line.relationship &&
        event.issuer === this.#pin.pin.issuer;
      if (isSame) return { parsed, event };
    } catch (error) {
      if (!isSigError(error)) throw error;
    }
    throw this.#damaged(`the stored line ${line.sequence}`);
  }

  /** Records a past time, which signed lines must prove. */
  async #learnTime(
    history: PartialHistory,
    { around, events }: Pick<LinesAbout, "around" | "events">,
    time: number | Instant | undefined,
  ): Promise<void> {
    const { sequence: last } = this.#pin.pin;
    let before: StoredLine | undefined;
    for (const line of around) {
      // Another process has stored more lines since.
      if (line.sequence > last) throw new HistoryMoved();
      const event = await this.#verify(line);
      const issuedAt = validInstant(event.issued_at);
      history.learnInstant(line.sequence, issuedAt);
      if (typeof time !== "object") continue;
      const isAfter = compareInstants(issuedAt, time) > 0;
      // Events may be out of order: an altered `latest` must not lead the
      // search to a wrong place where the neighbouring lines seem correct.
      const isLatest = line.latest === latestAfter(before, issuedAt);
      const isKnown = before !== undefined || line.sequence === 1;
      if (isAfter !== line.sequence > events || isKnown && !isLatest) {
        throw this.#damaged(`the time of the stored line ${line.sequence}`);
      }
      before = line;
    }
    if (typeof time === "object") history.learnPrefix(time, events);
  }

  /** Looks up earlier events in the stored lines. */
  #pastEvents(): PastEvents {
    const { sequence: last } = this.#pin.pin;
    const find = (
      index: "id" | "relationship",
      where: string,
      value: string,
    ) => {
      const line = this.#lines.find(
        this.#place,
        index,
        `${where} AND sequence<=?`,
        value,
        last,
      );
      return line && this.#parse(line).event;
    };
    return {
      hasEvent: (id) => find("id", "event_id=?", id) !== undefined,
      relationship: (id) => {
        const of = (kinds: string) =>
          find("relationship", `relationship=? AND kind IN (${kinds})`, id);
        const upsert = of(`${KIND.upsert}`);
        if (upsert === undefined) return undefined;
        const latest = of(`${KIND.upsert}, ${KIND.revoke}`);
        const revoked = latest?.event_type === "relationship.revoke";
        return { subject: upsert.subject, revoked };
      },
    };
  }

  get #limits(): Limits {
    return this.#options.limits ?? DEFAULT_LIMITS;
  }

  /** Verifies every line again; the SHA-256 proves that none is missing. */
  async #readWhole(): Promise<FeedState> {
    const known = this.#whole?.deref();
    if (known !== undefined) return known;
    const { pin, public_only: publicOnly } = this.#pin;
    try {
      const keys = await (this.#keys ??= this.#loadKeys());
      const { state, sha256 } = await verifyFeed(
        this.#lines.bytes(this.#place, pin.sequence),
        {
          ...this.#options,
          // The caller has already seen these events.
          onEvent: undefined,
          issuer: pin.issuer,
          keys,
          publicOnly,
          now: new Date(pin.last_seen),
          limits: roomFor(pin, this.#limits),
          digest: true,
          expectedBytes: pin.bytes,
        },
      );
      if (sha256 !== pin.prefix_sha256) throw this.#damaged("the feed");
      this.keepWhole(state);
      return state;
    } catch (error) {
      if (!isSigError(error) || error.code === "store_unavailable") throw error;
      throw this.#damaged("the feed");
    }
  }

  #keep(key: string, state: FeedState, lines: number): void {
    if (this.#cachedLines + lines >= MAX_CACHED_LINES) {
      this.#states.clear();
      this.#cachedLines = 0;
    }
    this.#states.set(key, state);
    this.#cachedLines += lines + 1;
  }
}

/** Returns the expected `latest` of a line, given the line before it. */
function latestAfter(before: StoredLine | undefined, issuedAt: Instant) {
  const own = instantKey(issuedAt);
  return before !== undefined && before.latest > own ? before.latest : own;
}

/**
 * Raises the limits to the stored size: they may have been higher when the
 * lines were stored.
 */
function roomFor(
  { bytes, sequence }: { readonly bytes: number; readonly sequence: number },
  limits: Limits,
): Limits {
  return {
    ...limits,
    maxFeedBytes: Math.max(limits.maxFeedBytes, bytes),
    maxEvents: Math.max(limits.maxEvents, sequence),
  };
}

export function attachmentOf(
  feed: HeldFeed,
  documents: HeldDocuments,
  notices: readonly Warning[],
): Uint8Array<ArrayBuffer> {
  const { replay, keys, lastEventId, overlap } = feed.verification
    .checkpoint();
  const attachment: Attachment = {
    documents: Array.from(documents, ([name, { bytes, ...rest }]) => [
      name,
      { ...rest, bytes: encodeBase64Url(bytes) },
    ]),
    keys,
    ref: feed.ref,
    last_event_id: lastEventId,
    hash: (feed.digest as Sha256).save(),
    overlap: encodeBase64Url(overlap),
    tree: feed.verification.tree?.peaks.map((each) => encodeBase64Url(each)),
    latest: replay.latest ?? null,
    warnings: replay.warnings.map((warning) => {
      const { code, sequence } = warning;
      return code === "issued_at_future" && sequence !== undefined
        ? { ...warning, issued_at: replay.history.issuedAt(sequence) }
        : warning;
    }),
    warnings_left_out: replay.warningsLeftOut,
    served_warnings: feed.warnings,
    notices,
  };
  return new TextEncoder().encode(JSON.stringify(attachment));
}

/** Returns a stored warning in the form of answers. */
export function withoutTime(
  { issued_at: _, ...warning }: StoredWarning,
): Warning {
  return warning;
}
