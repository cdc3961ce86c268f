/** A login that was refused: said once, with what helps. @module */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { askLink } from "../parts/route.ts";
import { CopyButton } from "../parts/copy.tsx";
import { useFocusOnAppearing } from "../parts/focus.ts";
import type { CheckResult, FeedState } from "../libraries/mod.ts";
import { Notice } from "../parts/notice.tsx";
import type { Site } from "../site/site.ts";
import { isRecord, shown } from "../parts/text.ts";
import { meaningOf, reasonSentence } from "../server/meanings.ts";
import type { Problem } from "../server/problem.ts";
import { deniedWords, reasonsOf } from "./refusal_words.ts";
import type { LoginFlow, Stage } from "./use_login.ts";

/** What a refusal is drawn of. */
export interface RefusalProps {
  readonly site: Site;
  readonly flow: LoginFlow;
  readonly stage: Extract<Stage, { at: "refused" }>;
  readonly next: ComponentChildren;
}

/** One heading, one sentence, one action. */
export function Refusal(props: RefusalProps) {
  return props.stage.problem.code === "relationship_denied"
    ? <Denied {...props} />
    : <Refused {...props} />;
}

function Refused({ flow, stage: { problem } }: RefusalProps) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>();
  const { title, next, again } = meaningOf(
    problem.code,
    problem.message,
    problem.hint,
  );
  return (
    <section class="card sign-in-card">
      <Notice kind="danger">
        <h2 ref={heading} id="outcome">{shown(title)}</h2>
        {next !== "" && <p>{shown(next)}</p>}
      </Notice>
      <FieldErrors problem={problem} />
      {again && (
        <div class="actions">
          <button
            type="button"
            class="primary"
            onClick={() => void flow.start()}
          >
            Try again
          </button>
        </div>
      )}
      <Exactly problem={problem} />
    </section>
  );
}

function Denied({ site, flow, stage, next }: RefusalProps) {
  const { problem, subject } = stage;
  const { config } = site;
  const heading = useFocusOnAppearing<HTMLHeadingElement>();
  const require = flow.asked?.challenge.require ?? config.require ?? [];
  const seen = useFeedsWord(site, { problem, subject, require });
  const reasons = seen?.answer.reasons ?? reasonsOf(problem);
  const relationshipId = reasons.find((it) => it.relationship_id !== undefined)
    ?.relationship_id;
  const words = deniedWords(
    config.issuer,
    reasons,
    relationshipId === undefined
      ? undefined
      : seen?.state.by_relationship_id.get(relationshipId),
    new Date(),
  );
  const issuerIndex = config.issuers.findIndex(({ did }) =>
    did === config.issuer
  );
  const first = reasons[0]?.code;
  return (
    <section class="card sign-in-card">
      <Notice kind="danger">
        <h2 ref={heading} id="outcome">
          {words?.title ??
            (typeof first === "string"
              ? reasonSentence(first)
              : "This site does not let you in")}
        </h2>
        <p>{words?.next ?? shown(problem.hint)}</p>
      </Notice>
      <div class="actions">
        {words?.isUnknown && subject !== undefined
          ? (
            <CopyButton
              text={() => subject}
              what="your key’s name"
              spelled="primary"
            />
          )
          : null}
        {issuerIndex >= 0 && subject !== undefined && (
          <a
            class={words?.isUnknown ? "button" : "button primary"}
            href={askLink(issuerIndex, {
              subject,
              require,
            })}
          >
            See it in the feed
          </a>
        )}
        {next}
      </div>
      <Exactly problem={problem} />
    </section>
  );
}

/** The words of the server, for whoever must report them. */
function Exactly({ problem }: { readonly problem: Problem }) {
  return (
    <details class="more">
      <summary>Details</summary>
      <p>
        {shown(problem.message)} <code class="code">{shown(problem.code)}</code>
      </p>
      {problem.hint !== "" && <p class="quiet">{shown(problem.hint)}</p>}
      <ul class="reasons">
        {reasonsOf(problem).map(({ code }, i) => (
          <li key={i}>{shown(reasonSentence(String(code)))}</li>
        ))}
      </ul>
    </details>
  );
}

function FieldErrors({ problem: { body } }: { readonly problem: Problem }) {
  if (!Array.isArray(body.errors)) return null;
  return (
    <ul class="reasons">
      {body.errors.filter(isRecord).map(({ pointer, detail }, i) => (
        <li key={i}>
          <code>{shown(pointer ?? "")}</code> {shown(detail ?? "")}
        </li>
      ))}
    </ul>
  );
}

/** The server says no; the feed itself says why, and anyone can check it. */
function useFeedsWord(
  { config, readFeed }: Site,
  { problem, subject, require }: {
    readonly problem: Problem;
    readonly subject: string | undefined;
    readonly require: readonly string[];
  },
): { answer: CheckResult; state: FeedState } | undefined {
  const [word, setWord] = useState<
    { answer: CheckResult; state: FeedState } | undefined
  >();
  useEffect(() => {
    const { issuer } = config;
    if (issuer === null || subject === undefined) return;
    const known = reasonsOf(problem).map(({ sequence }) =>
      Number(sequence ?? 0)
    );
    let gone = false;
    void (async () => {
      const feed = await readFeed(issuer, Math.max(0, ...known))
        .catch(() => undefined);
      const state = feed?.state;
      const answer = feed?.ask(subject, require);
      if (gone || state === undefined) return;
      // The feed may have moved on since: the server's word stands then.
      if (answer?.decision === "deny") setWord({ answer, state });
    })();
    return () => {
      gone = true;
    };
  }, [problem]);
  return word;
}
