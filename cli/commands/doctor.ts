import { isSigError } from "@sig/core";
import type {
  IssuerLocation,
  Source,
  VerifiedIssuer,
  VerifyIssuerOptions,
} from "@sig/consumer";
import type { Call, Command } from "../command_line/command.ts";
import {
  type Colour,
  colour,
  groupByLines,
  placeOf,
  safe,
  writeJson,
} from "../command_line/output.ts";
import { type Finding, sarif } from "../ask/finding.ts";
import type { EventPrints } from "../ask/event_prints.ts";
import type { FindingCode } from "../ask/finding_texts.ts";
import { found } from "../ask/found.ts";
import { FeedExamination } from "../ask/examine_feed.ts";
import { examineDocuments, publishedKids } from "../ask/examine_documents.ts";
import { examineServed } from "../ask/examine_served.ts";
import { examineDisk } from "../ask/examine_disk.ts";
import {
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_HELP,
  SOURCE_WORD,
  sourceOf,
  sourceOptions,
  withSource,
} from "../ask/source_flags.ts";

/** `sig doctor` */
export const doctor: Command = {
  name: "doctor",
  summary: "find what is wrong with an issuer, or may become so",
  description:
    "Looks at documents, keys and feed; of a host also at certificate, headers and\nwhat else is served; of a directory at permissions. With --against it compares\nwith a published copy. Exits 1 when a finding is an error, and 2 when the source\ncan't be read. Every finding: docs/reference/findings.md",
  positionals: [SOURCE_WORD],
  flags: [
    SOURCE_FLAG,
    {
      name: "against",
      value: "SOURCE",
      help: `what is published of it: ${SOURCE_HELP}`,
    },
    ...POLICY_FLAGS,
  ],
  formats: ["sarif"],
  examples: [
    "sig doctor acme.example",
    "sig doctor ./acme.example --against acme.example --format sarif > doctor.sarif",
  ],
  async run(call) {
    const source = sourceOf(call);
    const { parseSource } = await import("@sig/consumer");
    const place = parseSource(source, sourceOptions(call));
    const examined = await withSource(
      call,
      source,
      (location, options) => examine(call, place, location, options),
    );
    const findings = [...examined.findings];
    const { verified } = examined;
    if (verified !== undefined) {
      const against = call.text("against");
      if (against !== undefined) {
        const { prints } = examined;
        findings.push(...await compare(call, verified, prints, against));
      }
    }
    report(call, findings);
    return findings.some(({ severity }) => severity === "error") ? 1 : 0;
  },
};

interface Examined {
  readonly findings: readonly Finding[];
  /** Of the events that were verified. */
  readonly prints: EventPrints;
  /** Undefined where what is published is faulty. */
  readonly verified?: VerifiedIssuer;
}

/** Verifies, and looks further where that went well. */
async function examine(
  call: Call,
  place: Source,
  location: IssuerLocation,
  options: VerifyIssuerOptions,
): Promise<Examined> {
  const { isFault, loadIssuer, probeUrl, reportIssuer, verifyIssuer } =
    await import("@sig/consumer");
  const feed = new FeedExamination();
  const { EventPrints } = await import("../ask/event_prints.ts");
  const prints = new EventPrints();
  const onEvent: VerifyIssuerOptions["onEvent"] = (event) => {
    feed.add(event);
    prints.add(event);
  };
  try {
    const verified = await verifyIssuer(location, { ...options, onEvent });
    const { metadata } = await loadIssuer(location, options);
    const now = call.io.now();
    const allowPrivate = call.on("allow-insecure");
    return {
      verified,
      prints,
      findings: [
        ...feed.findings(verified, now),
        ...await examineDocuments(location, metadata, verified),
        ...place.kind === "directory"
          ? await examineDisk(
            call.io,
            place.path,
            verified.issuer,
            await publishedKids(location, metadata),
          )
          : [],
        ...location.reader.kind === "remote"
          ? await examineServed({
            location,
            metadata,
            feedBytes: verified.feed.bytes,
            now,
            probe: (url, asked) => probeUrl(url, { ...asked, allowPrivate }),
          })
          : [],
      ],
    };
  } catch (error) {
    const unserved = unservedFinding(error);
    if (unserved !== undefined) return { prints, findings: [unserved] };
    if (!isFault(error)) throw error;
    const { valid, ...rest } = await reportIssuer(location, options);
    const faults = valid || !("errors" in rest) ? [] : rest.errors;
    return {
      prints,
      findings: groupByLines(faults, ({ code, kid }) => `${code} ${kid ?? ""}`)
        .map(({ first, lines }) =>
          fault(
            first.code,
            first.detail,
            lines || placeOf({ ...first }) || "documents",
          )
        ),
    };
  }
}

