/** The events of a feed, newest first. @module */

import { isObject } from "@sig/core/internal";
import type { VerifiedEvent } from "@sig/consumer";
import { useMemo, useState } from "preact/hooks";
import { CopyButton, Did } from "../copy.tsx";
import { Badge, Button, Dialog, Facts, Preformatted } from "../elements.tsx";
import { typeLabel, visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import { FilteredTable } from "./table.tsx";
import type { OpenFeed } from "./verify_documents.ts";

const KINDS = {
  added: { kind: "success" },
  changed: { kind: "info", icon: "dot" },
  ended: { kind: "danger" },
  unknown: { kind: "neutral" },
} as const;

/** An event and its effect on a relationship. */
interface EventRow {
  readonly verified: VerifiedEvent;
  readonly kind: keyof typeof KINDS;
  /** The issuer's name for the person at that time, or "". */
  readonly name: string;
  /** A description: "joins as employee". */
  readonly what: string;
  readonly roles: readonly string[];
}

/**
 * Returns what an upsert displays: a name (its label, or its title) and the
 * rest.
 */
export function readDisplay(display: Readonly<Record<string, unknown>>) {
  const [label, title, department] = ["label", "title", "department"]
    .map((member) => {
      const value = display[member];
      return typeof value === "string" ? value : "";
    });
  return {
    name: label || title || "",
    position: [label && title, department].filter(Boolean).join(", "),
  };
}

/** Returns all events in the feed's order. */
export function eventRows(
  events: readonly VerifiedEvent[],
): readonly EventRow[] {
  const names = new Map<string, string>();
  const open = new Set<string>();
  return events.map((verified): EventRow => {
    const { event } = verified;
    const id = event.relationship_id;
    if ("display" in event && isObject(event.display)) {
      const { name } = readDisplay(event.display);
      if (name !== "") names.set(id, name);
    }
    const row = { verified, name: names.get(id) ?? "", roles: [] };
    if ("relationship_type" in event) {
      const type = typeLabel(event.relationship_type);
      const { roles } = event;
      if (open.has(id)) {
        return { ...row, roles, kind: "changed", what: `${type}, changed` };
      }
      open.add(id);
      return { ...row, roles, kind: "added", what: `joins as ${type}` };
    }
    if ("reason_code" in event) {
      open.delete(id);
      const what = `leaves: ${typeLabel(event.reason_code)}`;
      return { ...row, kind: "ended", what };
    }
    return { ...row, kind: "unknown", what: visibleText(event.event_type) };
  });
}

/** A person in a row, with buttons for details and for copying the DID. */
export function Who({ name, position = "", subject, onOpen }: {
  /** The issuer's name for the person, or "". */
  readonly name: string;
  readonly position?: string;
  readonly subject: string;
  readonly onOpen: () => void;
}) {
  return (
    <div class="row-who">
      <Button class="row-button" onClick={onOpen}>
        {name !== "" && (
          <bdi>
            <strong>{visibleText(name)}</strong>
          </bdi>
        )}
        {position !== "" && (
          <bdi class="quiet wide-only">{visibleText(position)}</bdi>
        )}
        <code>{visibleText(subject)}</code>
      </Button>
      <CopyButton text={() => subject} what="the DID" isIcon />
    </div>
  );
}

/** Roles in a row. */
export function Roles({ roles }: { readonly roles: readonly string[] }) {
  return roles.length === 0 ? null : (
    <bdi class="quiet">
      {roles.map((role) => visibleText(role)).join(", ")}
    </bdi>
  );
}

function What({ row: { kind, what, roles } }: { readonly row: EventRow }) {
  return (
    <>
      <Badge {...KINDS[kind]}>{kind}</Badge> <span>{what}</span>{" "}
      <Roles roles={roles} />
    </>
  );
}

/** Number, kind, description, time. */
export function EventLine({ row }: { readonly row: EventRow }) {
  const { sequence, issued_at } = row.verified.event;
  return (
    <li value={sequence} class="row">
      <span class="number">#{sequence}</span>
      <What row={row} />
      <span class="quiet">
        <Time instant={issued_at} />
      </span>
    </li>
  );
}

/** Filters, table, and a dialog about one event. */
export function Events({ feed }: { readonly feed: OpenFeed }) {
  const all = useMemo(() => eventRows(feed.events).toReversed(), [feed]);
  const [opened, setOpened] = useState<EventRow | undefined>();
  return (
    <>
      <FilteredTable<EventRow>
        id="events"
        noun="event"
        placeholder="Name, DID, role, reason"
        none="This feed has no events yet."
        items={all}
        keyOf={({ verified }) => verified.event.sequence}
        textOf={({ name, what, roles, verified: { event } }) =>
          [name, what, event.subject, event.relationship_id, ...roles]
            .join("\n")}
        filters={[{
          name: "kind",
          options: ["added", "changed", "ended"].map((each) => [each, each]),
          matches: ({ kind }, value) => kind === value,
        }]}
        heads={["Event", "Who", "What"]}
        row={(row) => {
          const { name, verified: { event } } = row;
          const { sequence, issued_at, subject } = event;
          return (
            <>
              <td>
                #{sequence}{" "}
                <span class="quiet">
                  <Time instant={issued_at} isShort />
                </span>
              </td>
              <td>
                <Who {...{ name, subject }} onOpen={() => setOpened(row)} />
              </td>
              <td>
                <What row={row} />
              </td>
            </>
          );
        }}
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
  const { verified: { event, kid, line }, name } = row;
  return (
    <Dialog title={`Event #${event.sequence}`} onClose={onClose}>
      <p class="row">
        {name !== "" && (
          <bdi>
            <strong>{visibleText(name)}</strong>
          </bdi>
        )}
        <What row={row} />
      </p>
      <Facts
        of={{
          Signed: (
            <>
              <Time instant={event.issued_at} /> by{" "}
              <code>{visibleText(kid)}</code>, line {line}
            </>
          ),
          Effective: "effective_at" in event &&
            typeof event.effective_at === "string" &&
            <Time instant={event.effective_at} />,
          DID: <Did did={event.subject} />,
        }}
      />
      <h3>What was signed</h3>
      <Preformatted value={event} />
    </Dialog>
  );
}
