/** A person: status, relationships, keys, questions, and the timeline. @module */

import { personOf, RELATIONSHIP_TYPES } from "@sig/core";
import { useMemo, useState } from "preact/hooks";
import { CopyButton, Did } from "../copy.tsx";
import { Alert, Button, Chips, Facts } from "../elements.tsx";
import { type Place, questionLink } from "../route.ts";
import { shortened, typeLabel, visibleText } from "../text.ts";
import { Time, Validity } from "../time.tsx";
import { Answer } from "./answer.tsx";
import {
  Changes,
  linkTo,
  nameOf,
  StatusBadge,
  type ViewProps,
} from "./elements.tsx";
import { type Change, type Held, type Ledger, nearest } from "./ledger.ts";

/** Returns the key that a place is about, or "". */
export function subjectOf({ object, id, query }: Place): string {
  if (object === "answer") return query.get("subject") ?? "";
  return object === "person" ? id : "";
}

/** A person by any of their keys, with a question if the place has one. */
export function PersonView({ ledger, place }: ViewProps) {
  const subject = subjectOf(place);
  const { people, known, changes, feed: { state } } = ledger;
  const root = personOf(state, subject);
  const person = people.find((each) => each.root === root);
  const isTheirs = ({ verified: { event } }: Change) =>
    personOf(state, event.subject) === root;
  const timeline = useMemo(() => known.filter(isTheirs).reverse(), [
    ledger,
    root,
  ]);
  const isUnknown = person === undefined && !changes.some(isTheirs);
  if (isUnknown && !subject.startsWith("did:")) {
    return <NoSubject ledger={ledger} subject={subject} />;
  }
  const { name = "", position = "", keys = [subject], held = [] } = person ??
    { name: timeline.find((each) => each.name !== "")?.name };

  function relationship({ state, status }: Held) {
    const { relationship_type: type, roles, subject, relationship_id } = state;
    return (
      <div key={relationship_id} class="next relationship">
        <p class="row">
          <strong>{typeLabel(type)}</strong>
          <StatusBadge status={status} />
          {roles.length > 0 && <Chips texts={roles} />}
        </p>
        <p class="quiet">
          {state.revoked_effective_at === undefined
            ? (
              <Validity
                from={state.valid_from}
                until={state.valid_until}
                none="no start or end set"
              />
            )
            : (
              <>
                ended <Time instant={state.revoked_effective_at} />:{" "}
                {typeLabel(state.revoked_reason_code ?? "")}
              </>
            )}
          {keys.length > 1 && <>, key {shortened(subject)}</>}, by{" "}
          <a href={linkTo(ledger, "event", state.last_sequence)}>
            event #{state.last_sequence}
          </a>, id <code>{visibleText(relationship_id)}</code>
        </p>
      </div>
    );
  }

  return (
    <article class="object person" id="person">
      <header class="card">
        <div class="row">
          <h2 tabIndex={-1}>
            <bdi>{nameOf({ name }, root)}</bdi>
          </h2>
          {person
            ? <StatusBadge status={person.status} />
            : (
              <span class="quiet">
                {isUnknown ? "unknown to this feed" : "not here at this time"}
              </span>
            )}
          <CopyButton
            text={() =>
              new URL(linkTo(ledger, "person", root), location.href).href}
            what="the link to this person"
            look="icon"
          />
        </div>
        {position !== "" && <p class="quiet">{visibleText(position)}</p>}
        {isUnknown && (
          <p class="quiet">No event of this feed is about this DID.</p>
        )}
        <Facts
          of={{
            [keys.length > 1 ? "Keys" : "DID"]: keys.map((key) => {
              const best = held.find(({ state }) => state.subject === key);
              return (
                <p key={key} class="row">
                  <Did did={key} />
                  {keys.length > 1 && (best
                    ? <StatusBadge status={best.status} />
                    : <span class="quiet">nothing at this time</span>)}
                </p>
              );
            }),
          }}
        />
        {held.map(relationship)}
      </header>
      {timeline.length > 0 && (
        <section>
          <h3>Timeline</h3>
          <Changes
            id="timeline"
            ledger={ledger}
            of={timeline}
            isNamed={false}
          />
        </section>
      )}
      <section class="card" id="ask">
        <h3>May they …?</h3>
        <Ask
          // Another person or link fills the form again.
          key={`${subject} ${place.query}`}
          ledger={ledger}
          keys={keys}
          subject={subject}
          require={place.query.getAll("require")}
          suggested={suggestedRequirement(held)}
        />
        {place.object === "answer" && (
          <Answer ledger={ledger} place={place} subject={subject} />
        )}
      </section>
    </article>
  );
}

