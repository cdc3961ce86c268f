/** What came of verifying a feed. @module */

import { useEffect, useRef } from "preact/hooks";
import { Fact, Facts } from "../parts/facts.tsx";
import { focusOn } from "../parts/focus.ts";
import { Notice } from "../parts/notice.tsx";
import { counted, hostOf, shown } from "../parts/text.ts";
import type { ReportedFault, VerifyReport, Warning } from "../libraries/mod.ts";
import type { Verification } from "./use_verification.ts";

const SHOWN_WARNINGS = 100;

/** What a verdict is drawn of. */
export interface VerdictProps {
  readonly verification: Verification;
  /** Who brought the documents, unless the person did. */
  readonly broughtBy: string | undefined;
  /** Whether the person waits for it. */
  readonly takesFocus: boolean;
}

/** One line where all is well; the faults where not. */
export function Verdict({ verification, broughtBy, takesFocus }: VerdictProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isOver = verification.at === "done" || verification.at === "none";
  useEffect(() => {
    if (isOver && takesFocus && heading.current) focusOn(heading.current);
  }, [verification]);
  return (
    <section id="verdict" aria-live="polite">
      {verification.at === "reading" && (
        <p class="quiet">Reading the documents…</p>
      )}
      {verification.at === "verifying" && (
        <div class="progress">
          <p>
            Verifying {(verification.bytes / 1024).toLocaleString("en", {
              maximumFractionDigits: 0,
            })} KiB in this browser…
          </p>
          <progress max={1} value={verification.share} aria-label="Verified" />
        </div>
      )}
      {verification.at === "none" && (
        <Notice kind="warning">
          <h2 ref={heading}>No verdict</h2>
          <p>{shown(verification.why)}</p>
        </Notice>
      )}
      {verification.at === "done" && (
        verification.checked.report.valid
          ? (
            <Valid
              report={verification.checked.report}
              relationships={verification.checked.state?.by_relationship_id
                .size ?? 0}
              broughtBy={broughtBy}
              heading={heading}
            />
          )
          : <Invalid report={verification.checked.report} heading={heading} />
      )}
    </section>
  );
}

type Heading = { readonly current: HTMLHeadingElement | null };

function Valid({ report, relationships, broughtBy, heading }: {
  readonly report: Extract<VerifyReport, { valid: true }>;
  readonly relationships: number;
  readonly broughtBy: string | undefined;
  readonly heading: Heading;
}) {
  return (
    <Notice kind="success">
      <div class="verdict-row">
        <div>
          <h2 ref={heading}>Valid</h2>
          <p>
            <strong>{hostOf(report.issuer)}</strong>:{" "}
            {counted(report.verified_events, "event")},{" "}
            {counted(relationships, "relationship")}
            <span class="wide-only">
              . Every signature and every rule holds.
            </span>
          </p>
        </div>
        <details>
          <summary>
            Details
            {report.warnings.length > 0 &&
              `, ${counted(report.warnings.length, "warning")}`}
          </summary>
          <Facts>
            <Fact name="Issuer">
              <code>{shown(report.issuer)}</code>
            </Fact>
            <Fact name="Origin">
              {broughtBy !== undefined
                ? `${broughtBy}, so their origin is its word. The signatures are the issuer’s.`
                : "The documents are your own; that they are the issuer’s is yours to know."}
            </Fact>
            <Fact name="Keys">
              {report.keys.length === 0
                ? "none has signed yet"
                : report.keys.map((
                  { kid, events, first_sequence, last_sequence },
                ) => (
                  <p key={kid}>
                    <code>{shown(kid)}</code> signed {counted(events, "event")},
                    {" "}
                    {first_sequence === last_sequence
                      ? `#${first_sequence}`
                      : `#${first_sequence} to #${last_sequence}`}
                  </p>
                ))}
            </Fact>
            <Fact name="SHA-256">
              <code>{report.feed_sha256}</code>
            </Fact>
          </Facts>
          <Warnings warnings={report.warnings} />
        </details>
      </div>
    </Notice>
  );
}

function Invalid({ report, heading }: {
  readonly report: Extract<VerifyReport, { valid: false }>;
  readonly heading: Heading;
}) {
  return (
    <Notice kind="danger">
      <h2 ref={heading}>Not valid</h2>
      <p>
        {counted(report.errors.length, "fault")}{" "}
        found. Nothing in this feed may be relied upon, not even the lines
        without a fault.
      </p>
      {report.issuer !== null && (
        <p>
          Issuer <code>{shown(report.issuer)}</code>
        </p>
      )}
      <ol class="faults">
        {report.errors.map((fault, i) => <Fault key={i} fault={fault} />)}
      </ol>
      <Warnings warnings={report.warnings} />
    </Notice>
  );
}

function Fault({ fault }: { readonly fault: ReportedFault }) {
  const { code, detail, line, sequence, kid, pointer } = fault;
  const places = [
    line === undefined ? "" : `line ${line}`,
    sequence === undefined ? "" : `event ${sequence}`,
    kid === undefined ? "" : `key ${shown(kid)}`,
    pointer === undefined ? "" : `member ${shown(pointer)}`,
  ].filter(Boolean);
  return (
    <li>
      <p>
        <code class="code">{code}</code>
        {places.length > 0 && <strong>{` ${places.join(", ")}`}</strong>}
      </p>
      <p>{shown(detail)}</p>
    </li>
  );
}

function Warnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul class="reasons warnings">
      {warnings.slice(0, SHOWN_WARNINGS).map((
        { code, detail, sequence },
        i,
      ) => (
        <li key={i}>
          {shown(detail)}
          {sequence === undefined ? " " : ` (event ${sequence}) `}
          <code class="code">{code}</code>
        </li>
      ))}
    </ul>
  );
}
