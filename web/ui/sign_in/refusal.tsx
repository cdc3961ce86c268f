/** A refused sign-in: the reason, and what to do next. @module */

import type { DenyReason, Reason } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { ComponentChildren } from "preact";
import { type Problem, usePage } from "../api.ts";
import { CopyButton } from "../copy.tsx";
import { Button, Fold, Outcome } from "../elements.tsx";
import { questionLink } from "../route.ts";
import { hostOf, typeLabel, visibleText } from "../text.ts";
import { spokenTime } from "../time.tsx";
import { denyReasonText, type ErrorText, explainError } from "./error_texts.ts";
import type { SignIn, SignInState } from "./use_sign_in.ts";

/** One heading, one sentence, one action. */
export function Refusal({ signIn, state: { problem, subject }, next }: {
  readonly signIn: SignIn;
  readonly state: Extract<SignInState, { at: "refused" }>;
  /** The next step after a deny in the demo. */
  readonly next: ComponentChildren;
}) {
  const { issuer, issuers, require } = usePage().config;
  const isDenied = problem.code === "relationship_denied";
  const reasons: readonly Partial<Reason>[] = recordsOf(problem.body.reasons);
  const host = issuer === null ? "the issuer" : hostOf(issuer);
  const { title, next: advice, isOpen = false, canRetry = false } = isDenied
    ? explainDeny(host, problem, reasons)
    : explainError(problem, host);
  const isUnknown = reasons[0]?.code === "no_relationship";
  const isServed = issuers.some(({ did }) => did === issuer);
  return (
    <Outcome
      kind={isOpen ? "warning" : "danger"}
      icon={isOpen ? "clock" : undefined}
      title={visibleText(title)}
      text={visibleText(advice)}
      actions={isDenied
        ? (
          <>
            {isUnknown && subject !== undefined && (
              <CopyButton
                text={() => subject}
                what="your key’s name"
                look="primary"
              />
            )}
            {isServed && subject !== undefined && (
              <a
                class={isUnknown ? "button" : "button primary"}
                href={questionLink(host, {
                  subject,
                  require: signIn.request?.challenge.require ?? require ?? [],
                })}
              >
                See it in the feed
              </a>
            )}
            {isUnknown && (
              <a class="button" href="#/keys/device">Add a device</a>
            )}
            {next}
          </>
        )
        : canRetry && (
          <Button class="primary" onClick={signIn.start}>Try again</Button>
        )}
    >
      <ul class="plain">
        {recordsOf(problem.body.errors).map(({ pointer, detail }, i) => (
          <li key={i}>
            <code>{visibleText(pointer ?? "")}</code>{" "}
            {visibleText(detail ?? "")}
          </li>
        ))}
      </ul>
      <Fold title="Details">
        <p>
          {visibleText(problem.message)}{" "}
          <code class="code">{visibleText(problem.code)}</code>
        </p>
        {problem.hint && <p class="quiet">{visibleText(problem.hint)}</p>}
        <ul class="plain">
          {reasons.map(({ code }, i) => (
            <li key={i}>{visibleText(denyReasonText(code))}</li>
          ))}
        </ul>
      </Fold>
    </Outcome>
  );
}

function recordsOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

const NEXT: ReadonlyMap<string, string> = new Map([
  ["not_yet_valid", "Come back then."],
  [
    "no_relationship",
    "If they know you by a key on another device, add this device to it. Otherwise send them your key’s name; once they add it, you can sign in.",
  ],
]);

/** Explains the first reason of `titles` that the server gave. */
function explainDeny(
  issuer: string,
  { body, hint }: Problem,
  reasons: readonly Partial<Reason>[],
): Partial<ErrorText> & Pick<ErrorText, "title" | "next"> {
  const host = issuer.replace(/^the /, "The ");
  const relationship = isObject(body.relationship) ? body.relationship : {};
  const what = NOUNS.get(String(relationship.relationship_type)) ??
    "relationship";
  const at = (member: string, otherwise = "") => {
    const instant = relationship[member];
    return typeof instant === "string"
      ? ` ${spokenTime(instant, new Date())}`
      : otherwise;
  };
  const find = (code: string) => reasons.find((each) => each.code === code);
  const valueOf = (code: DenyReason) =>
    visibleText(find(code)?.requirement?.value ?? "");
  const unmet = `Your relationship with ${host} does not meet what is required`;
  // An end or a beginning explains more than a missing role.
  const titles: Readonly<Record<DenyReason, string>> = {
    revoked: `${host} ended your ${what}${at("revoked_effective_at")}`,
    expired: `Your ${what} at ${host} ended${at("valid_until")}`,
    not_yet_valid: `Your ${what} at ${host} begins${
      at("valid_from", " later")
    }`,
    role_missing: `${host} has not given you the role ${
      valueOf("role_missing")
    }`,
    relationship_type_missing: `${host} does not list you as ${
      typeLabel(valueOf("relationship_type_missing"))
    }`,
    no_relationship: `${host} does not know this key`,
    relationship_id_missing: unmet,
    requirements_split: unmet,
  };
  // Another key of the person may still be in force.
  if (body.ended === "key") {
    const next = "Your other key still works: sign in with it.";
    return { title: `${host} ended this key`, next };
  }
  const given = Object.entries(titles).find(([code]) => find(code));
  if (given === undefined) {
    return { title: "This site does not let you in", next: hint };
  }
  const [code, title] = given;
  const { sequence } = find(code) ?? {};
  return {
    title: title +
      (Number.isSafeInteger(sequence) ? ` (event #${sequence})` : ""),
    next: NEXT.get(code) ??
      "Only the issuer can change it. This site just reads what it publishes.",
  };
}

/** Nouns for well-known relationship types. */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ["employee", "employment"],
  ["contractor", "contract"],
  ["advisor", "role as advisor"],
  ["founder", "role as founder"],
  ["investor", "role as investor"],
  ["admin_delegate", "role as administrator"],
]);
