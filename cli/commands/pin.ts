import { isSigError, type JsonValue, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { IssuerName } from "@sig/consumer";
import type { PinRecord, PinStore, ServedHistory } from "@sig/consumer/pins";
import {
  optional,
  required,
  toggle,
  usageError,
  type ValueType,
} from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { checked, textOf } from "../command_line/values.ts";
import { column, writeTable } from "../output/table.ts";
import {
  counted,
  firstOf,
  type Output,
  safe,
  toSecond,
  writeJson,
  writeResult,
} from "../output/write.ts";
import {
  mirrorFolder,
  PINS_FLAG,
  type PinValues,
  withPins,
} from "../ask/pin_flags.ts";
import { POLICY_FLAGS } from "../ask/source_flags.ts";

/** Maximum length of a reason in characters; it is stored. */
const MAX_REASON = 1_000;

/** The columns label and value, without titles. */
const FIELDS = [0, 1].map((at) =>
  column("", (pair: readonly [string, string]) => pair[at]!)
);

const ISSUER = {
  name: "issuer",
  help: "did:web:host, a host, or an https URL of a sig.json",
};

const FLAGS = { ...PINS_FLAG, ...POLICY_FLAGS };

/** `sig pin list` */
export const pinList = typedCommand({
  description: "Later fetches are compared with it.",
  flags: FLAGS,
  examples: ["sig pin list"],
  run: (call) =>
    withPins(call, async (pins) => {
      const { listPins } = await import("@sig/consumer/pins");
      const damaged: string[] = [];
      const readable = await listPins(pins, (issuer) => damaged.push(issuer));
      const isWhole = damaged.length === 0;
      // With JSON an error leaves standard output empty.
      if (isWhole || call.format === "text") {
        writeList(call, readable, damaged.length);
      }
      if (!isWhole) throw listedInPart(pins.place, damaged, readable);
    }),
});

/** `sig pin show` */
export const pinShow = typedCommand({
  description: "Later fetches are compared with it.",
  positionals: [ISSUER],
  flags: FLAGS,
  examples: ["sig pin show acme.example --format json"],
  run: (call) =>
    withIssuer(call, async (pins, { expectedIssuer }) => {
      const { showPin } = await import("@sig/consumer/pins");
      const found = await showPin(pins, expectedIssuer);
      if (call.format === "json") writeJson(call.io, jsonOf(found));
      else writePin(call, found);
    }),
});

/** `sig pin remove` */
export const pinRemove = typedCommand({
  description: "The next fetch of this issuer has nothing to compare with.",
  positionals: [ISSUER],
  flags: FLAGS,
  examples: ["sig pin remove acme.example"],
  run: (call) =>
    withIssuer(call, async (pins, { expectedIssuer: issuer }) => {
      const { removePin, showPin } = await import("@sig/consumer/pins");
      const before = await showPin(pins, issuer).catch((error) => {
        // A pin that can't be read can still be removed.
        if (isSigError(error, "store_unavailable")) return { issuer };
        throw error;
      });
      await removePin(pins, issuer, { mirrorFolder: mirrorFolder(call) });
      const said = `Forgot ${
        safe(issuer)
      }: the next fetch has nothing to compare with\n`;
      writeResult(call, jsonOf(before), said);
    }),
});

const reason: ValueType<string> = {
  placeholder: "TEXT",
  parse(text, flag) {
    const reason = text.trim();
    if (reason !== "" && reason.length <= MAX_REASON) return reason;
    throw usageError(
      reason === ""
        ? `${flag} must say something`
        : `${flag} must have at most ${MAX_REASON} characters`,
      {
        flag,
        hint: "Say why another history is right: it is kept with the pin.",
      },
    );
  },
};

const sha256 = checked(
  textOf("SHA256"),
  (text) => /^[0-9a-f]{64}$/i.test(text),
  "be a SHA-256: 64 hexadecimal digits",
  "sig verify ISSUER --no-pin --format json shows it as feed_sha256.",
);

/** `sig pin ack` */
export const pinAck = typedCommand({
  description: `
    Reads the issuer, shows what was remembered and what is served now, and after
    confirmation accepts what is served: only if it is what the recorded incident
    saw, or what --expect names.`,
  positionals: [ISSUER],
  flags: {
    ...PINS_FLAG,
    reason: required(
      reason,
      "why another history is accepted; kept with the pin",
    ),
    expect: optional(sha256, "accept the feed with this SHA-256"),
    yes: toggle("do not ask for confirmation"),
    ...POLICY_FLAGS,
  },
  examples: [
    'sig pin ack acme.example --reason "restored from a backup, see mail of 3 May"',
    'sig pin ack acme.example --reason "as published" --expect SHA256 --yes',
  ],
  run: (call) =>
    withIssuer(call, async (pins, issuer) => {
      const { acknowledgePin } = await import("@sig/consumer/pins");
      const { expect, reason } = call.flags;
      const found = await acknowledgePin(pins, issuer, {
        reason,
        expect,
        confirm: (history) => confirm(call, history),
        now: call.io.now(),
        mirrorFolder: mirrorFolder(call),
        allowPrivate: call.flags["allow-insecure"],
        unknownEvents: call.flags["unknown-events"],
        unmatchedRevoke: call.flags["unmatched-revoke"],
      });
      writeResult(
        call,
        jsonOf(found),
        `Accepted the served history of ${safe(issuer.expectedIssuer)}: ${
          counted(eventsOf(found), "event")
        }\n`,
      );
    }, call.flags["allow-insecure"]),
});

/** Runs `work` with the issuer in the argument; by default nothing is sent. */
async function withIssuer(
  call: Call<PinValues>,
  work: (pins: PinStore, issuer: IssuerName) => Promise<void>,
  allowPrivate = true,
): Promise<void> {
  const { IssuerName } = await import("@sig/consumer/internal");
  const issuer = IssuerName.parse(call.positionals[0]!, { allowPrivate });
  return await withPins(call, (pins) => work(pins, issuer));
}

/**
 * Shows both histories and asks for confirmation.
 *
 * @throws {SigError} `confirmation_required`
 */
async function confirm(
  call: Call<{ readonly yes: boolean }>,
  { remembered, served }: ServedHistory,
): Promise<void> {
  if (call.format === "text") {
    const rows: readonly (readonly [string, string])[] = [
      ["remembered", counted(eventsOf(remembered), "event")],
      ["SHA-256", remembered.prefix_sha256 ?? "by proof only"],
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
    ];
    writeTable(call, rows, FIELDS);
  }
  if (call.flags.yes) return;
  const question = `Accept what ${
    safe(remembered.issuer)
  } serves now, in place of what is remembered?`;
  if (call.format === "text" && await call.io.ask(question)) return;
  throw new SigError("confirmation_required", {
    action: "acknowledge",
    reason: "the served history is not confirmed",
    context: {
      flag: "--yes",
      hint: "Answer the question on a terminal, or add --yes.",
    },
  });
}

/** Returns the number of events that were seen, in the feed or by proof. */
function eventsOf({ sequence, proof }: PinRecord): number {
  return Math.max(sequence ?? 0, proof?.seen ?? 0);
}

function keysOf(
  keys: PinRecord["keys"],
): readonly (readonly [string, string])[] {
  return Object.entries(keys).map(([kid, thumbprint]) => [
    "key",
    `${kid}  ${thumbprint}`,
  ]);
}

/** Returns the record in the form of the reference. */
function jsonOf(
  { inconsistency: _, seen: __, ...rest }: Partial<PinRecord>,
): Partial<PinRecord> {
  return rest;
}

/** Creates the error for pins that can't be read, with the others. */
function listedInPart(
  place: string,
  issuers: readonly string[],
  readable: readonly PinRecord[],
): SigError {
  const named = firstOf(issuers.map((each) => quote(each)));
  const hint =
    "Forget such an issuer: sig pin remove ISSUER. Its next fetch then has nothing to compare with.";
  const pins = readable.map(jsonOf) as unknown as JsonValue;
  return new SigError("store_unavailable", {
    action: `list all pins of ${place}`,
    reason: `the pin of ${named} is damaged`,
    context: { place, issuers, pins, hint },
  });
}

function writeList(
  call: Output,
  pins: readonly PinRecord[],
  leftOut: number,
): void {
  if (call.format === "json") return writeJson(call.io, pins.map(jsonOf));
  if (pins.length + leftOut === 0) {
    return call.io.stdout("Nothing is remembered yet\n");
  }
  writeTable(call, pins, [
    column("issuer", ({ issuer }) => issuer),
    column("sequence", (each) => `${eventsOf(each)}`),
    column("first seen", (each) => toSecond(each.first_seen)),
    column("last seen", (each) => toSecond(each.last_seen)),
    column("incident", (each) => each.incident?.code ?? "", {
      colour: () => "red",
    }),
  ]);
}

function writePin(call: Output, pin: PinRecord): void {
  const { incident, inconsistency, proof } = pin;
  const rows: (readonly [string, string])[] = [
    ["issuer", pin.issuer],
    ["sequence", String(eventsOf(pin))],
  ];
  if (pin.sequence !== null) {
    rows.push(
      ["bytes", String(pin.bytes)],
      ["SHA-256", pin.prefix_sha256 ?? ""],
      ["last event", pin.last_event_id ?? "none"],
    );
  }
  if (proof !== null) {
    rows.push(["checkpoint", `${counted(proof.size, "event")}, ${proof.root}`]);
  }
  rows.push(...keysOf(proof?.keys ?? pin.keys));
  if (pin.recovery !== null) {
    const { commitment, statements } = pin.recovery;
    rows.push([
      "recovery",
      `${commitment}, ${counted(statements, "statement")}`,
    ]);
  }
  for (const { kid, at } of pin.key_added) {
    rows.push(["new key", `${kid} since ${toSecond(at)}`]);
  }
  rows.push(["first seen", toSecond(pin.first_seen)]);
  rows.push(["last seen", toSecond(pin.last_seen)]);
  for (const { at, code, reason } of pin.acknowledged) {
    const what = code ?? "without a contradiction";
    rows.push(["accepted", `${toSecond(at)} ${what}: ${reason}`]);
  }
  if (incident !== null) {
    const since = `${incident.code} since ${toSecond(incident.since)}`;
    rows.push(["incident", `${since}: ${incident.detail}`]);
  } else if (inconsistency !== null) {
    // The incident has ended, but each answer still warns of it.
    rows.push(["warned of", `${inconsistency}, until sig pin ack accepts it`]);
  }
  writeTable(call, rows, FIELDS);
}
