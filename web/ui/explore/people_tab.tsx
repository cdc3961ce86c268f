/** Who is named by a feed. @module */

import { useMemo, useState } from "preact/hooks";
import { being } from "../feed/names.ts";
import { EFFECTIVE_STATUSES } from "../libraries/mod.ts";
import { CopyButton } from "../parts/copy.tsx";
import { shortened, shown } from "../parts/text.ts";
import { ShortTime } from "../parts/time.tsx";
import { FilteredRows, NoRows } from "./filtered_rows.tsx";
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
    return <NoRows says="This feed names nobody yet." />;
  }
  return (
    <>
      <FilteredRows
        id="people-text"
        placeholder="Name, title, DID"
        text={filter.text}
        onText={(text) => setFilter({ ...filter, text })}
        choices={[
          {
            id: "people-status",
            label: "Status",
            all: "Any",
            options: EFFECTIVE_STATUSES.map((value) => ({
              value,
              text: STATUS_WORDS[value],
            })),
            value: filter.status,
            onChoose: (status) => setFilter({ ...filter, status }),
          },
          {
            id: "people-role",
            label: "Role",
            all: "Any",
            options: roles.map((value) => ({ value, text: shown(value) })),
            value: filter.role,
            onChoose: (role) => setFilter({ ...filter, role }),
          },
        ]}
        noun="relationship"
        shown={rows.length}
        total={people.length}
        nothing={{ says: "Nobody is like that.", button: "Show everybody" }}
        onAll={() => setFilter(EVERYBODY)}
      >
        <RowTable
          label="People"
          className="people"
          columns={columns}
          items={rows}
          keyOf={({ relationship }) => relationship.relationship_id}
        />
      </FilteredRows>
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
