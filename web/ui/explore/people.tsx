/** The relationships of a feed, as a table of people. @module */

import {
  dumpState,
  EFFECTIVE_STATUSES,
  type EffectiveStatus,
  type RelationshipState,
} from "@sig/core";
import { useMemo, useState } from "preact/hooks";
import { CopyButton, Did } from "../copy.tsx";
import { Badge, Chips, Detail, Details, Dialog } from "../elements.tsx";
import { questionLink } from "../route.ts";
import { isRecord, shortened, typeLabel, visibleText } from "../text.ts";
import { ShortTime, Time, Validity } from "../time.tsx";
import { EventLine, eventRows, Name, readDisplay } from "./events.tsx";
import { type Column, FilteredTable } from "./table.tsx";
import type { OpenFeed } from "./verify_documents.ts";

interface Person {
  readonly relationship: RelationshipState;
  readonly status: EffectiveStatus;
  /** What the issuer calls them, or "". */
  readonly name: string;
  /** Title and department, or "". */
  readonly position: string;
}

const STATUSES = {
  active: { text: "active", kind: "success" },
  not_yet_valid: { text: "not yet", kind: "warning" },
  expired: { text: "expired", kind: "warning" },
  revoked: { text: "ended", kind: "danger" },
} as const;

/** A status with its icon. */
export function StatusBadge({ status }: { readonly status: EffectiveStatus }) {
  const { text, kind } = STATUSES[status];
  return (
    <Badge kind={kind} icon={kind === "warning" ? "clock" : undefined}>
      {text}
    </Badge>
  );
}

const MAX_ROLES = 500;
const NO_FILTER = { text: "", status: "", role: "" };

