/** A table of many rows: filters, a count, and 100 rows at a time. @module */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, Panel } from "../elements.tsx";
import { counted } from "../text.ts";

/** A filter with a few values. */
interface Filter<T> {
  /** Its name: "role". */
  readonly name: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly matches: (item: T, value: string) => boolean;
}

const ROWS = 100;

/** Filters, and the rows that match them. */
export function FilteredTable<T>(props: {
  /** The name of the table and its elements: "people". */
  readonly id: string;
  readonly noun: string;
  readonly placeholder: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string | number;
  /** Returns the text that the text filter searches. */
  readonly textOf: (item: T) => string;
  readonly filters: readonly Filter<T>[];
  /** The headings of the columns. */
  readonly heads: readonly string[];
  /** Returns the cells of a row. */
  readonly row: (item: T) => ComponentChildren;
  /** The message if there are no items. */
  readonly none: string;
  /** Further filters. */
  readonly children?: ComponentChildren;
}) {
  const { id, noun, items, keyOf, textOf, filters } = props;
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const [limit, setLimit] = useState(ROWS);
  const body = useRef<HTMLTableSectionElement>(null);
  const shownBefore = useRef(0);
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return items.filter((item) =>
      filters.every(({ name, matches }) =>
        !chosen[name] || matches(item, chosen[name])
      ) && textOf(item).toLowerCase().includes(wanted)
    );
  }, [items, text, chosen]);
  useEffect(() => setLimit(ROWS), [shown]);
  useEffect(() => {
    // "Show more" is gone or further down: focus the first new row.
    const { current: before } = shownBefore;
    shownBefore.current = 0;
    if (before === 0) return;
    body.current?.rows[before]?.querySelector("button")?.focus();
  }, [limit]);
  const all = counted(items.length, noun);
  return (
    <>
      <div class="filters">
        <input
          id={`${id}-text`}
          type="search"
          aria-label="Find"
          placeholder={props.placeholder}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Panel title="Filter">
          {filters.map(({ name, options }) => (
            <select
              key={name}
              id={`${id}-${name}`}
              aria-label={`Any ${name}`}
              value={chosen[name] ?? ""}
              onChange={({ currentTarget: { value } }) =>
                setChosen({ ...chosen, [name]: value })}
            >
              <option value="">Any {name}</option>
              {options.map(([value, text]) => (
                <option key={value} value={value}>{text}</option>
              ))}
            </select>
          ))}
          {props.children}
        </Panel>
      </div>
      <p class="quiet count" aria-live="polite">
        {shown.length === items.length
          ? all
          : `${shown.length.toLocaleString("en")} of ${all}`}
      </p>
      {shown.length === 0
        ? (
          <p class="empty">
            {items.length === 0 ? props.none : (
              <>
                No {noun} matches.{" "}
                <Button
                  onClick={() => {
                    setText("");
                    setChosen({});
                  }}
                >
                  Show all
                </Button>
              </>
            )}
          </p>
        )
        : (
          <table class={`rows ${id}`} aria-rowcount={shown.length + 1}>
            <thead>
              <tr>
                {props.heads.map((head) => (
                  <th key={head} scope="col">{head}</th>
                ))}
              </tr>
            </thead>
            <tbody ref={body}>
              {shown.slice(0, limit).map((item) => (
                <tr key={keyOf(item)}>{props.row(item)}</tr>
              ))}
            </tbody>
          </table>
        )}
      {shown.length > limit && (
        <p class="actions">
          <Button
            onClick={() => {
              shownBefore.current = limit;
              setLimit(limit + ROWS);
            }}
          >
            Show {Math.min(ROWS, shown.length - limit)} more
          </Button>
          <span class="quiet">
            {limit} of {shown.length.toLocaleString("en")} are shown.
          </span>
        </p>
      )}
    </>
  );
}
