/** One event, to the letter. @module */

import { Did } from "../parts/copy.tsx";
import { Fact, Facts } from "../parts/facts.tsx";
import { shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { DetailDialog } from "./detail_dialog.tsx";
import { KindBadge } from "./event_line.tsx";
import type { EventRow } from "./feed_events.ts";

/** Who signed what, when. */
export function EventDialog({ row, onClose }: {
  readonly row: EventRow;
  readonly onClose: () => void;
}) {
  const { verified: { event, kid, line }, kind, name, what } = row;
  return (
    <DetailDialog title={`Event #${event.sequence}`} onClose={onClose}>
      <p class="row">
        <KindBadge kind={kind} />
        {name !== "" && (
          <bdi>
            <strong>{shown(name)}</strong>
          </bdi>
        )}
        <span>{what}</span>
      </p>
      <Facts>
        <Fact name="Signed">
          <Time instant={event.issued_at} /> by <code>{shown(kid)}</code>, line
          {" "}
          {line}
        </Fact>
        {"effective_at" in event && typeof event.effective_at === "string" && (
          <Fact name="Effective">
            <Time instant={event.effective_at} />
          </Fact>
        )}
        <Fact name="DID">
          <Did did={event.subject} />
        </Fact>
      </Facts>
      <h3>What was signed</h3>
      <pre tabIndex={0}>
        {shown(JSON.stringify(event, null, 2), { lines: true })}
      </pre>
    </DetailDialog>
  );
}
