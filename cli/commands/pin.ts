import { isSigError, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { PinRecord, ServedHistory } from "@sig/consumer/pins";
import { usageError } from "@sig/api/flags";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { writeTable } from "../output/table.ts";
import { counted, safe, toSecond, writeJson } from "../output/write.ts";
import { PINS_FLAG, requirePins } from "../ask/pin_flags.ts";
import { policy, POLICY_FLAGS } from "../ask/source_flags.ts";

/** Characters of a reason: it is kept, and shown again. */
const MAX_REASON = 1_000;

/** A label and a value, without titles. */
const FIELDS = [{ title: "" }, { title: "" }];

/** Issuers that one message names. */
const MAX_NAMED = 5;

/** `sig pin` */
export const pin: CommandSpec = {
  description:
    "list and show print what later fetches are compared with. ack reads the issuer,\nshows what was remembered and what is served now, and after confirmation accepts\nwhat is served: only if it is what the recorded incident saw, or what --expect\nnames. remove forgets an issuer; the next fetch of it is a first one.",
  positionals: [
    {
      name: "action",
      help: "list, show, ack or remove",
      choices: ["list", "show", "ack", "remove"],
    },
    {
      name: "issuer",
      help: "did:web:host, a host, or an https URL of a sig.json",
      optional: true,
    },
  ],
  flags: [
    PINS_FLAG,
    {
      name: "reason",
      value: "TEXT",
      help: "why another history is accepted; kept with the pin (ack)",
    },
    {
      name: "expect",
      value: "SHA256",
      help: "accept the feed with this SHA-256 (ack)",
    },
    { name: "yes", help: "do not ask for confirmation (ack)" },
    ...POLICY_FLAGS,
  ],
  examples: [
    "sig pin list",
    "sig pin show acme.example --format json",
    'sig pin ack acme.example --reason "restored from a backup, see mail of 3 May"',
    'sig pin ack acme.example --reason "as published" --expect SHA256 --yes',
    "sig pin remove acme.example",
  ],
  async run(call) {
    const [action, name] = call.positionals;
    const reason = readReason(call, action!);
    const issuer = await issuerOf(call, action!, name);
    const pins = await requirePins(call);
    try {
      return await act(call, action!, { pins, issuer, reason });
    } finally {
      await pins.close();
    }
  },
};

async function act(
  call: Call,
  action: string,
  { pins, issuer, reason }: {
    readonly pins: Awaited<ReturnType<typeof requirePins>>;
    readonly issuer: Awaited<ReturnType<typeof issuerOf>>;
    readonly reason: string;
  },
): Promise<number> {
  const { acknowledgePin, listPins, removePin, showPin } = await import(
    "@sig/consumer/pins"
  );
  if (action === "list") {
    const damaged: string[] = [];
    const readable = await listPins(pins, (issuer) => damaged.push(issuer));
    writeList(call, readable, damaged.length);
    if (damaged.length > 0) throw listedInPart(pins.place, damaged);
    return 0;
  }
  const did = issuer!.expectedIssuer;
  if (action === "remove") {
    const before = await showPin(pins, did).catch((error) => {
      // Forgetting is the way out of a pin that can't be read.
      if (isSigError(error) && error.code === "store_unavailable") {
        return { issuer: did };
      }
      throw error;
    });
    await removePin(pins, did);
    if (call.format === "json") writeJson(call.io, jsonOf(before));
    else call.io.stdout(`Forgot ${safe(did)}: the next look is a first one\n`);
    return 0;
  }
  const found = action === "show"
    ? await showPin(pins, did)
    : await acknowledgePin(pins, issuer!, {
      reason,
      expect: call.text("expect"),
      confirm: (history) => confirm(call, history),
      now: call.io.now(),
      allowPrivate: call.on("allow-insecure"),
      unknownEvents: policy(call, "unknown-events"),
      unmatchedRevoke: policy(call, "unmatched-revoke"),
    });
  if (call.format === "json") writeJson(call.io, jsonOf(found));
  else if (action === "show") writePin(call, found);
  else {
    call.io.stdout(
      `Accepted the served history of ${safe(did)}: ${
        counted(found.sequence, "event")
      }\n`,
    );
  }
  return 0;
}

/**
 * Shows both histories, and asks for confirmation.
 *
 * @throws {SigError} `confirmation_required`
 */
async function confirm(
  call: Call,
  { remembered, served }: ServedHistory,
): Promise<void> {
  if (call.format === "text") {
    writeTable(call, FIELDS, [
      ["remembered", counted(remembered.sequence, "event")],
      ["SHA-256", remembered.prefix_sha256],
      ...keysOf(remembered.keys),
      ["served now", counted(served.sequence, "event")],
      ["SHA-256", served.sha256],
      ...keysOf(served.keys),
      [
        "difference",
        served.first_difference === null
          ? "no event is known to differ"
          : `from event ${served.first_difference} on`,
      ],
    ]);
  }
  if (call.on("yes")) return;
  const question = `Accept what ${
    safe(remembered.issuer)
  } serves now, in place of what is remembered?`;
  if (call.format === "text" && await call.io.ask?.(question)) return;
  throw new SigError(
    "confirmation_required",
    "Cannot acknowledge: the served history is not confirmed",
    {
      context: {
        flag: "--yes",
        hint: "Answer the question on a terminal, or add --yes.",
      },
    },
  );
}

function keysOf(
  keys: PinRecord["keys"],
): readonly (readonly [string, string])[] {
  return Object.entries(keys).map(([kid, thumbprint]) => [
    "key",
    `${kid}  ${thumbprint}`,
  ]);
}

/** Without what is told to people only: these members are a contract. */
function jsonOf(
  { inconsistency: _, ...rest }: Partial<PinRecord>,
): Partial<PinRecord> {
  return rest;
}

function readReason(call: Call, action: string): string {
  const reason = call.text("reason")?.trim();
  if (action !== "ack") {
    for (const flag of ["reason", "expect", "yes"]) {
      if (call.text(flag) === undefined && !call.on(flag)) continue;
      throw usageError(`--${flag} goes with ack`, { flag: `--${flag}` });
    }
    return "";
  }
  if (reason === undefined || reason === "") {
    throw usageError("--reason is required with ack", {
      flag: "--reason",
      hint: "Say why another history is right: it is kept with the pin.",
    });
  }
  if (reason.length > MAX_REASON) {
    throw usageError(`--reason must have at most ${MAX_REASON} characters`, {
      flag: "--reason",
    });
  }
  const expect = call.text("expect");
  if (expect !== undefined && !/^[0-9a-f]{64}$/i.test(expect)) {
    throw usageError("--expect must be a SHA-256: 64 hexadecimal digits", {
      flag: "--expect",
      hint: "sig verify ISSUER --no-pin --format json shows it as feed_sha256.",
    });
  }
  return reason;
}

/** Read only: nobody is asked, so that any name of an issuer may be shown. */
async function issuerOf(call: Call, action: string, name: string | undefined) {
  if (action === "list") {
    if (name === undefined) return undefined;
    throw usageError("list takes no issuer", { hint: "See: sig pin show" });
  }
  if (name === undefined) {
    throw usageError("<issuer> is missing", { hint: "See: sig pin list" });
  }
  const { IssuerName } = await import("@sig/consumer");
  const allowPrivate = action !== "ack" || call.on("allow-insecure");
  return IssuerName.parse(name, { allowPrivate });
}

/** The others are listed; these have a way out. */
function listedInPart(place: string, issuers: readonly string[]): SigError {
  const named = issuers.slice(0, MAX_NAMED).map((each) => quote(each));
  const more = issuers.length - named.length;
  return new SigError(
    "store_unavailable",
    `Cannot list all that the memory ${place} holds: damaged is the pin of ${
      named.join(", ")
    }${more > 0 ? ` and ${more} more` : ""}`,
    {
      context: {
        place,
        issuers,
        hint:
          "Forget such an issuer: sig pin remove ISSUER. The next look at it is then a first one.",
      },
    },
  );
}

function writeList(
  call: Call,
  pins: readonly PinRecord[],
  leftOut: number,
): void {
  if (call.format === "json") return writeJson(call.io, pins.map(jsonOf));
  if (pins.length === 0 && leftOut > 0) return;
  if (pins.length === 0) call.io.stdout("Nothing is remembered yet\n");
  else {
    writeTable(
      call,
      [
        { title: "issuer" },
        { title: "sequence" },
        { title: "first seen" },
        { title: "last seen" },
        { title: "incident", colour: () => "red" },
      ],
      pins.map((each) => [
        each.issuer,
        String(each.sequence),
        toSecond(each.first_seen),
        toSecond(each.last_seen),
        each.incident?.code ?? "",
      ]),
    );
  }
}

function writePin(call: Call, pin: PinRecord): void {
  const { incident, inconsistency } = pin;
  const accepted = pin.acknowledged.map(({ at, code, reason }) =>
    [
      "accepted",
      `${toSecond(at)} ${code ?? "without a contradiction"}: ${reason}`,
    ] as const
  );
  const warning = incident !== null
    ? [[
      "incident",
      `${incident.code} since ${toSecond(incident.since)}: ${incident.detail}`,
    ]] as const
    // It is over, and each answer still warns of it.
    : inconsistency !== null
    ? [[
      "warned of",
      `${inconsistency}, until sig pin ack accepts it`,
    ]] as const
    : [];
  writeTable(call, FIELDS, [
    ["issuer", pin.issuer],
    ["sequence", String(pin.sequence)],
    ["bytes", String(pin.bytes)],
    ["SHA-256", pin.prefix_sha256],
    ["last event", pin.last_event_id ?? "none"],
    ...keysOf(pin.keys),
    ["first seen", toSecond(pin.first_seen)],
    ["last seen", toSecond(pin.last_seen)],
    ...accepted,
    ...warning,
  ]);
}
