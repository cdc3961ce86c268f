/** The result of verifying a feed. @module */

import type { ReportedFault } from "@sig/consumer";
import type { Warning } from "@sig/core";
import { Copyable } from "../copy.tsx";
import { Alert, Facts } from "../elements.tsx";
import { counted, visibleText } from "../text.ts";
import type { Documents, VerifiedDocuments } from "./documents.ts";
import type { ViewProps } from "./elements.tsx";

/** The progress of verifying a feed. */
export type Verification =
  /** The verified part, from 0 to 1; undefined while documents are read. */
  | { readonly share: number | undefined }
  | { readonly verified: VerifiedDocuments; readonly documents: Documents }
  /** Why the feed could not be verified. */
  | { readonly why: string };

/** The progress, or why there is no valid feed to show. */
export function Unopened({ verification, autoFocus }: {
  readonly verification: Verification;
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
  const { report } = verification.verified;
  if (report.valid) return null;
  const { warnings, issuer } = report;
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

/** The keys, digest and warnings of a valid feed. */
export function IntegrityView({ ledger: { feed } }: ViewProps) {
  const { report } = feed;
  if (!report.valid) return null;
  return (
    <article class="card object" id="integrity">
      <h2 tabIndex={-1}>Integrity</h2>
      <p>
        Every signature and every rule of the feed was verified in this browser.
      </p>
      <Facts
        of={{
          Issuer: <code>{visibleText(report.issuer)}</code>,
          Origin: feed.isProven
            ? "This server passed the documents on, so their origin is only as certain as this server. The signatures are the issuer’s."
            : "These are your own files. Only you know whether they are the issuer’s.",
          Events: counted(report.verified_events, "event"),
          Keys: report.keys.length === 0
            ? "no key has signed yet"
            : report.keys.map((
              { kid, events, first_sequence, last_sequence },
            ) => (
              <p key={kid}>
                <code>{visibleText(kid)}</code> signed{" "}
                {counted(events, "event")}, #{first_sequence}
                {first_sequence !== last_sequence && ` to #${last_sequence}`}
              </p>
            )),
          "SHA-256": (
            <Copyable visible={report.feed_sha256} what="the SHA-256" />
          ),
        }}
      />
      <h3>
        {report.warnings.length === 0
          ? "No warnings"
          : counted(report.warnings.length, "warning")}
      </h3>
      <Warnings warnings={report.warnings} />
    </article>
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
