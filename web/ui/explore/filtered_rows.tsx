/** What tabs of rows have in common: a search, choices, a count, and no rows. @module */

import type { ComponentChildren } from "preact";
import { counted } from "../parts/text.ts";

/** What may be chosen of a column. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  /** What means all of it. */
  readonly all: string;
  readonly options: readonly {
    readonly value: string;
    readonly text: string;
  }[];
  /** "" for all. */
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** What the frame is drawn of. */
export interface FilteredRowsProps {
  /** Of the search field. */
  readonly id: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly choices: readonly Choice[];
  /** What one row is: "event". */
  readonly noun: string;
  readonly shown: number;
  readonly total: number;
  /** Where nothing is left: why, and the button that takes the filter away. */
  readonly nothing: { readonly says: string; readonly button: string };
  readonly onAll: () => void;
  /** The table. */
  readonly children: ComponentChildren;
}

/** Filter and table. */
export function FilteredRows(props: FilteredRowsProps) {
  const { id, placeholder, text, onText, choices, nothing, onAll } = props;
  const { noun, shown, total, children } = props;
  const all = counted(total, noun);
  return (
    <>
      <div class="filters">
        <div class="field grow">
          <label for={id}>Find</label>
          <input
            id={id}
            type="search"
            placeholder={placeholder}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={text}
            onInput={(event) => onText(event.currentTarget.value)}
          />
        </div>
        {choices.map((choice) => <Choosing key={choice.id} choice={choice} />)}
        <p class="quiet count" aria-live="polite">
          {shown === total ? all : `${shown.toLocaleString("en")} of ${all}`}
        </p>
      </div>
      {shown > 0 ? children : (
        <div class="empty">
          {nothing.says}
          <button type="button" onClick={onAll}>{nothing.button}</button>
        </div>
      )}
    </>
  );
}

function Choosing({ choice }: { readonly choice: Choice }) {
  const { id, label, all, options, value, onChoose } = choice;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        <option value="">{all}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>{option.text}</option>
        ))}
      </select>
    </div>
  );
}

/** Of a feed that has no rows at all. */
export function NoRows({ says }: { readonly says: string }) {
  return (
    <p class="empty">
      {says} Its issuer adds people with <code>sig upsert</code> or{" "}
      <code>sig apply</code>.
    </p>
  );
}
