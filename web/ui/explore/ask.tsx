/** A question to a feed, and its answer. @module */

import { RELATIONSHIP_TYPES } from "@sig/core";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, Fold, TextField } from "../elements.tsx";
import { type Question, questionLink, readQuestion } from "../route.ts";
import { Time } from "../time.tsx";
import { Answer } from "./answer.tsx";
import type { OpenFeed } from "./verify_documents.ts";

/**
 * A form next to its answer; after the first answer, changed times apply
 * immediately.
 */
export function Ask({ feed, query }: {
  readonly feed: OpenFeed;
  readonly query: URLSearchParams;
}) {
  const linked = useMemo(() => readQuestion(query), [query]);
  const [form, setForm] = useState(linked ?? firstQuestion(feed));
  const [asked, setAsked] = useState<Question | undefined>(linked);
  /** Incremented by each press of Ask, which moves the focus to the answer. */
  const [presses, setPresses] = useState(0);
  useEffect(() => {
    if (linked === undefined) return;
    setForm(linked);
    setAsked(linked);
  }, [linked]);

  const ask = ({ subject, require, at, asOf }: Question) => {
    const question = {
      subject: subject.trim(),
      require: require.map((each) => each.trim()).filter(Boolean),
      at: at?.trim() || undefined,
      asOf: asOf?.trim() || undefined,
    };
    setAsked(question);
    // Replaces the URL, so that each question adds no history entry.
    history.replaceState(null, "", questionLink(feed.issuer, question));
  };
  const change = (changed: Partial<Question>) =>
    setForm({ ...form, ...changed });
  const changeTimes = (times: Partial<Question>) => {
    change(times);
    if (asked !== undefined) ask({ ...form, ...times });
  };
  const { require } = form;
  return (
    <div class="ask">
      <form
        id="ask-form"
        class="card"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          ask(form);
          setPresses(presses + 1);
        }}
      >
        <TextField
          id="ask-subject"
          label="Does"
          list="subjects"
          placeholder="did:web:alice.example"
          value={form.subject}
          onValue={(subject) => change({ subject })}
        />
        <fieldset>
          <legend>meet all of</legend>
          {require.map((each, i) => (
            <div class="row spread" key={i}>
              <input
                type="text"
                aria-label={`Requirement ${i + 1}`}
                list="requirements"
                placeholder="role=deploy"
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                value={each}
                onInput={({ currentTarget: { value } }) =>
                  change({ require: require.with(i, value) })}
              />
              <Button
                onClick={() => change({ require: require.toSpliced(i, 1) })}
              >
                Remove<span class="visually-hidden">requirement {i + 1}</span>
              </Button>
            </div>
          ))}
          <Button onClick={() => change({ require: [...require, ""] })}>
            Add a requirement
          </Button>
        </fieldset>
        <Times feed={feed} question={form} onChange={changeTimes} />
        <button class="primary" type="submit">Ask</button>
        <Suggestions feed={feed} />
      </form>
      {asked === undefined
        ? (
          <p class="empty card">
            One relationship of the subject must meet every requirement and be
            active. Ask, and see why it does or does not.
          </p>
        )
        : <Answer feed={feed} question={asked} presses={presses} />}
    </div>
  );
}

/** The last subject, and its relationship type in the feed. */
function firstQuestion({ events }: OpenFeed): Question {
  const event = events.at(-1)?.event;
  const type = event !== undefined && "relationship_type" in event
    ? event.relationship_type
    : "employee";
  return { subject: event?.subject ?? "", require: [`relationship=${type}`] };
}

const MAX_SUGGESTIONS = 200;

/** Suggestions for the inputs. */
function Suggestions({ feed: { state, events } }: { readonly feed: OpenFeed }) {
  const lists = useMemo(() => {
    const relationships = [...state.by_relationship_id.values()];
    const roles = new Set(relationships.flatMap(({ roles }) => roles));
    const subjects = new Set(events.map(({ event }) => event.subject));
    return {
      subjects: [...subjects].slice(-MAX_SUGGESTIONS),
      requirements: [
        ...RELATIONSHIP_TYPES.map((type) => `relationship=${type}`),
        ...[...roles].slice(0, MAX_SUGGESTIONS).map((role) => `role=${role}`),
        "relationship_id=",
      ],
    };
  }, [state]);
  return (
    <>
      {Object.entries(lists).map(([id, values]) => (
        <datalist id={id} key={id}>
          {values.map((each) => <option key={each} value={each} />)}
        </datalist>
      ))}
    </>
  );
}

/** The inputs for `at` and `as_of`. */
function Times({ feed, question, onChange }: {
  readonly feed: OpenFeed;
  readonly question: Question;
  readonly onChange: (times: Partial<Question>) => void;
}) {
  const { at = "", asOf = "" } = question;
  // A link may set these inputs; then the section stays open.
  const wasSet = useRef(false);
  wasSet.current ||= at !== "" || asOf !== "";
  const { last_sequence: last } = feed.state;
  const known = /^\d+$/.test(asOf) ? Number(asOf) : last;
  const event = feed.events[known - 1]?.event;
  return (
    <Fold title="At another time" isOpen={wasSet.current}>
      <fieldset>
        <legend>What was true at</legend>
        <input
          type="datetime-local"
          step="1"
          aria-label="Date and time, UTC"
          value={/^(.{19})(\.\d+)?Z$/.exec(at)?.[1] ?? ""}
          onInput={({ currentTarget: { value } }) =>
            // The picker may omit the seconds.
            onChange({ at: value && `${`${value}:00`.slice(0, 19)}Z` })}
        />
        <TextField
          id="ask-at"
          label="or as RFC 3339 text"
          placeholder="now"
          value={at}
          onValue={(at) => onChange({ at })}
        />
      </fieldset>
      <fieldset>
        <legend>What was known as of</legend>
        <input
          id="as-of-slider"
          type="range"
          min="1"
          max={Math.max(1, last)}
          step="1"
          disabled={last < 2}
          aria-label="Event"
          aria-valuetext={`event ${known} of ${last}`}
          value={known}
          onInput={({ currentTarget: { value } }) =>
            onChange({ asOf: Number(value) === last ? "" : value })}
        />
        <TextField
          id="ask-as-of"
          label="or an event’s number, or RFC 3339 text"
          placeholder={`event ${last}, the last one`}
          value={asOf}
          onValue={(asOf) => onChange({ asOf })}
          hint={event
            ? (
              <>
                Event #{event.sequence}, <Time instant={event.issued_at} />
              </>
            )
            : "No such event"}
        />
      </fieldset>
    </Fold>
  );
}
