/** A table of many rows: filters, a count, and 100 rows at a time. @module */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, TextField } from "../elements.tsx";
import { counted } from "../text.ts";

/** A column; its class decides its width and whether narrow screens show it. */
export interface Column<T> {
  readonly name: string;
  readonly class: string;
  readonly cell: (item: T) => ComponentChildren;
}

/** A filter by one of a few values; "" lets everything through. */
interface Filter {
  readonly id: string;
  readonly label: string;
  readonly all: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly value: string;
  readonly onValue: (value: string) => void;
}

const ROWS = 100;

/** Filters, then the rows that they let through. */
export function FilteredTable<T>(props: {
  /** Names the table and its elements: "people". */
  readonly id: string;
  readonly noun: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly filters: readonly Filter[];
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  /** How many there are without filters. */
  readonly total: number;
  readonly keyOf: (item: T) => string | number;
}) {
  const { id, noun, columns, items, total, keyOf } = props;
  const [limit, setLimit] = useState(ROWS);
  const body = useRef<HTMLTableSectionElement>(null);
  const shownBefore = useRef(0);
  useEffect(() => setLimit(ROWS), [items]);
  useEffect(() => {
    // "Show more" is gone or further down: go on at the first new row.
    const { current: before } = shownBefore;
    shownBefore.current = 0;
    if (before === 0) return;
    body.current?.rows[before]?.querySelector("button")?.focus();
  }, [limit]);
  if (total === 0) {
    return (
      <div class="empty">
        <p>
          This feed has no {noun}s yet. Its issuer adds people with{" "}
          <code>sig upsert</code> or <code>sig apply</code>.
        </p>
      </div>
    );
  }
  const showAll = () => {
    props.onText("");
    for (const { onValue } of props.filters) onValue("");
  };
  const all = counted(total, noun);
  return (
    <>
      <div class="filters">
        <TextField
          id={`${id}-text`}
          label="Find"
          class="grow"
          type="search"
          placeholder={props.placeholder}
          value={props.text}
          onValue={props.onText}
        />
        {props.filters.map((each) => (
          <div class="field" key={each.id}>
            <label for={each.id}>{each.label}</label>
            <select
              id={each.id}
              value={each.value}
              onChange={(event) => each.onValue(event.currentTarget.value)}
            >
              <option value="">{each.all}</option>
              {each.options.map(([value, text]) => (
                <option key={value} value={value}>{text}</option>
              ))}
            </select>
          </div>
        ))}
        <p class="quiet count" aria-live="polite">
          {items.length === total
            ? all
            : `${items.length.toLocaleString("en")} of ${all}`}
        </p>
      </div>
      {items.length === 0
        ? (
          <div class="empty">
            No {noun} matches. <Button onClick={showAll}>Show all</Button>
          </div>
        )
        : (
          <table class={`rows ${id}`} aria-rowcount={items.length + 1}>
            <thead>
              <tr>
                {columns.map(({ name, class: column }) => (
                  <th key={name} scope="col" class={column}>{name}</th>
                ))}
              </tr>
            </thead>
            <tbody ref={body}>
              {items.slice(0, limit).map((item) => (
                <tr key={keyOf(item)}>
                  {columns.map(({ name, class: column, cell }) => (
                    <td key={name} class={column}>{cell(item)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      {items.length > limit && (
        <p class="actions">
          <Button
            onClick={() => {
              shownBefore.current = limit;
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
