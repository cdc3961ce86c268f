/** An event in a line, wherever one is spoken of. @module */

import { Badge } from "../parts/notice.tsx";
import { Time } from "../parts/time.tsx";
import type { EventKind, EventRow } from "./feed_events.ts";

const KINDS = {
  added: "success",
  changed: "info",
  ended: "danger",
  unknown: "neutral",
} as const;

/** What it did, in a word with its mark. */
export function KindBadge({ kind }: { readonly kind: EventKind }) {
  return (
    <Badge kind={KINDS[kind]} mark={kind === "changed" ? "dot" : undefined}>
      {kind}
    </Badge>
  );
}

/** Number, kind, words, time. */
export function EventLine({ row }: { readonly row: EventRow }) {
  const { event } = row.verified;
  return (
    <li value={event.sequence} class="row">
      <span class="number">#{event.sequence}</span>
      <KindBadge kind={row.kind} />
      <span>{row.what}</span>
      <span class="quiet">
        <Time instant={event.issued_at} />
      </span>
    </li>
  );
}
