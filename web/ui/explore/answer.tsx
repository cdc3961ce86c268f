/** An answer: the decision, why, and how to ask again. @module */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isSigError } from "../libraries/login.ts";
import { check, type CheckResult, type Reason } from "../libraries/mod.ts";
import { commandLine } from "../parts/command_line.ts";
import { Copyable, CopyButton } from "../parts/copy.tsx";
import { focusOn } from "../parts/focus.ts";
import { Notice } from "../parts/notice.tsx";
import { type Asking, askLink } from "../parts/route.ts";
import { shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { reasonSentence } from "../server/meanings.ts";
import { Explanation } from "./explanation.tsx";
import type { OpenFeed } from "./open_feed.ts";

type Outcome = CheckResult | { readonly why: string; readonly hint: string };

/** What an answer is drawn of. */
export interface AnswerProps {
  readonly feed: OpenFeed;
  readonly asking: Asking;
  /** Each press of Ask moves the focus here. */
  readonly presses: number;
}

/** Allow, deny, or why there is no answer. */
export function Answer({ feed, asking, presses }: AnswerProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const outcome = useMemo(() => answerOf(feed, asking), [feed, asking]);
  useLayoutEffect(() => {
    if (presses > 0 && heading.current) focusOn(heading.current);
  }, [presses]);
  return (
    <section class="card answer-card" id="answer" aria-live="polite">
      {"why" in outcome
        ? (
          <Notice kind="warning">
            <h2 id="answer-title" ref={heading}>No answer</h2>
            <p>{shown(outcome.why)}</p>
            {outcome.hint !== "" && <p>{shown(outcome.hint)}</p>}
          </Notice>
        )
        : (
          <>
            <Notice kind={outcome.decision === "allow" ? "success" : "danger"}>
              <h2 id="answer-title" ref={heading}>
                {outcome.decision === "allow" ? "Allow" : "Deny"}
              </h2>
              {outcome.decision === "allow"
                ? (
                  <p>
                    One relationship meets every requirement:{" "}
                    <code>{shown(outcome.matched_relationship_id)}</code>.
                  </p>
                )
                : <Reasons reasons={outcome.reasons} />}
            </Notice>
            {outcome.not_after !== null && (
              <p class="quiet">
                Without a further event this may change at{" "}
                <Time instant={outcome.not_after} />.
              </p>
            )}
            <Explanation answer={outcome} />
            {feed.issuer !== undefined && (
              <div class="row">
                <h3>A link to this question</h3>
                <CopyButton
                  text={() =>
                    new URL(askLink(feed.issuer, asking), location.href).href}
                  what="the link to this question"
                />
              </div>
            )}
            <h3>The same on the command line</h3>
            <Command source={feed.source} asking={asking} />
          </>
        )}
    </section>
  );
}

function answerOf(
  { state }: OpenFeed,
  { subject, require, at, asOf }: Asking,
): Outcome {
  try {
    return check(state, {
      subject,
      require,
      at,
      asOf,
      now: new Date(),
      explain: true,
    });
  } catch (error) {
    if (!isSigError(error)) throw error;
    const { hint } = error.context;
    return {
      why: error.message,
      hint: typeof hint === "string" ? hint : "",
    };
  }
}

function Reasons({ reasons }: { readonly reasons: readonly Reason[] }) {
  return (
    <ul class="reasons">
      {reasons.map((reason, i) => {
        const { code, requirement, relationship_id, sequence } = reason;
        return (
          <li key={i}>
            {reasonSentence(code)}
            {requirement && (
              <>
                {" "}
                <code>{shown(`${requirement.key}=${requirement.value}`)}</code>
              </>
            )}
            {relationship_id !== undefined &&
              ` (${shown(relationship_id)}, event ${sequence})`}{" "}
            <code class="code">{code}</code>
          </li>
        );
      })}
    </ul>
  );
}

function Command({ source, asking }: {
  readonly source: string;
  readonly asking: Asking;
}) {
  const { subject, require, at, asOf } = asking;
  const line = commandLine([
    "sig",
    "check",
    "--sig",
    source,
    "--subject",
    subject,
    ...require.flatMap((each) => ["--require", each]),
    ...(at === undefined ? [] : ["--at", at]),
    ...(asOf === undefined ? [] : ["--as-of", asOf]),
    ...(isPrivate(source) ? ["--allow-insecure"] : []),
    "--explain",
  ]);
  if (line !== undefined) return <Copyable visible={line} what="the command" />;
  return (
    <p class="quiet">
      The question holds characters that a terminal would obey or hide; there is
      no command to copy.
    </p>
  );
}

/** Whether an issuer is on this machine or network, as a demo's is. */
function isPrivate(source: string): boolean {
  return /^did:web:(localhost|[\d.]+)(%3A\d+)?$/.test(source);
}
