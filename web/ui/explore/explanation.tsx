/** How an answer came about, relationship by relationship. @module */

import type { CheckResult, ExplainedRelationship } from "../libraries/mod.ts";
import { being } from "../feed/names.ts";
import { Icon } from "../parts/icon.tsx";
import { counted, shown } from "../parts/text.ts";
import { Time } from "../parts/time.tsx";
import { StatusBadge } from "./status.tsx";

/** Every relationship of the subject: what it meets, and why it holds or not. */
export function Explanation({ answer }: { readonly answer: CheckResult }) {
  const { explain } = answer;
  if (explain === undefined) return null;
  const { tense, judged_at, events, relationships } = explain;
  return (
    <div class="explanation">
      <p class="quiet">
        {tense === "now"
          ? "Judged by the feed’s last word, at "
          : "Judged by what was true at "}
        <Time instant={judged_at} />, from {counted(events, "event")}.
      </p>
      {relationships.length === 0
        ? <p>No event of the feed is about this subject.</p>
        : (
          <ul class="judged">
            {relationships.map((each) => (
              <Judged key={each.relationship_id} relationship={each} />
            ))}
          </ul>
        )}
    </div>
  );
}

function Judged({ relationship }: {
  readonly relationship: ExplainedRelationship;
}) {
  const { relationship_id, relationship_type, requirements } = relationship;
  const holds = relationship.effective_status === "active";
  return (
    <li>
      <div class="row">
        <strong>{being(shown(relationship_type))}</strong>
        <code class="quiet">{shown(relationship_id)}</code>
        <StatusBadge status={relationship.effective_status} />
      </div>
      <ul class="met">
        {requirements.map(({ key, value, met }, i) => (
          <li key={i} data-met={met}>
            <Icon name={met ? "yes" : "no"} />
            <code>{shown(`${key}=${value}`)}</code>
            {met ? " met" : " not met"}
          </li>
        ))}
        <li data-met={holds}>
          <Icon name={holds ? "yes" : "no"} />
          <span>
            <Force relationship={relationship} />
          </span>
        </li>
      </ul>
    </li>
  );
}

/** In force, or ended by which event. */
function Force({ relationship }: {
  readonly relationship: ExplainedRelationship;
}) {
  const { effective_status, last_sequence, valid_from, valid_until } =
    relationship;
  const event = <strong>event #{last_sequence}</strong>;
  switch (effective_status) {
    case "active":
      return (
        <>
          in force by {event}
          {valid_until !== null && (
            <>
              , until <Time instant={valid_until} />
            </>
          )}
        </>
      );
    case "revoked":
      return <>ended by {event}</>;
    case "expired":
      return (
        <>
          ended at {valid_until !== null && <Time instant={valid_until} />}, as
          {" "}
          {event} said
        </>
      );
    case "not_yet_valid":
      return valid_from === null ? <>not known yet: {event} came later</> : (
        <>
          begins at <Time instant={valid_from} />, as {event} says
        </>
      );
  }
}
