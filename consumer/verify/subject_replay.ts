/** Verifies the lines of one subject, without the others (docs/protocol.md §13.3). @module */

import {
  createFeedLineParser,
  DEFAULT_LIMITS,
  instantOf,
  isUpsert,
  type Limits,
  parseEventPayload,
  Replay,
  type SigMetadata,
} from "@sig/core";
import { isVoidEvent, verifyEnvelope } from "@sig/jose/keys";
import { proofInvalid } from "@sig/jose/proofs";
import type { LoadedIssuer } from "./load_issuer.ts";

/** The subject whose lines are replayed. */
interface ReplayedSubject {
  readonly subject: string;
  /** Whether the question may be about a past time. */
  readonly isPast: boolean;
}

type SubjectIssuer = Pick<LoadedIssuer, "issuer" | "keys"> & {
  readonly metadata: Pick<SigMetadata, "public_only">;
};

/** Verifies and replays the lines of one subject, then a tail. */
export class SubjectReplay {
  readonly replay: Replay;
  readonly #loaded: SubjectIssuer;
  readonly #question: ReplayedSubject;
  readonly #parse: ReturnType<typeof createFeedLineParser>;
  /** The relationships of the subject, also of void events. */
  readonly #own = new Set<string>();

  constructor(
    loaded: SubjectIssuer,
    question: ReplayedSubject,
    { now, limits = DEFAULT_LIMITS }: {
      readonly now: Date;
      readonly limits?: Limits | undefined;
    },
  ) {
    this.#loaded = loaded;
    this.#question = question;
    this.#parse = createFeedLineParser({ limits });
    this.replay = new Replay({
      issuer: loaded.issuer,
      limits,
      now: instantOf(now),
      keepOnly: question.subject,
    });
  }

  /**
   * Adds a line of the subject; returns the kid that signed it, and whether its
   * key had ended.
   */
  async addOwn(bytes: Uint8Array, size: number) {
    const { event, kid, isVoid } = await this.#verify(bytes);
    if (event.sequence > size) {
      throw proofInvalid(`a line has sequence ${event.sequence} of ${size}`);
    }
    const isKnown = this.#own.has(event.relationship_id);
    const isMoved = isUpsert(event) && !(isVoid && isKnown) &&
      event.subject !== this.#question.subject;
    if (isMoved) throw proofInvalid("an upsert names another subject");
    if (!isUpsert(event) && !isKnown) {
      throw proofInvalid("a relationship does not begin with an upsert");
    }
    this.#own.add(event.relationship_id);
    this.replay.applySparse(event, isVoid);
    return { kid, isVoid };
  }

  /**
   * Adds the lines after the checkpoint; returns false if the feed must be
   * read.
   */
  async addTail(lines: readonly Uint8Array[], size: number): Promise<boolean> {
    const { isPast } = this.#question;
    this.replay.resume(size);
    for (const line of lines) {
      const { event, isVoid } = await this.#verify(line);
      this.replay.apply(event, undefined, isVoid);
      if (isVoid) continue;
      // The relationship's earlier versions, under another subject, are
      // unknown.
      if (isPast && isUpsert(event) && !this.#own.has(event.relationship_id)) {
        return false;
      }
    }
    return true;
  }

  async #verify(bytes: Uint8Array) {
    const parsed = this.#parse(bytes);
    await verifyEnvelope(parsed, this.#loaded.keys);
    const { public_only: publicOnly } = this.#loaded.metadata;
    const event = parseEventPayload(parsed.payload, { publicOnly });
    const { kid } = parsed.header;
    const { keys } = this.#loaded;
    return { event, kid, isVoid: isVoidEvent(keys, kid, event.sequence) };
  }
}
