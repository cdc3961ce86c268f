/** An event in two lines. @module */

import { being } from "../feed/names.ts";
import type { VerifiedEvent } from "../libraries/mod.ts";
import { Badge } from "../parts/notice.tsx";
import { shortened, shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";

/** Who, what and when. */
export function ShortEvent({ verified: { event }, names }: {
  readonly verified: VerifiedEvent;
  readonly names: ReadonlyMap<string, string>;
}) {
  const isEnd = event.event_type === "relationship.revoke";
  const name = names.get(event.relationship_id);
  return (
    <li value={event.sequence}>
      <div class="row">
        <span class="number">#{event.sequence}</span>
        <Badge kind={isEnd ? "danger" : "success"}>
          {isEnd ? "ended" : "added"}
        </Badge>
      </div>
      <p>
        <strong>
          {name === undefined ? shortened(event.subject) : shown(name)}
        </strong>
        : {what(event)}
      </p>
      <p class="quiet">
        <Time instant={event.issued_at} />
      </p>
    </li>
  );
}

function what(event: VerifiedEvent["event"]): string {
  if ("relationship_type" in event) {
    return being(shown(event.relationship_type));
  }
  if ("reason_code" in event) return being(shown(event.reason_code));
  return shown(event.event_type);
}
