/** The result of verifying a feed. @module */

import type { ReportedFault } from "@sig/consumer";
import type { Warning } from "@sig/core";
import { Copyable } from "../copy.tsx";
import { Alert, Facts } from "../elements.tsx";
import { counted, visibleText } from "../text.ts";
import type { ViewProps } from "./elements.tsx";
import type { Opened } from "./use_feed.ts";

/** The progress, or why there is no valid feed to show. */
export function Unopened({ opened, autoFocus }: {
  readonly opened: Opened;
  readonly autoFocus: boolean;
}) {
  switch (opened.at) {
    case "reading":
      return (
        <div class="stack">
          <p class="quiet">
            {opened.share === undefined
              ? "Reading the documents…"
              : "Verifying every signature in this browser…"}
          </p>
          <progress max={1} value={opened.share} aria-label="Verified" />
        </div>
      );
    case "failed":
      return (
        <Alert kind="warning" title="No verdict" autoFocus={autoFocus}>
          <p>{visibleText(opened.why)}</p>
        </Alert>
      );
    case "invalid": {
      const { errors, warnings, issuer } = opened.report;
      return (
        <Alert kind="danger" title="Not valid" autoFocus={autoFocus}>
          <p>
            {counted(errors.length, "error")}{" "}
            found. Do not rely on anything in this feed, not even on lines
            without errors.
          </p>
          {issuer !== null && (
            <p>
              Issuer <code>{visibleText(issuer)}</code>
            </p>
          )}
          <ol class="faults">
            {errors.map((fault, i) => (
              <li key={i}>
                <p>
                  <code class="code">{fault.code}</code>{" "}
                  <strong>{placesOf(fault)}</strong>
                </p>
                <p>{visibleText(fault.detail)}</p>
              </li>
            ))}
          </ol>
          <Warnings warnings={warnings} />
        </Alert>
      );
    }
    case "open":
      return null;
  }
}

/** The keys, digest and warnings of a valid feed. */
export function IntegrityView({ ledger: { feed } }: ViewProps) {
  const { report } = feed;
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

/** Where a fault is, in words. */
function placesOf({ line, sequence, kid, pointer }: ReportedFault): string {
  return [
    line !== undefined && `line ${line}`,
    sequence !== undefined && `event ${sequence}`,
    kid !== undefined && `key ${visibleText(kid)}`,
    pointer !== undefined && `member ${visibleText(pointer)}`,
  ].filter(Boolean).join(", ");
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
