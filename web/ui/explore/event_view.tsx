/** One event: what it changed, who signed it, and the signed line. @module */

import { CopyButton, Did } from "../copy.tsx";
import { Alert, Facts, Fold, Preformatted } from "../elements.tsx";
import { visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import { ChangeText, linkTo, nameOf, type ViewProps } from "./elements.tsx";

/** An event with its neighbours. */
export function EventView({ ledger, place: { id } }: ViewProps) {
  const { changes, known, feed: { bytes } } = ledger;
  const change = /^\d+$/.test(id) ? changes[Number(id) - 1] : undefined;
  if (change === undefined) {
    return (
      <Alert kind="warning" title="No such event" autoFocus>
        <p>
          This feed has the events 1 to {changes.length}, not{" "}
          <code>{visibleText(id)}</code>.
        </p>
      </Alert>
    );
  }
  const { event, kid, line } = change.verified;
  const { sequence, subject } = event;
  const neighbour = (number: number, text: string) =>
    changes[number - 1] && (
      <a class="button" href={linkTo(ledger, "event", number)}>{text}</a>
    );
  const signed = bytes && lineOf(bytes, line);
  return (
    <article class="card object" id="event">
      <div class="row spread wrap">
        <h2 tabIndex={-1}>Event #{sequence}</h2>
        <div class="row no-print">
          {neighbour(sequence - 1, "Previous")}
          {neighbour(sequence + 1, "Next")}
        </div>
      </div>
      {!known.includes(change) && (
        <Alert kind="warning">
          <p>This event came after the moment that the clock shows.</p>
        </Alert>
      )}
      <p class="row">
        <a href={linkTo(ledger, "person", subject)}>
          <bdi>
            <strong>{nameOf(change, subject)}</strong>
          </bdi>
        </a>
        <ChangeText change={change} />
      </p>
      <Facts
        of={{
          Signed: (
            <>
              <Time instant={event.issued_at} /> with the key{" "}
              <code>{visibleText(kid)}</code>
            </>
          ),
          Effective: "effective_at" in event &&
            typeof event.effective_at === "string" && (
            <Time instant={event.effective_at} />
          ),
          Reason: "reason" in event && typeof event.reason === "string" &&
            visibleText(event.reason),
          Subject: <Did did={subject} />,
          Relationship: <code>{visibleText(event.relationship_id)}</code>,
        }}
      />
      <h3>What was signed</h3>
      <Preformatted value={event} />
      {signed !== undefined && (
        <Fold title={`The signed line ${line}`}>
          <Preformatted value={signed} />
          <CopyButton text={() => signed} what="the line" />
        </Fold>
      )}
    </article>
  );
}

/** Returns a line of the feed, from 1. */
function lineOf(bytes: Uint8Array, line: number): string {
  let start = 0;
  for (let at = 1; at < line; at++) start = bytes.indexOf(0x0a, start) + 1;
  const end = bytes.indexOf(0x0a, start);
  return new TextDecoder().decode(
    bytes.subarray(start, end < 0 ? undefined : end),
  );
}
