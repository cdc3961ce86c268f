/** The answer to a question: the decision, its reasons, and the command for it. @module */

import {
  check,
  type CheckResult,
  isSigError,
  parseRequirements,
  type Reason,
} from "@sig/core";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Copyable, CopyButton } from "../copy.tsx";
import { Alert, Fold, Icon, type Kind } from "../elements.tsx";
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
import { StatusBadge } from "./elements.tsx";
import type { Ledger } from "./ledger.ts";
import type { OpenFeed } from "./verify_documents.ts";

/** Allow, deny, or why there is no answer; the heading takes the focus. */
export function Answer({ ledger: { feed }, question }: {
  readonly ledger: Ledger;
  readonly question: Question;
}) {
  const answer = useMemo(() => ask(feed, question), [feed, question]);
  const alert = (kind: Kind, title: string, children: ComponentChildren) => (
    <Alert
      // Each question takes the focus, but not each turn of the clock.
      key={[question.subject, ...question.require].join("\n")}
      kind={kind}
      title={title}
      id="answer-title"
      autoFocus
    >
      {children}
      {!feed.isProven && (
        <p>These are your own files: consistent, origin not proven.</p>
      )}
    </Alert>
  );
  if ("error" in answer) {
    return alert(
      "warning",
      "No answer",
      <>
        <p>{visibleText(answer.error)}</p>
        <p>{visibleText(answer.hint ?? "")}</p>
      </>,
    );
  }
  const proven = (kind: Kind) => feed.isProven ? kind : "warning";
  return (
    <>
      {answer.decision === "allow"
        ? alert(
          proven("success"),
          "Allow",
          <p>
            One relationship meets every requirement:{" "}
            <code>{visibleText(answer.matched_relationship_id)}</code>.
          </p>,
        )
        : alert(proven("danger"), "Deny", <Reasons of={answer.reasons} />)}
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
            new URL(questionLink(feed.source, question), location.href).href}
          what="the link to this answer"
          isLong
        />
      </div>
      <h3>The same on the command line</h3>
      <Command source={feed.commandSource} question={question} />
    </>
  );
}

function ask(
  { state }: OpenFeed,
  question: Question,
): CheckResult | { readonly error: string; readonly hint: unknown } {
  try {
    return check(state, {
      ...question,
      require: parseRequirements(question.require),
      now: new Date(),
      explain: true,
    });
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { error: error.message, hint: error.context.hint };
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

function Command({ source, question: { subject, require, at, asOf } }: {
  readonly source: string;
  readonly question: Question;
}) {
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
    ...(source.startsWith("did:") ? insecureFlag(source) : []),
    "--explain",
  ]);
  if (line !== undefined) return <Copyable visible={line} what="the command" />;
  return (
    <p class="quiet">
      The question holds characters that a terminal would obey or hide, so it
      can’t be copied as a command.
    </p>
  );
}
