/** What was signed, the newest first. @module */

import { useMemo, useState } from "preact/hooks";
import { shortened, shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { EventDialog } from "./event_dialog.tsx";
import { KindBadge } from "./event_line.tsx";
import {
  EVENT_KINDS,
  type EventRow,
  filterEvents,
  rowsOf,
} from "./feed_events.ts";
import { FilteredRows, NoRows } from "./filtered_rows.tsx";
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
    return <NoRows says="This feed has no event yet." />;
  }
  return (
    <>
      <FilteredRows
        id="events-text"
        placeholder="Name, DID, reason"
        text={filter.text}
        onText={(text) => setFilter({ ...filter, text })}
        choices={[{
          id: "events-kind",
          label: "Kind",
          all: "Everything",
          options: EVENT_KINDS.map((kind) => ({ value: kind, text: kind })),
          value: filter.kind,
          onChoose: (kind) => setFilter({ ...filter, kind }),
        }]}
        noun="event"
        shown={rows.length}
        total={all.length}
        nothing={{ says: "No event is like that.", button: "Show everything" }}
        onAll={() => setFilter(ALL)}
      >
        <RowTable
          label="Events"
          className="events"
          columns={columns}
          items={rows}
          keyOf={({ verified }) => verified.event.sequence}
        />
      </FilteredRows>
      {opened && (
        <EventDialog
          row={opened}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}
