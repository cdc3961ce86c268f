/** A login that succeeded. @module */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { namesIn } from "../feed/names.ts";
import { Did } from "../parts/copy.tsx";
import { useFocusOnAppearing } from "../parts/focus.ts";
import { Icon } from "../parts/icon.tsx";
import type { Site } from "../site/site.ts";
import { hostOf, isRecord, shortened, shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import type { Login } from "../server/config.ts";
import { grantWords, mustBe } from "./requirement_words.ts";
import type { LoginFlow } from "./use_login.ts";

/** What the issuer's own feed adds to the server's answer. */
interface FromFeed {
  readonly name: string;
  readonly sequence: number;
}

/** Who came in, because of what, and what the site knows now. */
export function Result({ site, login, flow, next }: {
  readonly site: Site;
  readonly login: Login;
  readonly flow: LoginFlow;
  readonly next: ComponentChildren;
}) {
  const heading = useFocusOnAppearing<HTMLHeadingElement>();
  const fromFeed = useFromFeed(site, login);
  const { relationship, subject, scopes, verified_at } = login;
  const require = isRecord(relationship)
    ? requirementsOf(relationship)
    : undefined;
  const issuer = typeof relationship?.issuer === "string"
    ? relationship.issuer
    : null;
  const what = mustBe(require, issuer);
  return (
    <section class="card sign-in-card result" data-kind="success">
      <p class="big-mark">
        <Icon name="yes" />
      </p>
      <h2 ref={heading} id="outcome">You are signed in</h2>
      <p class="who">
        <strong>{shown(fromFeed?.name || shortened(subject))}</strong>
        {what === undefined ? "" : `, ${what}`}
        {fromFeed && `, because of event #${fromFeed.sequence}`}, checked now.
      </p>
      <h3>
        What {hostOf(login.audience)} learned
      </h3>
      <ul class="learns">
        <li>
          your key’s name <Did did={subject} what="your did:key" />
        </li>
        {what !== undefined && <li>that you are {what}</li>}
        {scopes.map((scope) => <li key={scope}>{grantWords(scope)}</li>)}
        <li class="quiet">
          at <Time instant={verified_at} />, and nothing else
        </li>
      </ul>
      {next ?? (
        <div class="actions">
          <button type="button" onClick={() => void flow.start()}>
            Sign in again
          </button>
        </div>
      )}
    </section>
  );
}

function requirementsOf(
  relationship: Readonly<Record<string, unknown>>,
): readonly string[] {
  const { requirements } = relationship;
  return Array.isArray(requirements)
    ? requirements.filter(isRecord).map(({ key, value }) => `${key}=${value}`)
    : [];
}

/** Reads the issuer's feed, and what it calls the person. */
function useFromFeed(
  { readFeed }: Site,
  { relationship }: Login,
): FromFeed | undefined {
  const [found, setFound] = useState<FromFeed | undefined>();
  useEffect(() => {
    const { issuer, relationship_id, last_sequence } = relationship ?? {};
    if (typeof issuer !== "string" || typeof relationship_id !== "string") {
      return;
    }
    let gone = false;
    void (async () => {
      const feed = await readFeed(issuer, Number(last_sequence))
        .catch(() => undefined);
      const known = feed?.state?.by_relationship_id.get(relationship_id);
      if (gone || feed === undefined || known === undefined) return;
      setFound({
        name: namesIn(feed.events).get(relationship_id) ?? "",
        sequence: known.last_sequence,
      });
    })();
    return () => {
      gone = true;
    };
  }, [relationship]);
  return found;
}
