/** Some events of a feed: which relationships they change, and how. @module */

import {
  isRevoke,
  isUpsert,
  type RelationshipState,
  type RelationshipVersion,
  versionAfter,
} from "@sig/core";
import type { ArrivedEvent, ArrivingHistory } from "./arriving_history.ts";
import { StateMoved } from "./pin_store.ts";

/** A relationship that came to be about somebody. */
interface NewSubject {
  readonly sequence: number;
  readonly subject: string;
  readonly id: string;
  readonly isFirst: boolean;
}

/** Relationships that came to be about one subject. */
export interface SubjectGrowth {
  /** In the order in which they did. */
  readonly ids: readonly string[];
  /** Whether none of them can have been about the same one before. */
  readonly areNew: boolean;
}

/**
 * Replays events that the rules have judged already, relationship by
 * relationship: none rests upon another.
 */
export class FeedBatch {
  readonly #history: ArrivingHistory;
  readonly #events = new Map<string, ArrivedEvent[]>();
  readonly #newSubjects: NewSubject[] = [];

  /** @param history Learns whom warnings are about. */
  constructor(events: readonly ArrivedEvent[], history: ArrivingHistory) {
    this.#history = history;
    for (const each of events) {
      if (!each.applies && !each.isWarned) continue;
      const { relationship_id: id } = each.event;
      const others = this.#events.get(id);
      if (others === undefined) this.#events.set(id, [each]);
      else others.push(each);
    }
  }

  /** The relationships that the events rest upon. */
  get ids(): Iterable<string> {
    return this.#events.keys();
  }

  /**
   * Adds a relationship's events to it.
   *
   * @param before As the events before left it; undefined for one that is new.
   * @returns Its new versions.
   * @throws {StateMoved} where it can't be new.
   */
  grow(
    id: string,
    before: RelationshipState | undefined,
  ): readonly RelationshipVersion[] {
    const added: RelationshipVersion[] = [];
    let last = before;
    for (const { event, applies, isWarned } of this.#events.get(id) ?? []) {
      const { sequence, subject } = event;
      if (isWarned) {
        const other = last?.subject ?? subject;
        this.#history.learnWarning(
          sequence,
          other === subject ? [subject] : [subject, other],
        );
      }
      if (!applies || (!isUpsert(event) && !isRevoke(event))) continue;
      // The rules knew its upsert: that was staged, and others took it away.
      if (last === undefined && isRevoke(event)) throw new StateMoved();
      const version = versionAfter(last, event);
      const { state } = version;
      added.push(version);
      if (last?.subject !== state.subject) {
        this.#newSubjects.push({
          sequence,
          subject: state.subject,
          id,
          isFirst: last === undefined,
        });
      }
      last = state;
    }
    return added;
  }

  /** Whom those that have grown came to be about. */
  subjects(): ReadonlyMap<string, SubjectGrowth> {
    this.#newSubjects.sort((a, b) => a.sequence - b.sequence);
    const found = new Map<string, { ids: string[]; areNew: boolean }>();
    for (const { subject, id, isFirst } of this.#newSubjects) {
      const known = found.get(subject);
      if (known === undefined) {
        found.set(subject, { ids: [id], areNew: isFirst });
      } else {
        known.ids.push(id);
        known.areNew &&= isFirst;
      }
    }
    return found;
  }
}
