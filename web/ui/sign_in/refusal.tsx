/** A sign-in that was refused: why, and what helps. @module */

import type { DenyReason, Reason } from "@sig/core";
import type { ComponentChildren } from "preact";
import type { PageContext, Problem } from "../api.ts";
import { CopyButton } from "../copy.tsx";
import { Button, Fold, Outcome } from "../elements.tsx";
import { questionLink } from "../route.ts";
import { hostOf, isRecord, typeLabel, visibleText } from "../text.ts";
import { spokenTime } from "../time.tsx";
import { denyReasonText, explainError } from "./error_texts.ts";
import type { SignIn, SignInState } from "./use_sign_in.ts";

interface RefusalProps {
  readonly page: PageContext;
  readonly signIn: SignIn;
  readonly state: Extract<SignInState, { at: "refused" }>;
  readonly next: ComponentChildren;
}

/** One heading, one sentence, one action. */
export function Refusal(props: RefusalProps) {
  const { problem } = props.state;
  if (problem.code === "relationship_denied") return <Denied {...props} />;
  const { title, next, canRetry } = explainError(problem);
  return (
    <Outcome
      kind="danger"
      title={visibleText(title)}
      text={visibleText(next)}
      actions={canRetry && (
        <Button
          class="primary"
          onClick={() => void props.signIn.start()}
        >
          Try again
        </Button>
      )}
    >
      <FieldErrors problem={problem} />
      <ServerWords problem={problem} />
    </Outcome>
  );
}

function Denied({ page, signIn, state, next }: RefusalProps) {
  const { problem, subject } = state;
  const { config } = page;
  const require = signIn.request?.challenge.require ?? config.require ?? [];
  const { title, hint, isUnknown } = explainDeny(config.issuer, problem);
  const issuer = config.issuers.findIndex(({ did }) => did === config.issuer);
  return (
    <Outcome
      kind="danger"
      title={title}
      text={hint}
      actions={
        <>
          {isUnknown && subject !== undefined && (
            <CopyButton text={() => subject} what="your key’s name" isPrimary />
          )}
          {issuer >= 0 && subject !== undefined && (
            <a
              class={isUnknown ? "button" : "button primary"}
              href={questionLink(issuer, { subject, require })}
            >
              See it in the feed
            </a>
          )}
          {next}
        </>
      }
    >
      <ServerWords problem={problem} />
    </Outcome>
  );
}

/** The exact problem, for reports. */
function ServerWords({ problem }: { readonly problem: Problem }) {
  return (
    <Fold title="Details">
      <p>
        {visibleText(problem.message)}{" "}
        <code class="code">{visibleText(problem.code)}</code>
      </p>
      {problem.hint !== "" && <p class="quiet">{visibleText(problem.hint)}</p>}
      <ul class="reasons">
        {reasonsOf(problem).map(({ code }, i) => (
          <li key={i}>{visibleText(denyReasonText(code))}</li>
        ))}
      </ul>
    </Fold>
  );
}

function FieldErrors({ problem: { body } }: { readonly problem: Problem }) {
  if (!Array.isArray(body.errors)) return null;
  return (
    <ul class="reasons">
      {body.errors.filter(isRecord).map(({ pointer, detail }, i) => (
        <li key={i}>
          <code>{visibleText(pointer ?? "")}</code> {visibleText(detail ?? "")}
        </li>
      ))}
    </ul>
  );
}

/** The server's reasons, as far as they have the form of reasons. */
function reasonsOf({ body }: Problem): readonly Partial<Reason>[] {
  return Array.isArray(body.reasons) ? body.reasons.filter(isRecord) : [];
}

/** What ended or begins says more than what is missing. */
const ORDER: readonly DenyReason[] = [
  "revoked",
  "expired",
  "not_yet_valid",
  "role_missing",
  "relationship_type_missing",
  "no_relationship",
  "relationship_id_missing",
  "requirements_split",
];

const ONLY_THE_ISSUER =
  "Only the issuer can change it. This site just reads what it publishes.";

/** The reason that tells most, with what the relationship was. */
function explainDeny(did: string | null, problem: Problem) {
  const reasons = reasonsOf(problem);
  const host = did === null ? "The issuer" : hostOf(did);
  const reason = ORDER.map((code) => reasons.find((it) => it.code === code))
    .find((it) => it !== undefined);
  const { code, sequence, requirement } = reason ?? {};
  const relationship = isRecord(problem.body.relationship)
    ? problem.body.relationship
    : {};
  const event = Number.isSafeInteger(sequence) ? ` (event #${sequence})` : "";
  const what = NOUNS.get(String(relationship.relationship_type)) ??
    "relationship";
  const value = visibleText(requirement?.value ?? "");
  const at = (member: string) => {
    const instant = relationship[member];
    return typeof instant === "string"
      ? ` ${spokenTime(instant, new Date())}`
      : "";
  };
  const say = (title: string, hint = ONLY_THE_ISSUER) => ({
    title,
    hint,
    isUnknown: code === "no_relationship",
  });
  switch (code) {
    case "revoked":
      return say(
        `${host} ended your ${what}${at("revoked_effective_at")}${event}`,
      );
    case "expired":
      return say(`Your ${what} at ${host} ended${at("valid_until")}${event}`);
    case "not_yet_valid":
      return say(
        `Your ${what} at ${host} begins${at("valid_from") || " later"}${event}`,
        "Come back then.",
      );
    case "role_missing":
      return say(`${host} has not given you the role ${value}`);
    case "relationship_type_missing":
      return say(`${host} does not list you as ${typeLabel(value)}`);
    case "no_relationship":
      return say(
        `${host} does not know this key`,
        "Send them your key’s name. Once they add it to their feed, you can sign in.",
      );
    case undefined:
      return say("This site does not let you in", visibleText(problem.hint));
    default:
      return say(
        `Your relationship with ${host} does not meet what is required`,
      );
  }
}

/** What a person has, for types whose noun everybody knows. */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ["employee", "employment"],
  ["contractor", "contract"],
  ["advisor", "role as advisor"],
  ["founder", "role as founder"],
  ["investor", "role as investor"],
  ["admin_delegate", "role as administrator"],
]);
