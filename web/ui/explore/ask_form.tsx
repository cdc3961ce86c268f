/** What is asked, of whom. @module */

import { useMemo } from "preact/hooks";
import { RELATIONSHIP_TYPES } from "../libraries/mod.ts";
import { AskTimes } from "./ask_times.tsx";
import {
  type AskingForm,
  REQUIREMENT_KEYS,
  type RequirementKey,
  type RequirementRow,
} from "./asking_form.ts";
import type { OpenFeed } from "./open_feed.ts";

const SUGGESTED_SUBJECTS = 200;

/** What the form is drawn of. */
export interface AskFormProps {
  readonly feed: OpenFeed;
  readonly form: AskingForm;
  readonly onChange: (form: AskingForm) => void;
  readonly onAsk: () => void;
}

/** Subject, requirements, times. */
export function AskForm({ feed, form, onChange, onAsk }: AskFormProps) {
  const subjects = useMemo(
    () =>
      [...new Set(feed.events.map(({ event }) => event.subject))]
        .slice(-SUGGESTED_SUBJECTS),
    [feed.events],
  );
  const { rows } = form;
  const setRows = (changed: readonly RequirementRow[]) =>
    onChange({ ...form, rows: changed });
  const add = () => {
    const id = Math.max(-1, ...rows.map((row) => row.id)) + 1;
    setRows([...rows, { id, key: "role", value: "" }]);
  };
  return (
    <form
      id="ask-form"
      class="card"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAsk();
      }}
    >
      <div class="field">
        <label for="ask-subject">Is</label>
        <input
          id="ask-subject"
          type="text"
          list="subjects"
          placeholder="did:web:alice.example"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={form.subject}
          onInput={(event) =>
            onChange({ ...form, subject: event.currentTarget.value })}
        />
        <datalist id="subjects">
          {subjects.map((each) => <option key={each} value={each} />)}
        </datalist>
      </div>
      <fieldset>
        <legend>Someone who</legend>
        <ul class="requirement-rows">
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              onChange={(changed) =>
                setRows(
                  rows.map((each) => each.id === row.id ? changed : each),
                )}
              onRemove={() =>
                setRows(rows.filter((each) => each.id !== row.id))}
            />
          ))}
        </ul>
        <button id="add-requirement" type="button" onClick={add}>
          Add a requirement
        </button>
      </fieldset>
      <AskTimes feed={feed} form={form} onChange={onChange} />
      <button class="primary" type="submit">Ask</button>
    </form>
  );
}

function Row({ row, onChange, onRemove }: {
  readonly row: RequirementRow;
  readonly onChange: (row: RequirementRow) => void;
  readonly onRemove: () => void;
}) {
  const list = `values-${row.id}`;
  const values = row.key === "relationship" ? RELATIONSHIP_TYPES : [];
  return (
    <li>
      <select
        aria-label="Which requirement"
        value={row.key}
        onChange={(event) =>
          onChange({
            ...row,
            key: event.currentTarget.value as RequirementKey,
          })}
      >
        {Object.entries(REQUIREMENT_KEYS).map(([key, words]) => (
          <option key={key} value={key}>{words}</option>
        ))}
      </select>
      <input
        type="text"
        aria-label="Its value"
        list={values.length > 0 ? list : undefined}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={row.value}
        onInput={(event) =>
          onChange({ ...row, value: event.currentTarget.value })}
      />
      {values.length > 0 && (
        <datalist id={list}>
          {values.map((each) => <option key={each} value={each} />)}
        </datalist>
      )}
      <button type="button" onClick={onRemove}>
        Remove<span class="visually-hidden">this requirement</span>
      </button>
    </li>
  );
}
