/** What a relationship comes to, and when. @module */

import type { EffectiveStatus } from "../libraries/mod.ts";
import { Badge } from "../parts/notice.tsx";
import { Time } from "../parts/time.tsx";

/** A word for each status, as people say it. */
export const STATUS_WORDS: Readonly<Record<EffectiveStatus, string>> = {
  active: "active",
  not_yet_valid: "not yet",
  expired: "expired",
  revoked: "ended",
};

/** The word with its mark. */
export function StatusBadge({ status }: { readonly status: EffectiveStatus }) {
  const word = STATUS_WORDS[status];
  switch (status) {
    case "active":
      return <Badge kind="success">{word}</Badge>;
    case "revoked":
      return <Badge kind="danger">{word}</Badge>;
    case "expired":
    case "not_yet_valid":
      return <Badge kind="warning" mark="clock">{word}</Badge>;
  }
}

/** Start and end of validity. */
export function Validity({ from, until }: {
  readonly from: string | null;
  readonly until: string | null;
}) {
  if (from === null && until === null) return <span>no start or end set</span>;
  return (
    <span>
      {from !== null && (
        <>
          from <Time instant={from} />
        </>
      )}
      {from !== null && until !== null ? " " : ""}
      {until !== null && (
        <>
          until <Time instant={until} />
        </>
      )}
    </span>
  );
}
