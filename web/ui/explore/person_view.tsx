/** A person: status, relationships, keys, questions, and the timeline. @module */

import { personOf, RELATIONSHIP_TYPES } from "@sig/core";
import { useMemo, useState } from "preact/hooks";
import { CopyButton, Did } from "../copy.tsx";
import { Alert, Button, Chips, Facts } from "../elements.tsx";
import { type Place, type Question, questionLink } from "../route.ts";
import { nearest } from "./search.ts";
import { shortened, typeLabel, visibleText } from "../text.ts";
import { Time, Validity } from "../time.tsx";
import { Answer } from "./answer.tsx";
import { ChangeRow, linkTo, nameOf, Rows, StatusBadge } from "./elements.tsx";
import type { Held, Ledger } from "./ledger.ts";

/** A person by any of their keys, with a question if the place has one. */
export function PersonView({ ledger, subject, place }: {
  readonly ledger: Ledger;
  readonly subject: string;
  readonly place: Place;
}) {
  const { people, known, changes } = ledger;
  const root = rootOf(ledger, subject);
  const person = people.find((each) => each.root === root);
  const ofPerson = (all: Ledger["changes"]) =>
    all.filter(({ verified: { event } }) =>
      rootOf(ledger, event.subject) === root
    );
  const timeline = useMemo(() => ofPerson(known).reverse(), [ledger, root]);
  const isUnknown = timeline.length === 0 && person === undefined &&
    ofPerson(changes).length === 0;
  if (isUnknown && !subject.startsWith("did:")) {
    return <NoSubject ledger={ledger} subject={subject} />;
  }
  const { name = "", position = "", keys = [subject], held = [] } = person ??
    { name: timeline.find((each) => each.name !== "")?.name };
  const title = nameOf({ name }, root);
  return (
    <article class="object person" id="person">
      <header class="card">
        <div class="row">
          <h2 tabIndex={-1}>
            <bdi>{title}</bdi>
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
            isIcon
          />
        </div>
        {position !== "" && <p class="quiet">{visibleText(position)}</p>}
        {isUnknown && (
          <p class="quiet">No event of this feed is about this DID.</p>
        )}
        <Facts
          of={{
            [keys.length > 1 ? "Keys" : "DID"]: keys.map((key) => (
              <p key={key} class="row">
                <Did did={key} />
                {keys.length > 1 && <KeyStatus of={held} subject={key} />}
              </p>
            )),
          }}
        />
        {held.map((each) => (
          <Relationship
            key={each.state.relationship_id}
            ledger={ledger}
            of={each}
            isOnlyKey={keys.length === 1}
          />
        ))}
      </header>
      {timeline.length > 0 && (
        <section>
          <h3>Timeline</h3>
          <Rows
            id="timeline"
            items={timeline}
            keyOf={({ verified }) => verified.event.sequence}
            row={(change) => (
              <ChangeRow ledger={ledger} change={change} isNamed={false} />
            )}
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
          <AnswerOf ledger={ledger} subject={subject} place={place} />
        )}
      </section>
    </article>
  );
}

/** Whether a key of several has a relationship in force. */
function KeyStatus({ of, subject }: {
  readonly of: readonly Held[];
  readonly subject: string;
}) {
  const best = of.find(({ state }) => state.subject === subject);
  return best
    ? <StatusBadge status={best.status} />
    : <span class="quiet">nothing at this time</span>;
}

function Relationship({ ledger, of: { state, status }, isOnlyKey }: {
  readonly ledger: Ledger;
  readonly of: Held;
  readonly isOnlyKey: boolean;
}) {
  const { relationship_type: type, roles, subject, relationship_id } = state;
  return (
    <div class="next relationship">
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
        {!isOnlyKey && <>, key {shortened(subject)}</>}, by{" "}
        <a href={linkTo(ledger, "event", state.last_sequence)}>
          event #{state.last_sequence}
        </a>, id <code>{visibleText(relationship_id)}</code>
      </p>
    </div>
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

/** The answer to the question in the address. */
function AnswerOf({ ledger, subject, place }: {
  readonly ledger: Ledger;
  readonly subject: string;
  readonly place: Place;
}) {
  const question = useMemo<Question>(
    () => ({
      ...ledger.clock,
      subject,
      require: place.query.getAll("require"),
    }),
    [ledger, subject, place],
  );
  return (
    <div id="answer" class="stack" aria-live="polite">
      <Answer ledger={ledger} question={question} />
    </div>
  );
}

/** A name is not a subject: nothing can be said, which is not a deny. */
function NoSubject({ ledger, subject }: {
  readonly ledger: Ledger;
  readonly subject: string;
}) {
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

function rootOf({ feed: { state } }: Ledger, subject: string): string {
  return personOf(state, subject);
}
