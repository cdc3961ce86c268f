/** The relationships of a feed, now or on a date, as a table of people. @module */

import {
  dumpState,
  EFFECTIVE_STATUSES,
  type EffectiveStatus,
  type RelationshipState,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import { useMemo, useState } from "preact/hooks";
import { Did } from "../copy.tsx";
import { Badge, Chips, Dialog, Facts } from "../elements.tsx";
import { questionLink } from "../route.ts";
import { shortened, typeLabel, visibleText } from "../text.ts";
import { Time, Validity } from "../time.tsx";
import { EventLine, eventRows, readDisplay, Roles, Who } from "./events.tsx";
import { FilteredTable } from "./table.tsx";
import type { OpenFeed } from "./verify_documents.ts";

interface Person {
  readonly relationship: RelationshipState;
  readonly status: EffectiveStatus;
  /** The issuer's name for the person, or "". */
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

/** Filters, table, and a dialog about one person. */
export function People({ feed }: { readonly feed: OpenFeed }) {
  const [date, setDate] = useState("");
  // A year is typed digit by digit, so the date may be incomplete.
  const at = date >= "1970" && date.length === 10
    ? `${date}T00:00:00Z`
    : undefined;
  const { people, roles } = useMemo(() => readPeople(feed, at), [feed, at]);
  const [opened, setOpened] = useState<Person | undefined>();
  return (
    <>
      <FilteredTable<Person>
        id="people"
        noun="relationship"
        placeholder="Name, title, DID"
        none={at === undefined
          ? "This feed has no relationships yet."
          : "There were no relationships at the start of this day, UTC."}
        items={people}
        keyOf={({ relationship }) => relationship.relationship_id}
        textOf={({ name, position, relationship }) => {
          const { subject, relationship_id, relationship_type } = relationship;
          return [name, position, subject, relationship_id, relationship_type]
            .join("\n");
        }}
        filters={[
          {
            name: "status",
            options: EFFECTIVE_STATUSES.map((each) => [
              each,
              STATUSES[each].text,
            ]),
            matches: ({ status }, value) => status === value,
          },
          {
            name: "role",
            options: roles.map((each) => [each, visibleText(each)]),
            matches: ({ relationship }, value) =>
              relationship.roles.includes(value),
          },
        ]}
        heads={["Who", "Type and roles", "Status"]}
        row={(person) => {
          const { status, relationship } = person;
          const { subject, relationship_type, roles, valid_until } =
            relationship;
          return (
            <>
              <td>
                <Who
                  {...{ ...person, subject }}
                  onOpen={() => setOpened(person)}
                />
              </td>
              <td>
                {typeLabel(relationship_type)} <Roles roles={roles} />
              </td>
              <td>
                <StatusBadge status={status} />{" "}
                {valid_until !== null && (
                  <span class="quiet">
                    until <Time instant={valid_until} isShort />
                  </span>
                )}
              </td>
            </>
          );
        }}
      >
        <label class="check">
          {"On "}
          <input
            id="people-date"
            type="date"
            max="9999-12-31"
            aria-label="On this date, at its start in UTC"
            title="At the start of this day, UTC"
            value={date}
            onInput={(event) => setDate(event.currentTarget.value)}
          />
        </label>
      </FilteredTable>
      {opened && (
        <PersonDialog
          person={opened}
          at={at}
          feed={feed}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}

/** Returns all people by name, and every role, in natural order: 1, 2, 10. */
function readPeople(
  { state, events, now }: OpenFeed,
  at: string | undefined,
) {
  const displays = new Map<string, ReturnType<typeof readDisplay>>();
  for (const { event } of events) {
    if ("display" in event && isObject(event.display)) {
      displays.set(event.relationship_id, readDisplay(event.display));
    }
  }
  const { compare } = new Intl.Collator("en", { numeric: true });
  const { by_relationship_id, statuses } = dumpState(state, { now, at });
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
  return { people, roles: [...roles].slice(0, MAX_ROLES).sort(compare) };
}

/** Shows only the last events of a relationship with many. */
const SHOWN_EVENTS = 50;

function PersonDialog({ person, at, feed, onClose }: {
  readonly person: Person;
  readonly at: string | undefined;
  readonly feed: OpenFeed;
  readonly onClose: () => void;
}) {
  const { relationship, status, name, position } = person;
  const { subject, relationship_id, relationship_type, roles } = relationship;
  const rows = eventRows(
    feed.events.filter(({ event }) =>
      event.relationship_id === relationship_id
    ),
  );
  const require = [`relationship=${relationship_type}`];
  return (
    <Dialog
      title={name === "" ? shortened(subject) : visibleText(name)}
      onClose={onClose}
    >
      {position !== "" && <p class="quiet">{visibleText(position)}</p>}
      <Facts
        of={{
          Status: <StatusBadge status={status} />,
          Type: typeLabel(relationship_type),
          Roles: roles.length > 0 && <Chips texts={roles} />,
          Valid: (
            <Validity
              from={relationship.valid_from}
              until={relationship.valid_until}
              none="no start or end set"
            />
          ),
          Ended: relationship.revoked_effective_at !== undefined && (
            <>
              {typeLabel(relationship.revoked_reason_code ?? "")},{" "}
              <Time instant={relationship.revoked_effective_at} />
            </>
          ),
          DID: <Did did={subject} />,
          Id: <code>{visibleText(relationship_id)}</code>,
        }}
      />
      <h3>{rows.length > SHOWN_EVENTS ? "Last events" : "Events"}</h3>
      <ol class="plain">
        {rows.slice(-SHOWN_EVENTS).reverse().map((row) => (
          <EventLine key={row.verified.event.sequence} row={row} />
        ))}
      </ol>
      <p>
        <a
          href={questionLink(feed.issuer, { subject, require, at })}
          onClick={onClose}
        >
          Ask about this person
        </a>
      </p>
    </Dialog>
  );
}
