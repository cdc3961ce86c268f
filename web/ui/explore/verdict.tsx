/** The result of verifying a feed. @module */

import type { ReportedFault } from "@sig/consumer";
import type { Warning } from "@sig/core";
import { Alert, Facts, Fold } from "../elements.tsx";
import { counted, hostOf, visibleText } from "../text.ts";
import type { VerifiedDocuments } from "./verify_documents.ts";

/** The progress of verifying a feed. */
export type Verification =
  /** The verified part, from 0 to 1; undefined while documents are read. */
  | { readonly share: number | undefined }
  | { readonly verified: VerifiedDocuments }
  /** Why the feed could not be verified. */
  | { readonly why: string };

/** One line for a valid feed, or the faults of an invalid one. */
export function Verdict({ verification, origin, autoFocus }: {
  readonly verification: Verification;
  /** Where the documents came from. */
  readonly origin: string;
  readonly autoFocus: boolean;
}) {
  if ("share" in verification) {
    const { share } = verification;
    return (
      <div class="stack">
        <p class="quiet">
          {share === undefined
            ? "Reading the documents…"
            : "Verifying every signature in this browser…"}
        </p>
        <progress max={1} value={share} aria-label="Verified" />
      </div>
    );
  }
  if ("why" in verification) {
    return (
      <Alert kind="warning" title="No verdict" autoFocus={autoFocus}>
        <p>{visibleText(verification.why)}</p>
      </Alert>
    );
  }
  const { report, state } = verification.verified;
  const { warnings, issuer } = report;
  if (!report.valid) {
    return (
      <Alert kind="danger" title="Not valid" autoFocus={autoFocus}>
        <p>
          {counted(report.errors.length, "error")}{" "}
          found. Do not rely on anything in this feed, not even on lines without
          errors.
        </p>
        {issuer !== null && (
          <p>
            Issuer <code>{visibleText(issuer)}</code>
          </p>
        )}
        <ol class="faults">
          {report.errors.map((fault, i) => <Fault key={i} fault={fault} />)}
        </ol>
        <Warnings warnings={warnings} />
      </Alert>
    );
  }
  const more = warnings.length > 0
    ? `, ${counted(warnings.length, "warning")}`
    : "";
  return (
    <Alert kind="success" title="Valid" autoFocus={autoFocus}>
      <p>
        <span class="wide-only">
          <strong>{hostOf(report.issuer)}</strong>:{" "}
        </span>
        {counted(report.verified_events, "event")},{" "}
        {counted(state?.by_relationship_id.size ?? 0, "relationship")}
      </p>
      <Fold title={`Details${more}`}>
        <Facts
          of={{
            Issuer: <code>{visibleText(report.issuer)}</code>,
            Origin: origin,
            Keys: report.keys.length === 0
              ? "no key has signed yet"
              : report.keys.map((
                { kid, events, first_sequence: first, last_sequence: last },
              ) => (
                <p key={kid}>
                  <code>{visibleText(kid)}</code> signed{" "}
                  {counted(events, "event")}, #{first}
                  {first !== last && ` to #${last}`}
                </p>
              )),
            "SHA-256": <code>{report.feed_sha256}</code>,
          }}
        />
        <Warnings warnings={warnings} />
      </Fold>
    </Alert>
  );
}

function Fault({ fault }: { readonly fault: ReportedFault }) {
  const { code, detail, line, sequence, kid, pointer } = fault;
  const places = [
    line !== undefined && `line ${line}`,
    sequence !== undefined && `event ${sequence}`,
    kid !== undefined && `key ${visibleText(kid)}`,
    pointer !== undefined && `member ${visibleText(pointer)}`,
  ].filter(Boolean);
  return (
    <li>
      <p>
        <code class="code">{code}</code> <strong>{places.join(", ")}</strong>
      </p>
      <p>{visibleText(detail)}</p>
    </li>
  );
}

const SHOWN_WARNINGS = 100;

function Warnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  return (
    <ul class="plain">
      {warnings.slice(0, SHOWN_WARNINGS).map((
        { code, detail, sequence },
        i,
      ) => (
        <li key={i}>
          {visibleText(detail)}
          {sequence !== undefined && ` (event ${sequence})`}{" "}
          <code class="code">{code}</code>
        </li>
      ))}
    </ul>
  );
}
