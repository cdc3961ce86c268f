/** Whether a feed is valid. @module */

import type { ReportedFault, VerifyReport } from "@sig/consumer";
import type { Warning } from "@sig/core";
import { Alert, Detail, Details, Fold } from "../elements.tsx";
import { useAutoFocus } from "../focus.ts";
import { counted, hostOf, visibleText } from "../text.ts";
import type { VerifiedDocuments } from "./verify_documents.ts";

/** How far verifying a feed is. */
export type Verification =
  | { readonly at: "reading" }
  | { readonly at: "verifying"; readonly bytes: number; readonly share: number }
  | { readonly at: "done"; readonly verified: VerifiedDocuments }
  /** It is unknown whether the feed is valid. */
  | { readonly at: "failed"; readonly why: string };

/** One line for a valid feed; the faults of another. */
export function Verdict({ verification, origin, autoFocus }: {
  readonly verification: Verification;
  /** Who the documents came from. */
  readonly origin: string;
  readonly autoFocus: boolean;
}) {
  switch (verification.at) {
    case "reading":
      return <p class="quiet">Reading the documents…</p>;
    case "verifying":
      return (
        <div class="progress">
          <p>
            Verifying{" "}
            {Math.ceil(verification.bytes / 1024).toLocaleString("en")}{" "}
            KiB in this browser…
          </p>
          <progress max={1} value={verification.share} aria-label="Verified" />
        </div>
      );
    case "failed":
      return (
        <Alert kind="warning">
          <Title autoFocus={autoFocus}>No verdict</Title>
          <p>{visibleText(verification.why)}</p>
        </Alert>
      );
    case "done": {
      const { report, state } = verification.verified;
      const title = (
        <Title autoFocus={autoFocus}>
          {report.valid ? "Valid" : "Not valid"}
        </Title>
      );
      return report.valid
        ? (
          <Valid
            report={report}
            relationships={state?.by_relationship_id.size ?? 0}
            origin={origin}
            title={title}
          />
        )
        : <Invalid report={report} title={title} />;
    }
  }
}

function Title({ autoFocus, children }: {
  readonly autoFocus: boolean;
  readonly children: string;
}) {
  return <h2 ref={useAutoFocus<HTMLHeadingElement>(autoFocus)}>{children}</h2>;
}

type Titled<Report> = Readonly<{
  report: Report;
  title: ReturnType<typeof Title>;
}>;

function Valid({ report, relationships, origin, title }:
  & Titled<Extract<VerifyReport, { valid: true }>>
  & { readonly relationships: number; readonly origin: string }) {
  const { issuer, verified_events, keys, warnings, feed_sha256 } = report;
  return (
    <Alert kind="success">
      <div class="verdict-row">
        <div>
          {title}
          <p>
            <strong>{hostOf(issuer)}</strong>:{" "}
            {counted(verified_events, "event")},{" "}
            {counted(relationships, "relationship")}
            <span class="wide-only">
              . All signatures and rules were checked.
            </span>
          </p>
        </div>
        <Fold
          class=""
          title={`Details${
            warnings.length > 0
              ? `, ${counted(warnings.length, "warning")}`
              : ""
          }`}
        >
          <Details>
            <Detail name="Issuer">
              <code>{visibleText(issuer)}</code>
            </Detail>
            <Detail name="Origin">{origin}</Detail>
            <Detail name="Keys">
              {keys.length === 0 && "no key has signed yet"}
              {keys.map(({ kid, events, first_sequence, last_sequence }) => (
                <p key={kid}>
                  <code>{visibleText(kid)}</code> signed{" "}
                  {counted(events, "event")}, #{first_sequence}
                  {first_sequence !== last_sequence && ` to #${last_sequence}`}
                </p>
              ))}
            </Detail>
            <Detail name="SHA-256">
              <code>{feed_sha256}</code>
            </Detail>
          </Details>
          <Warnings warnings={warnings} />
        </Fold>
      </div>
    </Alert>
  );
}

function Invalid(
  { report, title }: Titled<Extract<VerifyReport, { valid: false }>>,
) {
  return (
    <Alert kind="danger">
      {title}
      <p>
        {counted(report.errors.length, "error")}{" "}
        found. Do not rely on anything in this feed, not even on lines without
        errors.
      </p>
      {report.issuer !== null && (
        <p>
          Issuer <code>{visibleText(report.issuer)}</code>
        </p>
      )}
      <ol class="faults">
        {report.errors.map((fault, i) => <Fault key={i} fault={fault} />)}
      </ol>
      <Warnings warnings={report.warnings} />
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
  return warnings.length > 0 && (
    <ul class="reasons warnings">
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
