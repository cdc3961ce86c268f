/** The answer to a question: the decision, its reasons, and the command for it. @module */

import {
  check,
  type CheckResult,
  type FeedState,
  isSigError,
  parseRequirements,
  type Reason,
} from "@sig/core";
import { useMemo } from "preact/hooks";
import { Copyable, CopyButton } from "../copy.tsx";
import { Alert, Fold, Icon } from "../elements.tsx";
import { type Question, questionLink } from "../route.ts";
import { denyReasonText } from "../sign_in/error_texts.ts";
import {
  commandLine,
  counted,
  insecureFlag,
  typeLabel,
  visibleText,
} from "../text.ts";
import { Time, Validity } from "../time.tsx";
import { StatusBadge, type ViewProps } from "./elements.tsx";

/**
 * The answer to the question in the address: allow, deny, or why there is no
 * answer. The heading takes the focus.
 */
export function Answer({ ledger, place, subject }: ViewProps & {
  readonly subject: string;
}) {
  const { feed: { state, source, commandSource, isProven }, clock } = ledger;
  const { question, answer } = useMemo(() => {
    const require = place.query.getAll("require");
    const question: Question = { ...clock, subject, require };
    return { question, answer: ask(state, question) };
  }, [ledger, subject, place]);
  const { require, at, asOf } = question;
  const line = commandLine([
    ...["sig", "check", "--sig", commandSource, "--subject", subject],
    ...require.flatMap((each) => ["--require", each]),
    ...(at === undefined ? [] : ["--at", at]),
    ...(asOf === undefined ? [] : ["--as-of", asOf]),
    ...(commandSource.startsWith("did:") ? insecureFlag(commandSource) : []),
    "--explain",
  ]);
  const isError = "error" in answer;
  const isAllowed = !isError && answer.decision === "allow";
  return (
    <div id="answer" class="stack" aria-live="polite">
      <Alert
        // Each question takes the focus, but not each turn of the clock.
        key={[subject, ...question.require].join("\n")}
        kind={isError || !isProven
          ? "warning"
          : isAllowed
          ? "success"
          : "danger"}
        title={isError ? "No answer" : isAllowed ? "Allow" : "Deny"}
        id="answer-title"
        autoFocus
      >
        {isError
          ? [answer.error, answer.hint].map((text, i) => (
            <p key={i}>{visibleText(text ?? "")}</p>
          ))
          : isAllowed
          ? (
            <p>
              One relationship meets every requirement:{" "}
              <code>{visibleText(answer.matched_relationship_id)}</code>.
            </p>
          )
          : <Reasons of={answer.reasons} />}
        {!isProven && (
          <p>These are your own files: consistent, origin not proven.</p>
        )}
      </Alert>
      {!isError && (
        <>
          {answer.not_after !== null && (
            <p class="quiet">
              Without a new event this may change at{" "}
              <Time instant={answer.not_after} />.
            </p>
          )}
          <Fold title="Why">
            <Explanation answer={answer} />
          </Fold>
          <div class="actions no-print">
            <CopyButton
              text={() =>
                new URL(questionLink(source, question), location.href)
                  .href}
              what="the link to this answer"
              look="long"
            />
          </div>
          <h3>The same on the command line</h3>
          {line === undefined
            ? (
              <p class="quiet">
                The question contains characters that a terminal interprets or
                hides, so it can’t be copied as a command.
              </p>
            )
            : <Copyable visible={line} what="the command" />}
        </>
      )}
    </div>
  );
}

function ask(state: FeedState, question: Question): CheckResult | {
  readonly error: string;
  readonly hint?: string | undefined;
} {
  try {
    return check(state, {
      ...question,
      require: parseRequirements(question.require),
      now: new Date(),
      explain: true,
    });
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { error: error.message, hint: error.hint };
  }
}

/** The reasons of a deny. */
export function Reasons({ of }: { readonly of: readonly Reason[] }) {
  return (
    <ul class="plain">
      {of.map(({ code, requirement, relationship_id, sequence }, i) => (
        <li key={i}>
          {denyReasonText(code)} {requirement && (
            <code>
              {visibleText(`${requirement.key}=${requirement.value}`)}
            </code>
          )}
          {relationship_id !== undefined &&
            ` (${visibleText(relationship_id)}, event ${sequence})`}{" "}
          <code class="code">{code}</code>
        </li>
      ))}
    </ul>
  );
}

/**
 * The requirements that each relationship of the subject meets, and whether it
 * is active.
 */
function Explanation(
  { answer: { explain } }: { readonly answer: CheckResult },
) {
  if (explain === undefined) return null;
  const { tense, judged_at, events, relationships } = explain;
  return (
    <>
      <p class="quiet">
        {tense === "now"
          ? "Checked against the feed’s latest state, at "
          : "Checked against what was true at "}
        <Time instant={judged_at} />, from {counted(events, "event")}.
      </p>
      {relationships.length === 0 && <p>No event is about this subject.</p>}
      <ul class="plain">
        {relationships.map((each) => (
          <li key={each.relationship_id} class="next">
            <div class="row">
              <strong>{typeLabel(each.relationship_type)}</strong>
              <code class="quiet">{visibleText(each.relationship_id)}</code>
            </div>
            {each.requirements.map(({ key, value, met }) => (
              <p class="met" data-kind={met ? "success" : "danger"}>
                <Icon name={met ? "yes" : "no"} />
                <code>{visibleText(`${key}=${value}`)}</code>
                {met ? "met" : "not met"}
              </p>
            ))}
            <p class="row">
              <StatusBadge status={each.effective_status} />
              <span>
                by <strong>event #{each.last_sequence}</strong>{" "}
                <Validity
                  from={each.valid_from}
                  until={each.valid_until}
                  none=""
                />
              </span>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
