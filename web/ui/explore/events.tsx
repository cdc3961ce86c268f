/** The events of a feed, the newest first. @module */

import type { VerifiedEvent } from "@sig/consumer";
import { useMemo, useState } from "preact/hooks";
import { Did } from "../copy.tsx";
import { Badge, Detail, Details, Dialog, Preformatted } from "../elements.tsx";
import { isRecord, shortened, typeLabel, visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import { type Column, FilteredTable } from "./table.tsx";
import type { OpenFeed } from "./verify_documents.ts";

const KINDS = {
  added: { kind: "success" },
  changed: { kind: "info", icon: "dot" },
  ended: { kind: "danger" },
  unknown: { kind: "neutral" },
} as const;

/** An event, and what it does to a relationship. */
interface EventRow {
  readonly verified: VerifiedEvent;
  readonly kind: keyof typeof KINDS;
  /** What the issuer called the person at that time, or "". */
  readonly name: string;
  /** In words: "joins as employee". */
  readonly what: string;
}

/** What an upsert displays: a name (its label, or its title) and the rest. */
export function readDisplay(display: Readonly<Record<string, unknown>>) {
  const [label, title, department] = [
    display.label,
    display.title,
    display.department,
  ].map((each) => typeof each === "string" ? each : "") as [
    string,
    string,
    string,
  ];
  return {
    name: label || title,
    position: [label && title, department].filter(Boolean).join(", "),
  };
}

/** All events in the feed's order. */
export function eventRows(
  events: readonly VerifiedEvent[],
): readonly EventRow[] {
  const names = new Map<string, string>();
  const open = new Set<string>();
  return events.map((verified) => {
    const { event } = verified;
    const id = event.relationship_id;
    if ("display" in event && isRecord(event.display)) {
      const { name } = readDisplay(event.display);
      if (name !== "") names.set(id, name);
    }
    const name = names.get(id) ?? "";
    if ("relationship_type" in event) {
      const type = typeLabel(event.relationship_type);
      if (open.has(id)) {
        return { verified, kind: "changed", name, what: `${type}, changed` };
      }
      open.add(id);
      return { verified, kind: "added", name, what: `joins as ${type}` };
    }
    if ("reason_code" in event) {
      open.delete(id);
      const what = `leaves: ${typeLabel(event.reason_code)}`;
      return { verified, kind: "ended", name, what };
    }
    const what = visibleText(event.event_type);
    return { verified, kind: "unknown", name, what };
  });
}

/** The issuer's name for a person, or the DID. */
export function Name({ name, subject }: {
  readonly name: string;
  readonly subject: string;
}) {
  return name === "" ? <code>{shortened(subject)}</code> : (
    <bdi>
      <strong>{visibleText(name)}</strong>
    </bdi>
  );
}

function KindBadge({ kind }: Pick<EventRow, "kind">) {
  return <Badge {...KINDS[kind]}>{kind}</Badge>;
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

/** Filters, table, and a dialog about one event. */
export function Events({ feed }: { readonly feed: OpenFeed }) {
  const all = useMemo(() => eventRows(feed.events).toReversed(), [feed]);
  const [text, setText] = useState("");
  const [kind, setKind] = useState("");
  const [opened, setOpened] = useState<EventRow | undefined>();
  const items = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return all.filter((row) => {
      const { subject, relationship_id } = row.verified.event;
      return (kind === "" || row.kind === kind) &&
        `${row.name}\n${subject}\n${relationship_id}\n${row.what}`
          .toLowerCase().includes(wanted);
    });
  }, [all, text, kind]);
  const columns: readonly Column<EventRow>[] = [
    {
      name: "#",
      class: "col-number",
      cell: ({ verified }) => verified.event.sequence,
    },
    {
      name: "Kind",
      class: "col-kind",
      cell: ({ kind }) => <KindBadge kind={kind} />,
    },
    {
      name: "Who",
      class: "col-who",
      cell: (row) => (
        <button
          type="button"
          class="row-button"
          onClick={() => setOpened(row)}
        >
          <Name name={row.name} subject={row.verified.event.subject} />
        </button>
      ),
    },
    { name: "What", class: "col-what", cell: ({ what }) => what },
    {
      name: "When",
      class: "col-when",
      cell: ({ verified }) => <Time instant={verified.event.issued_at} />,
    },
  ];
  return (
    <>
      <FilteredTable
        id="events"
        noun="event"
        placeholder="Name, DID, reason"
        text={text}
        onText={setText}
        filters={[{
          id: "events-kind",
          label: "Kind",
          all: "Any",
          options: ["added", "changed", "ended"].map((each) => [each, each]),
          value: kind,
          onValue: setKind,
        }]}
        columns={columns}
        items={items}
        total={all.length}
        keyOf={({ verified }) => verified.event.sequence}
      />
      {opened && (
        <EventDialog
          row={opened}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}

function EventDialog({ row, onClose }: {
  readonly row: EventRow;
  readonly onClose: () => void;
}) {
  const { verified: { event, kid, line }, kind, name, what } = row;
  return (
    <Dialog
      class="detail"
      title={`Event #${event.sequence}`}
      onClose={onClose}
    >
      <p class="row">
        <KindBadge kind={kind} />
        {name !== "" && <Name name={name} subject="" />}
        <span>{what}</span>
      </p>
      <Details>
        <Detail name="Signed">
          <Time instant={event.issued_at} /> by{" "}
          <code>{visibleText(kid)}</code>, line {line}
        </Detail>
        {"effective_at" in event && typeof event.effective_at === "string" && (
          <Detail name="Effective">
            <Time instant={event.effective_at} />
          </Detail>
        )}
        <Detail name="DID">
          <Did did={event.subject} />
        </Detail>
      </Details>
      <h3>What was signed</h3>
      <Preformatted value={event} />
    </Dialog>
  );
}
