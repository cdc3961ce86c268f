/** What was signed, the newest first. @module */

import { useMemo, useState } from "preact/hooks";
import { counted, shortened, shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { EventDialog } from "./event_dialog.tsx";
import { KindBadge } from "./event_line.tsx";
import {
  EVENT_KINDS,
  type EventRow,
  filterEvents,
  rowsOf,
} from "./feed_events.ts";
import type { OpenFeed } from "./open_feed.ts";
import { type Column, RowTable } from "./row_table.tsx";

const ALL = { text: "", kind: "" };
/** Filter and table. */
export function EventsTab({ feed }: { readonly feed: OpenFeed }) {
  const all = useMemo(() => rowsOf(feed.events), [feed.events]);
  const [filter, setFilter] = useState(ALL);
  const [opened, setOpened] = useState<EventRow | undefined>();
  const rows = useMemo(() => filterEvents(all, filter), [all, filter]);
  const columns: readonly Column<EventRow>[] = [
    {
      name: "#",
      className: "col-number",
      cell: ({ verified }) => verified.event.sequence,
    },
    {
      name: "Kind",
      className: "col-kind",
      cell: ({ kind }) => <KindBadge kind={kind} />,
    },
    {
      name: "Who",
      className: "col-who",
      cell: (row) => (
        <button
          type="button"
          class="row-button"
          onClick={() => setOpened(row)}
        >
          {row.name === ""
            ? <code>{shortened(row.verified.event.subject)}</code>
            : (
              <bdi>
                <strong>{shown(row.name)}</strong>
              </bdi>
            )}
        </button>
      ),
    },
    {
      name: "What",
      className: "col-what",
      cell: ({ what }) => what,
    },
    {
      name: "When",
      className: "col-when",
      cell: ({ verified }) => <Time instant={verified.event.issued_at} />,
    },
  ];
  if (all.length === 0) {
    return (
      <p class="empty">
        This feed has no event yet. Its issuer adds people with{" "}
        <code>sig upsert</code> or <code>sig apply</code>.
      </p>
    );
  }
  return (
    <>
      <div class="filters">
        <div class="field grow">
          <label for="events-text">Find</label>
          <input
            id="events-text"
            type="search"
            placeholder="Name, DID, reason"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={filter.text}
            onInput={(event) =>
              setFilter({ ...filter, text: event.currentTarget.value })}
          />
        </div>
        <div class="field">
          <label for="events-kind">Kind</label>
          <select
            id="events-kind"
            value={filter.kind}
            onChange={(event) =>
              setFilter({ ...filter, kind: event.currentTarget.value })}
          >
            <option value="">Everything</option>
            {EVENT_KINDS.map((kind) => (
              <option key={kind} value={kind}>{kind}</option>
            ))}
          </select>
        </div>
        <p class="quiet count" aria-live="polite">
          {rows.length === all.length
            ? counted(all.length, "event")
            : `${rows.length.toLocaleString("en")} of ${
              counted(all.length, "event")
            }`}
        </p>
      </div>
      {rows.length === 0
        ? (
          <div class="empty">
            No event is like that.
            <button type="button" onClick={() => setFilter(ALL)}>
              Show everything
            </button>
          </div>
        )
        : (
          <RowTable
            label="Events"
            className="events"
            columns={columns}
            items={rows}
            keyOf={({ verified }) => verified.event.sequence}
          />
        )}
      {opened && (
        <EventDialog
          row={opened}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}
