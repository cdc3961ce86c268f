/**
 * A table of which only the rows in view are drawn: 10,000 scroll like ten.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A column: its heading, and what stands below. */
export interface Column<T> {
  readonly name: string;
  /** What a row has there. */
  readonly cell: (item: T) => ComponentChildren;
  /** Of the style sheet: its width, and whether narrow screens have it. */
  readonly className: string;
  /** How its rows are sorted now, where it is the one. */
  readonly sorted?: "ascending" | "descending" | undefined;
  /** Sorts by it, where that can be. */
  readonly onSort?: () => void;
}

/** What is in a table. */
export interface RowTableProps<T> {
  /** What it is, for people who don't see it. */
  readonly label: string;
  /** The same for the style sheet. */
  readonly className: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string | number;
}

/** Pixels; as in the style sheet. */
const ROW = 40;
/** With a finger. */
const COARSE_ROW = 48;
/** Rows above and below that are drawn before they come into view. */
const SPARE = 8;
/** Until the table knows how high it is. */
const FIRST_ROWS = 20;

/** The table; it scrolls within itself. */
export function RowTable<T>(props: RowTableProps<T>) {
  const { label, className, columns, items, keyOf } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ first: 0, count: FIRST_ROWS });
  const [row] = useState(() =>
    matchMedia("(pointer: coarse)").matches ? COARSE_ROW : ROW
  );
  const look = () => {
    const element = box.current;
    if (!element) return;
    const first = Math.max(0, Math.floor(element.scrollTop / row) - SPARE);
    const count = Math.ceil(element.clientHeight / row) + 2 * SPARE;
    setView((now) =>
      now.first === first && now.count === count ? now : { first, count }
    );
  };
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    // Another list begins at its top.
    if (box.current) box.current.scrollTop = 0;
    look();
  }, [items]);
  const drawn = items.slice(view.first, view.first + view.count);
  return (
    <div
      class={`row-table ${className}`}
      role="table"
      aria-label={label}
      aria-rowcount={items.length + 1}
    >
      <div class="table-head" role="rowgroup">
        <div role="row" class="table-row" aria-rowindex={1}>
          {columns.map((column) => (
            <Heading
              key={column.name}
              column={column}
            />
          ))}
        </div>
      </div>
      <div
        class="table-body"
        role="rowgroup"
        ref={box}
        tabIndex={0}
        aria-label={`${label}, rows`}
        onScroll={look}
        style={{ height: `${items.length * row}px` }}
      >
        <div
          class="table-space"
          role="presentation"
          style={{ height: `${items.length * row}px` }}
        >
          {drawn.map((item, i) => (
            <div
              key={keyOf(item)}
              role="row"
              class="table-row"
              aria-rowindex={view.first + i + 2}
              style={{
                height: `${row}px`,
                transform: `translateY(${(view.first + i) * row}px)`,
              }}
            >
              {columns.map((column) => (
                <div key={column.name} role="cell" class={column.className}>
                  {column.cell(item)}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function Heading<T>({ column }: { readonly column: Column<T> }) {
  const { name, className, sorted, onSort } = column;
  return (
    <div role="columnheader" class={className} aria-sort={sorted}>
      {onSort === undefined
        ? name
        : (
          <button type="button" class="sort" onClick={onSort}>
            {name}
            <span aria-hidden="true">
              {sorted === "ascending" ? " ↑" : sorted ? " ↓" : ""}
            </span>
          </button>
        )}
    </div>
  );
}
