/** Who is named by a feed. @module */

import { useMemo, useState } from "preact/hooks";
import { being } from "../feed/names.ts";
import { EFFECTIVE_STATUSES } from "../libraries/mod.ts";
import { CopyButton } from "../parts/copy.tsx";
import { counted, shortened, shown } from "../parts/text.ts";
import { ShortTime } from "../parts/time.tsx";
import type { OpenFeed } from "./open_feed.ts";
import {
  filterPeople,
  peopleOf,
  type PeopleOrder,
  type Person,
  rolesOf,
  sortPeople,
} from "./people.ts";
import { RelationshipDialog } from "./relationship_dialog.tsx";
import { type Column, RowTable } from "./row_table.tsx";
import { STATUS_WORDS, StatusBadge } from "./status.tsx";

const MAX_ROLES = 500;
/** Characters of a DID in a row. */
const DID_LENGTH = 32;
const EVERYBODY = { text: "", status: "", role: "" };

/** Filter and table. */
export function PeopleTab({ feed }: { readonly feed: OpenFeed }) {
  const { state, events, now } = feed;
  const people = useMemo(() => peopleOf(state, events, now), [state]);
  const roles = useMemo(() => rolesOf(people, MAX_ROLES), [people]);
  const [filter, setFilter] = useState(EVERYBODY);
  const [order, setOrder] = useState<PeopleOrder>({ by: "who", down: false });
  const [opened, setOpened] = useState<Person | undefined>();
  const rows = useMemo(
    () => sortPeople(filterPeople(people, filter), order),
    [people, filter, order],
  );
  const sortedBy = (by: PeopleOrder["by"]) => ({
    className: `col-${by}`,
    sorted: order.by !== by
      ? undefined
      : order.down
      ? "descending" as const
      : "ascending" as const,
    onSort: () => setOrder({ by, down: order.by === by && !order.down }),
  });
  const columns: readonly Column<Person>[] = [
    {
      name: "Who",
      ...sortedBy("who"),
      cell: (person) => (
        <Who
          person={person}
          onOpen={() => setOpened(person)}
        />
      ),
    },
    {
      name: "DID",
      className: "col-did",
      cell: ({ relationship }) => <ShortDid did={relationship.subject} />,
    },
    {
      name: "Type",
      ...sortedBy("type"),
      cell: ({ relationship }) => being(shown(relationship.relationship_type)),
    },
    {
      name: "Roles",
      className: "col-roles",
      cell: ({ relationship }) =>
        relationship.roles.map((role) => shown(role)).join(", "),
    },
    {
      name: "Until",
      ...sortedBy("until"),
      cell: ({ relationship: { valid_until } }) =>
        valid_until !== null && <ShortTime instant={valid_until} />,
    },
    {
      name: "Status",
      ...sortedBy("status"),
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      name: "Event",
      ...sortedBy("event"),
      cell: ({ relationship }) => `#${relationship.last_sequence}`,
    },
  ];
  if (people.length === 0) {
    return (
      <p class="empty">
        This feed names nobody yet. Its issuer adds people with{" "}
        <code>sig upsert</code> or <code>sig apply</code>.
      </p>
    );
  }
  return (
    <>
      <div class="filters">
        <div class="field grow">
          <label for="people-text">Find</label>
          <input
            id="people-text"
            type="search"
            placeholder="Name, title, DID"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={filter.text}
            onInput={(event) =>
              setFilter({ ...filter, text: event.currentTarget.value })}
          />
        </div>
        <div class="field">
          <label for="people-status">Status</label>
          <select
            id="people-status"
            value={filter.status}
            onChange={(event) =>
              setFilter({ ...filter, status: event.currentTarget.value })}
          >
            <option value="">Any</option>
            {EFFECTIVE_STATUSES.map((status) => (
              <option key={status} value={status}>
                {STATUS_WORDS[status]}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="people-role">Role</label>
          <select
            id="people-role"
            value={filter.role}
            onChange={(event) =>
              setFilter({ ...filter, role: event.currentTarget.value })}
          >
            <option value="">Any</option>
            {roles.map((role) => (
              <option key={role} value={role}>{shown(role)}</option>
            ))}
          </select>
        </div>
        <p class="quiet count" aria-live="polite">
          {rows.length === people.length
            ? counted(people.length, "relationship")
            : `${rows.length.toLocaleString("en")} of ${
              counted(people.length, "relationship")
            }`}
        </p>
      </div>
      {rows.length === 0
        ? (
          <div class="empty">
            Nobody is like that.
            <button type="button" onClick={() => setFilter(EVERYBODY)}>
              Show everybody
            </button>
          </div>
        )
        : (
          <RowTable
            label="People"
            className="people"
            columns={columns}
            items={rows}
            keyOf={({ relationship }) => relationship.relationship_id}
          />
        )}
      {opened && (
        <RelationshipDialog
          person={opened}
          feed={feed}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}

/** Name and position; opens all about them. */
function Who({ person, onOpen }: {
  readonly person: Person;
  readonly onOpen: () => void;
}) {
  const { name, position, relationship } = person;
  return (
    <button type="button" class="row-button" onClick={onOpen}>
      {name === "" ? <code>{shortened(relationship.subject)}</code> : (
        <bdi>
          <strong>{shown(name)}</strong>
        </bdi>
      )}
      {position !== "" && <bdi class="quiet">{shown(position)}</bdi>}
    </button>
  );
}

function ShortDid({ did }: { readonly did: string }) {
  return (
    <>
      <code class="quiet">{shortened(did, DID_LENGTH)}</code>
      <CopyButton text={() => did} what="the DID" />
    </>
  );
}