/** Filters, table, and a dialog about one person. */
export function People({ feed }: { readonly feed: OpenFeed }) {
  const { people, roles } = useMemo(() => readPeople(feed), [feed]);
  const [filter, setFilter] = useState(NO_FILTER);
  const [opened, setOpened] = useState<Person | undefined>();
  const items = useMemo(
    () => people.filter((each) => matches(each, filter)),
    [people, filter],
  );
  // Each setter changes its own member only: one event may call several.
  const set = (changed: Partial<typeof NO_FILTER>) =>
    setFilter((now) => ({ ...now, ...changed }));
  const columns: readonly Column<Person>[] = [
    {
      name: "Who",
      class: "col-who",
      cell: (person) => (
        <button
          type="button"
          class="row-button"
          onClick={() => setOpened(person)}
        >
          <Name {...person} subject={person.relationship.subject} />
          {person.position !== "" && (
            <bdi class="quiet">{visibleText(person.position)}</bdi>
          )}
        </button>
      ),
    },
    {
      name: "DID",
      class: "col-did",
      cell: ({ relationship: { subject } }) => (
        <>
          <code class="quiet">{shortened(subject, 26)}</code>
          <CopyButton text={() => subject} what="the DID" />
        </>
      ),
    },
    {
      name: "Type",
      class: "col-type",
      cell: ({ relationship }) => typeLabel(relationship.relationship_type),
    },
    {
      name: "Roles",
      class: "col-roles",
      cell: ({ relationship }) =>
        relationship.roles.map((role) => visibleText(role)).join(", "),
    },
    {
      name: "Until",
      class: "col-until",
      cell: ({ relationship: { valid_until } }) =>
        valid_until !== null && <ShortTime instant={valid_until} />,
    },
    {
      name: "Status",
      class: "col-status",
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      name: "Event",
      class: "col-event",
      cell: ({ relationship }) => `#${relationship.last_sequence}`,
    },
  ];
  return (
    <>
      <FilteredTable
        id="people"
        noun="relationship"
        placeholder="Name, title, DID"
        text={filter.text}
        onText={(text) => set({ text })}
        filters={[
          {
            id: "people-status",
            label: "Status",
            all: "Any",
            options: EFFECTIVE_STATUSES.map((each) => [
              each,
              STATUSES[each].text,
            ]),
            value: filter.status,
            onValue: (status) => set({ status }),
          },
          {
            id: "people-role",
            label: "Role",
            all: "Any",
            options: roles.map((each) => [each, visibleText(each)]),
            value: filter.role,
            onValue: (role) => set({ role }),
          },
        ]}
        columns={columns}
        items={items}
        total={people.length}
        keyOf={({ relationship }) => relationship.relationship_id}
      />
      {opened && (
        <PersonDialog
          person={opened}
          feed={feed}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}

/** Everyone by name, and every role, in natural order: 1, 2, 10. */
function readPeople({ state, events, now }: OpenFeed) {
  const displays = new Map<string, ReturnType<typeof readDisplay>>();
  for (const { event } of events) {
    if ("display" in event && isRecord(event.display)) {
      displays.set(event.relationship_id, readDisplay(event.display));
    }
  }
  const { compare } = new Intl.Collator("en", { numeric: true });
  const { by_relationship_id, statuses } = dumpState(state, { now });
  const people = Array.from(
    by_relationship_id,
    ([id, relationship]): Person => ({
      relationship,
      status: statuses.get(id) ?? "active",
      ...(displays.get(id) ?? { name: "", position: "" }),
    }),
  ).sort((a, b) =>
    compare(
      a.name || a.relationship.subject,
      b.name || b.relationship.subject,
    ) || compare(a.relationship.relationship_id, b.relationship.relationship_id)
  );
  const roles = new Set(
    people.flatMap(({ relationship }) => relationship.roles),
  );
  return {
    people,
    roles: [...roles].slice(0, MAX_ROLES).sort(compare),
  };
}

function matches(
  { name, position, status, relationship }: Person,
  filter: typeof NO_FILTER,
): boolean {
  const { subject, relationship_id, relationship_type, roles } = relationship;
  const text =
    `${name}\n${position}\n${subject}\n${relationship_id}\n${relationship_type}`;
  return (filter.status === "" || status === filter.status) &&
    (filter.role === "" || roles.includes(filter.role)) &&
    text.toLowerCase().includes(filter.text.trim().toLowerCase());
}

/** Of a relationship with many events only the last ones are shown. */
const SHOWN_EVENTS = 50;

function PersonDialog({ person, feed, onClose }: {
  readonly person: Person;
  readonly feed: OpenFeed;
  readonly onClose: () => void;
}) {
  const { relationship, status, name, position } = person;
  const { subject, relationship_id, relationship_type, roles } = relationship;
  const rows = useMemo(
    () =>
      eventRows(
        feed.events.filter(({ event }) =>
          event.relationship_id === relationship_id
        ),
      ),
    [relationship_id],
  );
  const question = { subject, require: [`relationship=${relationship_type}`] };
  return (
    <Dialog
      class="detail"
      title={name === "" ? shortened(subject) : visibleText(name)}
      onClose={onClose}
    >
      {position !== "" && <p class="quiet">{visibleText(position)}</p>}
      <Details>
        <Detail name="Status">
          <StatusBadge status={status} />
        </Detail>
        <Detail name="Type">{typeLabel(relationship_type)}</Detail>
        {roles.length > 0 && (
          <Detail name="Roles">
            <Chips texts={roles} />
          </Detail>
        )}
        <Detail name="Valid">
          <Validity
            from={relationship.valid_from}
            until={relationship.valid_until}
            none="no start or end set"
          />
        </Detail>
        {relationship.revoked_effective_at !== undefined && (
          <Detail name="Ended">
            {typeLabel(relationship.revoked_reason_code ?? "")},{" "}
            <Time instant={relationship.revoked_effective_at} />
          </Detail>
        )}
        <Detail name="DID">
          <Did did={subject} />
        </Detail>
        <Detail name="Id">
          <code>{visibleText(relationship_id)}</code>
        </Detail>
      </Details>
      <h3>{rows.length > SHOWN_EVENTS ? "Last events" : "Events"}</h3>
      <ol class="event-lines">
        {rows.slice(-SHOWN_EVENTS).reverse().map((row) => (
          <EventLine key={row.verified.event.sequence} row={row} />
        ))}
      </ol>
      <p>
        <a href={questionLink(feed.issuer, question)} onClick={onClose}>
          Ask about this person
        </a>
      </p>
    </Dialog>
  );
}