/** A server that answers, but in a way that no reader takes. */
function unservedFinding(error: unknown): Finding | undefined {
  if (
    isSigError(error, "fetch_redirected") ||
    isSigError(error, "fetch_status") || isSigError(error, "fetch_media_type")
  ) return fault(error.code, error.message, "documents");
  if (!isSigError(error, "fetch_failed")) return undefined;
  const { kind, url } = error.context;
  const code = KINDS.get(`${kind}`);
  return code && found(code, error.reason, `${url}`);
}

/** Of `fetch_failed`: what a doctor can tell more of. */
const KINDS: ReadonlyMap<string, FindingCode> = new Map([
  ["tls", "certificate_refused"],
  ["encoding", "compressed_always"],
  ["unframed", "length_unsaid"],
]);

function fault(code: string, what: string, where: string): Finding {
  return {
    code,
    severity: "error",
    what,
    why: "Readers refuse the issuer, so that every check is without an answer",
    mend: code.startsWith("fetch_")
      ? "Serve the document itself at its well-known place, without a redirect"
      : "Put the documents back from a copy; sig verify lists every fault",
    where,
  };
}

/** What is published must be the same history, and not be behind. */
async function compare(
  call: Call,
  local: VerifiedIssuer,
  prints: EventPrints,
  against: string,
): Promise<readonly Finding[]> {
  const { verifyIssuer } = await import("@sig/consumer");
  const { EventPrints } = await import("../ask/event_prints.ts");
  const others = new EventPrints();
  const published = await withSource(
    call,
    against,
    (location, options) =>
      verifyIssuer(location, {
        ...options,
        onEvent: (event) => others.add(event),
      }),
  );
  const [here, there] = [local.state, published.state];
  const finding = (code: FindingCode, what: string) => [
    found(code, what, against),
  ];
  if (here.issuer !== there.issuer) {
    return finding(
      "published_other_issuer",
      `${against} is of ${there.issuer}, not of ${here.issuer}`,
    );
  }
  const other = prints.firstOther(others);
  if (other !== undefined) {
    return finding(
      "published_differs",
      `from event ${other} on the published feed says something else`,
    );
  }
  const counts =
    `the published feed has ${there.last_sequence} events, this one ${here.last_sequence}`;
  if (there.last_sequence > here.last_sequence) {
    return finding("published_ahead", counts);
  }
  if (there.last_sequence < here.last_sequence) {
    return finding("published_behind", counts);
  }
  return [];
}

const COLOURS: { readonly [severity in Finding["severity"]]: Colour } = {
  error: "red",
  warning: "yellow",
  info: "dim",
};

function report(call: Call, findings: readonly Finding[]): void {
  const { io } = call;
  const format = call.text("format");
  if (format === "json") return writeJson(io, { findings });
  if (format === "sarif") return writeJson(io, sarif(findings));
  if (findings.length === 0) {
    return io.stdout(`${colour(io, "stdout", "green", "healthy")}\n`);
  }
  for (const { code, severity, what, why, mend, where } of findings) {
    const label = colour(io, "stdout", COLOURS[severity], severity);
    io.stdout(
      `${label}: ${safe(code)}: ${safe(what)} (${safe(where)})\n` +
        `  why: ${safe(why)}\n  mend: ${safe(mend)}\n`,
    );
  }
}
