/** The relationships of a feed as rows for people. @module */

import {
  dumpState,
  type EffectiveStatus,
  type FeedState,
  type RelationshipState,
  type VerifiedEvent,
} from "../libraries/mod.ts";
import { isRecord } from "../parts/text.ts";
import { createNaturalOrder } from "./natural_order.ts";

/** A row. */
export interface Person {
  readonly relationship: RelationshipState;
  readonly status: EffectiveStatus;
  /** What the issuer calls them, or "". */
  readonly name: string;
  /** Title and department, or "". */
  readonly position: string;
}

/** What is shown of all rows. */
export interface PeopleFilter {
  readonly text: string;
  /** "" for every one. */
  readonly status: string;
  /** "" for every one. */
  readonly role: string;
}

/** By which column, and which way. */
export interface PeopleOrder {
  readonly by: "who" | "type" | "until" | "status" | "event";
  readonly down: boolean;
}

/** What holds comes first, what is over last. */
const PLACES: Readonly<Record<EffectiveStatus, number>> = {
  active: 1,
  not_yet_valid: 2,
  expired: 3,
  revoked: 4,
};

/** All rows, as of now. */
export function peopleOf(
  state: FeedState,
  events: readonly VerifiedEvent[],
  now: Date,
): readonly Person[] {
  const displays = displaysIn(events);
  const { by_relationship_id, statuses } = dumpState(state, { now });
  return Array.from(by_relationship_id, ([id, relationship]) => ({
    relationship,
    status: statuses.get(id) ?? "active",
    ...(displays.get(id) ?? { name: "", position: "" }),
  }));
}

/** What each relationship's last upsert displays: revokes display nothing. */
function displaysIn(events: readonly VerifiedEvent[]) {
  const displays = new Map<string, { name: string; position: string }>();
  for (const { event } of events) {
    if (!("display" in event) || !isRecord(event.display)) continue;
    const [label, title, department] = ["label", "title", "department"].map(
      (name) => {
        const value = (event.display as Record<string, unknown>)[name];
        return typeof value === "string" ? value : "";
      },
    ) as [string, string, string];
    displays.set(event.relationship_id, {
      name: label || title,
      position: [label === "" ? "" : title, department].filter(Boolean)
        .join(", "),
    });
  }
  return displays;
}

/** Every role of the feed, as people count, at most `limit`. */
export function rolesOf(
  people: readonly Person[],
  limit: number,
): readonly string[] {
  const roles = new Set<string>();
  for (const { relationship } of people) {
    for (const role of relationship.roles) {
      if (roles.size < limit) roles.add(role);
    }
  }
  return [...roles].sort(createNaturalOrder());
}

/** The rows that a filter lets through. */
export function filterPeople(
  people: readonly Person[],
  { text, status, role }: PeopleFilter,
): readonly Person[] {
  const wanted = text.trim().toLowerCase();
  return people.filter((each) =>
    (status === "" || each.status === status) &&
    (role === "" || each.relationship.roles.includes(role)) &&
    (wanted === "" || textOf(each).includes(wanted))
  );
}

function textOf({ name, position, relationship }: Person): string {
  const { subject, relationship_id, relationship_type } = relationship;
  return `${name}\n${position}\n${subject}\n${relationship_id}\n${relationship_type}`
    .toLowerCase();
}

/** Rows in an order; equal ones by who they are, then by identifier. */
export function sortPeople(
  people: readonly Person[],
  { by, down }: PeopleOrder,
): readonly Person[] {
  const natural = createNaturalOrder();
  const who = ({ name, relationship }: Person) => name || relationship.subject;
  const byWho = (a: Person, b: Person) =>
    natural(who(a), who(b)) ||
    natural(
      a.relationship.relationship_id,
      b.relationship.relationship_id,
    );
  const orders: Record<PeopleOrder["by"], (a: Person, b: Person) => number> = {
    who: byWho,
    type: (a, b) =>
      natural(
        a.relationship.relationship_type,
        b.relationship.relationship_type,
      ),
    // Without an end comes last.
    until: (a, b) =>
      natural(
        a.relationship.valid_until ?? "~",
        b.relationship.valid_until ?? "~",
      ),
    status: (a, b) => PLACES[a.status] - PLACES[b.status],
    event: (a, b) =>
      a.relationship.last_sequence - b.relationship.last_sequence,
  };
  const order = orders[by];
  const sign = down ? -1 : 1;
  return people.toSorted((a, b) => sign * order(a, b) || byWho(a, b));
}