function suggestedRequirement([first]: readonly Held[]): string {
  const role = first?.state.roles[0];
  if (role !== undefined) return `role=${role}`;
  return `relationship=${first?.state.relationship_type ?? "employee"}`;
}

const MAX_SUGGESTIONS = 200;

/** The question about a key; asking changes the address. */
function Ask({ ledger, keys, subject, require, suggested }: {
  readonly ledger: Ledger;
  readonly keys: readonly string[];
  readonly subject: string;
  readonly require: readonly string[];
  readonly suggested: string;
}) {
  const { feed: { source, state }, clock } = ledger;
  const [asked, setAsked] = useState(subject);
  const [texts, setTexts] = useState(require.length ? require : [suggested]);
  const options = useMemo(() => {
    const relationships = [...state.by_relationship_id.values()];
    const roles = new Set(relationships.flatMap(({ roles }) => roles));
    return [
      ...[...roles].slice(0, MAX_SUGGESTIONS).map((role) => `role=${role}`),
      ...RELATIONSHIP_TYPES.map((type) => `relationship=${type}`),
      "relationship_id=",
    ];
  }, [state]);
  return (
    <form
      id="ask-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        location.hash = questionLink(source, {
          ...clock,
          subject: asked,
          require: texts.map((each) => each.trim()).filter(Boolean),
        });
      }}
    >
      {keys.length > 1 && (
        <select
          aria-label="The key that is asked about"
          value={asked}
          onChange={({ currentTarget: { value } }) => setAsked(value)}
        >
          {keys.map((key) => (
            <option key={key} value={key}>{shortened(key)}</option>
          ))}
        </select>
      )}
      {texts.map((text, i) => (
        <div class="row spread" key={i}>
          <input
            type="text"
            aria-label={`Requirement ${i + 1}`}
            list="requirements"
            placeholder="role=deploy"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget: { value } }) =>
              setTexts(texts.with(i, value))}
          />
          {texts.length > 1 && (
            <Button onClick={() => setTexts(texts.toSpliced(i, 1))}>
              Remove <span class="visually-hidden">requirement {i + 1}</span>
            </Button>
          )}
        </div>
      ))}
      <div class="actions">
        <button class="primary" type="submit">Ask</button>
        <Button onClick={() => setTexts([...texts, ""])}>
          Add a requirement
        </Button>
      </div>
      <datalist id="requirements">
        {options.map((each) => <option key={each} value={each} />)}
      </datalist>
    </form>
  );
}

/** A name is not a subject: nothing can be said, which is not a deny. */
function NoSubject({ ledger, subject }: { ledger: Ledger; subject: string }) {
  const found = nearest(ledger.people, subject);
  return (
    <Alert kind="warning" title="No answer" id="answer-title" autoFocus>
      <p>
        <q>{visibleText(subject)}</q>{" "}
        is not a DID, and no event of this feed is about it. That is not a deny.
      </p>
      {found.length > 0 && (
        <ul class="plain">
          {found.map((person) => (
            <li key={person.root}>
              <a href={linkTo(ledger, "person", person.root)}>
                {nameOf(person, person.root)}
              </a>
            </li>
          ))}
        </ul>
      )}
    </Alert>
  );
}
