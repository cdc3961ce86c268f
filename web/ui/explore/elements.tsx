/** What the views of the explorer share: rows, statuses, changes. @module */

import type { EffectiveStatus } from "@sig/core";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Badge, Button } from "../elements.tsx";
import { clockQuery, exploreLink, type Place } from "../route.ts";
import { shortened, visibleText } from "../text.ts";
import { Time } from "../time.tsx";
import type { Change, Ledger } from "./ledger.ts";

/** The properties of a view of an object of a feed. */
export interface ViewProps {
  readonly ledger: Ledger;
  readonly place: Place;
}

/** Returns the link to an object of the same feed at the same moment. */
export function linkTo(
  { feed, clock }: Ledger,
  object: Place["object"],
  id: string | number = "",
): string {
  return exploreLink({
    source: feed.source,
    object,
    id: String(id),
    query: clockQuery(clock),
  });
}

const STATUSES = {
  active: ["active", "success"],
  not_yet_valid: ["not yet", "warning"],
  expired: ["expired", "warning"],
  revoked: ["ended", "danger"],
} as const;

/** A status with its icon. */
export function StatusBadge({ status }: { readonly status: EffectiveStatus }) {
  const [text, kind] = STATUSES[status];
  return (
    <Badge kind={kind} icon={kind === "warning" ? "clock" : undefined}>
      {text}
    </Badge>
  );
}

const KINDS = {
  added: { kind: "success" },
  changed: { kind: "info", icon: "dot" },
  ended: { kind: "danger" },
  unknown: { kind: "neutral" },
  void: { kind: "warning" },
} as const;

/** What an event changed, with its roles. */
export function ChangeText({ change }: { readonly change: Change }) {
  const { kind, what, gained, lost } = change;
  const isAdded = kind === "added";
  return (
    <span class="change">
      <Badge {...KINDS[kind]}>{kind}</Badge> <span>{what}</span>
      {gained.map((role) => (
        <bdi key={role} class="role" data-kind="success">
          {isAdded ? "" : "+ "}
          {visibleText(role)}
        </bdi>
      ))}
      {lost.map((role) => (
        <bdi key={role} class="role" data-kind="danger">
          − {visibleText(role)}
        </bdi>
      ))}
    </span>
  );
}

/** A name, or the shortened DID of a person without one. */
export function nameOf(
  { name }: { readonly name: string },
  subject: string,
): string {
  return name === "" ? shortened(subject) : visibleText(name);
}

/** Changes as rows: number, time, person (unless it is clear), what. */
export function Changes({ id, ledger, of, isNamed = true }: {
  readonly id: string;
  readonly ledger: Ledger;
  readonly of: readonly Change[];
  /** Whether the rows name the person (default: true). */
  readonly isNamed?: boolean;
}) {
  return (
    <Rows
      id={id}
      items={of}
      keyOf={({ verified }) => verified.event.sequence}
      row={(change) => {
        const { sequence, issued_at, subject } = change.verified.event;
        return (
          <a
            class="row-link change-row"
            href={linkTo(ledger, "event", sequence)}
          >
            <span class="number">#{sequence}</span>
            {isNamed && (
              <bdi class="row-title">
                <strong>{nameOf(change, subject)}</strong>
              </bdi>
            )}
            <ChangeText change={change} />
            <span class="quiet row-end">
              <Time instant={issued_at} isShort />
            </span>
          </a>
        );
      }}
    />
  );
}

const ROWS = 100;

/**
 * A list of links, 100 rows at a time; a printed page has all of them.
 */
export function Rows<T>({ id, items, keyOf, row }: {
  readonly id: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string | number;
  readonly row: (item: T) => ComponentChildren;
}) {
  const [limit, setLimit] = useState(ROWS);
  const list = useRef<HTMLOListElement>(null);
  const focusAt = useRef(0);
  useEffect(() => setLimit(ROWS), [items]);
  useEffect(() => {
    // "Show more" is gone or further down: focus the first new row.
    const row = list.current?.children[focusAt.current];
    if (focusAt.current > 0) row?.querySelector("a")?.focus();
    focusAt.current = 0;
  }, [limit]);
  useEffect(() => {
    const showAll = () => setLimit(Infinity);
    addEventListener("beforeprint", showAll);
    return () => removeEventListener("beforeprint", showAll);
  }, []);
  return (
    <>
      <ol class="rows" id={id} ref={list}>
        {items.slice(0, limit).map((item) => (
          <li key={keyOf(item)}>{row(item)}</li>
        ))}
      </ol>
      {items.length > limit && (
        <p class="actions">
          <Button
            onClick={() => {
              focusAt.current = limit;
              setLimit(limit + ROWS);
            }}
          >
            Show {Math.min(ROWS, items.length - limit)} more
          </Button>
          <span class="quiet">
            {limit} of {items.length.toLocaleString("en")} are shown.
          </span>
        </p>
      )}
    </>
  );
}
