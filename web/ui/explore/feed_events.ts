/** The events of a feed as rows for people. @module */

import type { VerifiedEvent } from "../libraries/mod.ts";
import { being, nameIn } from "../feed/names.ts";
import { shown } from "../parts/text.ts";

/** What an event does to a relationship. */
export type EventKind = "added" | "changed" | "ended" | "unknown";

/** A row. */
export interface EventRow {
  readonly verified: VerifiedEvent;
  readonly kind: EventKind;
  /** What the issuer calls the person as of then, or "". */
  readonly name: string;
  /** In words: "joins as employee". */
  readonly what: string;
}

/** The kinds, in the order in which they are offered. */
export const EVENT_KINDS: readonly EventKind[] = ["added", "changed", "ended"];

/** All rows in the feed's order. */
export function rowsOf(events: readonly VerifiedEvent[]): readonly EventRow[] {
  const names = new Map<string, string>();
  const open = new Set<string>();
  return events.map((verified) => {
    const { event } = verified;
    const id = event.relationship_id;
    const given = nameIn(event);
    if (given !== "") names.set(id, given);
    const name = names.get(id) ?? "";
    if ("relationship_type" in event) {
      const kind = open.has(id) ? "changed" : "added";
      open.add(id);
      const type = being(shown(event.relationship_type));
      const what = kind === "added" ? `joins as ${type}` : `${type}, changed`;
      return { verified, kind, name, what };
    }
    if ("reason_code" in event) {
      open.delete(id);
      const what = `leaves: ${being(shown(event.reason_code))}`;
      return { verified, kind: "ended", name, what };
    }
    return { verified, kind: "unknown", name, what: shown(event.event_type) };
  });
}

/** The rows that a filter lets through, the newest first. */
export function filterEvents(
  rows: readonly EventRow[],
  { text, kind }: { readonly text: string; readonly kind: string },
): readonly EventRow[] {
  const wanted = text.trim().toLowerCase();
  return rows.filter((row) =>
    (kind === "" || row.kind === kind) &&
    (wanted === "" || textOf(row).includes(wanted))
  ).reverse();
}

function textOf({ verified: { event }, name, what }: EventRow): string {
  return `${name}\n${event.subject}\n${event.relationship_id}\n${what}`
    .toLowerCase();
}
