/** The question, and its answer. @module */

import { useEffect, useMemo, useState } from "preact/hooks";
import { type Asking, askLink, readAsking } from "../parts/route.ts";
import { Answer } from "./answer.tsx";
import { AskForm } from "./ask_form.tsx";
import { type AskingForm, askingOf, formOf } from "./asking_form.ts";
import type { OpenFeed } from "./open_feed.ts";

/** A form beside its answer; once asked, the answer follows the form. */
export function AskTab({ feed, query }: {
  readonly feed: OpenFeed;
  readonly query: URLSearchParams;
}) {
  const linked = useMemo(() => readAsking(query), [query]);
  const [form, setForm] = useState<AskingForm>(() =>
    formOf(linked ?? firstQuestion(feed))
  );
  const [asked, setAsked] = useState<Asking | undefined>(linked);
  /** Counts presses of Ask: each moves the focus to the answer. */
  const [presses, setPresses] = useState(0);
  useEffect(() => {
    if (linked === undefined) return;
    setForm(formOf(linked));
    setAsked(linked);
  }, [linked]);

  const ask = (wanted: AskingForm) => {
    const asking = askingOf(wanted);
    setAsked(asking);
    // The address is the question's, without a step back for each.
    history.replaceState(null, "", askLink(feed.issuer, asking));
  };
  return (
    <div class="ask">
      <AskForm
        feed={feed}
        form={form}
        onChange={(changed) => {
          setForm(changed);
          // Sliding through time shows what comes of it at once.
          const moved = changed.at !== form.at || changed.asOf !== form.asOf;
          if (asked !== undefined && moved) ask(changed);
        }}
        onAsk={() => {
          ask(form);
          setPresses(presses + 1);
        }}
      />
      {asked === undefined
        ? (
          <p class="empty card">
            One relationship of the subject must meet every requirement and be
            in force. Ask, and see why or why not.
          </p>
        )
        : <Answer feed={feed} asking={asked} presses={presses} />}
    </div>
  );
}

/** Whoever was named last, and whether they are what they were named. */
function firstQuestion({ events }: OpenFeed): Asking {
  const event = events.at(-1)?.event;
  const type = event !== undefined && "relationship_type" in event
    ? event.relationship_type
    : "employee";
  return { subject: event?.subject ?? "", require: [`relationship=${type}`] };
}
