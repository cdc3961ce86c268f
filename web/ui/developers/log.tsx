/** What was sent and received, for developers. @module */

import { isRecord, shown } from "../parts/text.ts";
import type { Exchange } from "../server/api.ts";
import { decodeAttestation } from "../sign_in/attestation.ts";

/** The newest exchange first. */
export function Log({ exchanges }: {
  readonly exchanges: readonly Exchange[];
}) {
  return (
    <section class="card log" id="log" aria-labelledby="log-title">
      <h2 id="log-title">What was sent and received</h2>
      {exchanges.length === 0
        ? <p class="quiet">Nothing yet: make a request.</p>
        : exchanges.map((each, i) => (
          <Entry key={exchanges.length - i} exchange={each} open={i === 0} />
        ))}
    </section>
  );
}

function Entry({ exchange, open }: {
  readonly exchange: Exchange;
  readonly open: boolean;
}) {
  const { method, path, sent, status, received } = exchange;
  const jwt = isRecord(sent) && typeof sent.attestation === "string"
    ? sent.attestation
    : undefined;
  const decoded = jwt === undefined ? undefined : decodeAttestation(jwt);
  return (
    <details class="exchange" open={open}>
      <summary>
        <code>{method} {shown(path)}</code>
        <span class="code">{status === 0 ? "no answer" : status}</span>
      </summary>
      <Json title="Sent" value={sent} />
      <Json title="The attestation's header" value={decoded?.header} />
      <Json title="The attestation's claims" value={decoded?.claims} />
      <Json title="Received" value={received} />
    </details>
  );
}

function Json({ title, value }: {
  readonly title: string;
  readonly value: unknown;
}) {
  if (value === undefined) return null;
  return (
    <>
      <h3>{title}</h3>
      <pre tabIndex={0}>
        {shown(JSON.stringify(value, null, 2), { lines: true })}
      </pre>
    </>
  );
}
