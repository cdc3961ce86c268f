/** One relationship and its events. @module */

import { useMemo } from "preact/hooks";
import { being } from "../feed/names.ts";
import { Did } from "../parts/copy.tsx";
import { Chips, Fact, Facts } from "../parts/facts.tsx";
import { askLink } from "../parts/route.ts";
import { shortened, shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { DetailDialog } from "./detail_dialog.tsx";
import { EventLine } from "./event_line.tsx";
import { rowsOf } from "./feed_events.ts";
import type { OpenFeed } from "./open_feed.ts";
import type { Person } from "./people.ts";
import { StatusBadge, Validity } from "./status.tsx";

/** Of one that changes daily for years a person reads the last part. */
const SHOWN_EVENTS = 50;

/** Everything that the feed says of it. */
export function RelationshipDialog({ person, feed, onClose }: {
  readonly person: Person;
  readonly feed: OpenFeed;
  readonly onClose: () => void;
}) {
  const { relationship, status, name, position } = person;
  const { subject, relationship_id, relationship_type, roles } = relationship;
  const rows = useMemo(
    () =>
      rowsOf(
        feed.events.filter(({ event }) =>
          event.relationship_id === relationship_id
        ),
      ),
    [relationship_id],
  );
  const asking = { subject, require: [`relationship=${relationship_type}`] };
  return (
    <DetailDialog
      title={name === "" ? shortened(subject) : shown(name)}
      onClose={onClose}
    >
      {position !== "" && <p class="quiet">{shown(position)}</p>}
      <Facts>
        <Fact name="Status">
          <StatusBadge status={status} />
        </Fact>
        <Fact name="Is">{being(shown(relationship_type))}</Fact>
        {roles.length > 0 && (
          <Fact name="Roles">
            <Chips texts={roles} />
          </Fact>
        )}
        <Fact name="Holds">
          <Validity
            from={relationship.valid_from}
            until={relationship.valid_until}
          />
        </Fact>
        {relationship.revoked_effective_at !== undefined && (
          <Fact name="Ended">
            {being(shown(relationship.revoked_reason_code))},{" "}
            <Time instant={relationship.revoked_effective_at} />
          </Fact>
        )}
        <Fact name="DID">
          <Did did={subject} />
        </Fact>
        <Fact name="Id">
          <code>{shown(relationship_id)}</code>
        </Fact>
      </Facts>
      <h3>{rows.length > SHOWN_EVENTS ? "Its last events" : "Its events"}</h3>
      <ol class="event-lines">
        {rows.slice(-SHOWN_EVENTS).reverse().map((row) => (
          <EventLine key={row.verified.event.sequence} row={row} />
        ))}
      </ol>
      <p>
        <a href={askLink(feed.issuer, asking)} onClick={onClose}>
          Ask about this person
        </a>
      </p>
    </DetailDialog>
  );
}
