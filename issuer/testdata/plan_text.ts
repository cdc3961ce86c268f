/** Feeds and lists as lines of text, for tests of plans. @module */

import {
  REASON_CODES,
  type RelationshipUpsertEvent,
  type SigEvent,
} from "@sig/core";
import type { DesiredRelationship } from "@sig/issuer";
import * as kit from "../../tests/kit/events.ts";

/** The keys of the tests: `phone` and `third` name `alice` as their root. */
export const KEYS: Readonly<Record<string, string>> = {
  alice: "did:web:alice.example",
  phone: "did:key:phone",
  third: "did:key:third",
  new: "did:key:new",
  bob: "did:web:bob.example",
};
const LINKED = ["phone", "third"];

/** Reads `a b=c | d`: items with words and members. */
function itemsOf(text: string) {
  return text.split(" | ").filter((item) => item !== "").map((item) => {
    const words = item.split(" ");
    const members = words.filter((word) => word.includes("=")).map((word) => {
      const [name = "", value = ""] = word.split("=");
      const [member, read] = MEMBERS[name]!;
      return [member, value === "none" ? null : read(value)] as const;
    });
    return [words, Object.fromEntries(members)] as const;
  });
}

const same = (value: string) => value;
const instant = (value: string) =>
  value.length === 10 ? `${value}T00:00:00Z` : value;

/** The member that each word sets. */
const MEMBERS: Readonly<
  Record<string, readonly [string, (value: string) => unknown]>
> = {
  type: ["type", same],
  roles: ["roles", (value) => value.split(",")],
  from: ["valid_from", instant],
  until: ["valid_until", instant],
  title: ["title", same],
  id: ["relationship_id", same],
  person: ["person", same],
  metadata: ["metadata", same],
};

/**
 * Reads a feed: `r1 alice roles=a | end r1 superseded`; `person` is the link of
 * a key.
 */
export function eventsOf(feed: string): readonly SigEvent[] {
  return itemsOf(feed).map(([[id = "", key = "", why], members]) => {
    if (id === "end") {
      const reason_code = REASON_CODES.find((code) => code === why);
      return kit.revoke(1, {
        relationship_id: key,
        ...(reason_code && { reason_code }),
      });
    }
    const { person, type = "employee", ...rest } = members;
    const root = person ?? (LINKED.includes(key) ? KEYS.alice : undefined);
    return kit.upsert(1, {
      ...{ relationship_id: id, subject: KEYS[key], relationship_type: type },
      ...rest,
      ...(root === undefined ? {} : { metadata: { same_person_as: root } }),
    } as Partial<RelationshipUpsertEvent>);
  });
}

/** Reads a list, whose rows begin at row 2: `alice roles=a | - person=1`. */
export function rowsOf(list: string): readonly DesiredRelationship[] {
  return itemsOf(list).map(([[name = ""], members], at) => ({
    ...{ row: at + 2, type: "employee", subject: KEYS[name], ...members },
  }));
}
