import { isSigError, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { PinRecord } from "@sig/consumer/pins";
import { usageError } from "@sig/api/flags";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { writeTable } from "../output/table.ts";
import { colour, counted, safe, toSecond, writeJson } from "../output/write.ts";
import { PINS_FLAG, requirePins } from "../ask/pin_flags.ts";
import { POLICY_FLAGS } from "../ask/source_flags.ts";

/** Characters of a reason: it is kept, and shown again. */
const MAX_REASON = 1_000;

/** Issuers that one message names. */
const MAX_NAMED = 5;

/** `sig pin` */
export const pin: CommandSpec = {
  description:
    "list and show print what later fetches are compared with. ack asks the issuer\nand accepts the history that it serves now, in the place of the remembered one.\nremove forgets an issuer: the next look at it is a first one.",
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
    ...POLICY_FLAGS,
  ],
  examples: [
    "sig pin list",
    "sig pin show acme.example --format json",
    'sig pin ack acme.example --reason "restored from a backup, see mail of 3 May"',
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
      now: call.io.now(),
      allowPrivate: call.on("allow-insecure"),
      unknownEvents: policy(call, "unknown-events"),
      unmatchedRevoke: policy(call, "unmatched-revoke"),
    });
  if (call.format === "json") writeJson(call.io, jsonOf(found));
  else if (action === "show") writePin(call, found);
  else {
    call.io.stdout(
      `Accepted ${safe(did)} as it is served now: ${
        counted(found.sequence, "event")
      }\n`,
    );
  }
  return 0;
}

/** Without what is told to people only: these members are a contract. */
function jsonOf(
  { inconsistency: _, ...rest }: Partial<PinRecord>,
): Partial<PinRecord> {
  return rest;
}

function policy(call: Call, flag: string): "ignore" | "reject" | undefined {
  return call.text(flag) as "ignore" | "reject" | undefined;
}

function readReason(call: Call, action: string): string {
  const reason = call.text("reason")?.trim();
  if (action !== "ack") {
    if (reason === undefined) return "";
    throw usageError("--reason goes with ack", { flag: "--reason" });
  }
  if (reason === undefined || reason === "") {
    throw usageError("--reason is required with ack", {
      flag: "--reason",
      hint: "Say why another history is right: it is kept with the pin.",
    });
  }
  if (reason.length <= MAX_REASON) return reason;
  throw usageError(`--reason must have at most ${MAX_REASON} characters`, {
    flag: "--reason",
  });
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
  const lines: [string, string][] = [
    ["issuer", pin.issuer],
    ["sequence", String(pin.sequence)],
    ["bytes", String(pin.bytes)],
    ["SHA-256", pin.prefix_sha256],
    ["last event", pin.last_event_id ?? "none"],
    ...Object.entries(pin.keys).map(
      ([kid, thumbprint]): [string, string] => ["key", `${kid}  ${thumbprint}`],
    ),
    ["first seen", toSecond(pin.first_seen)],
    ["last seen", toSecond(pin.last_seen)],
    ...pin.acknowledged.map(({ at, code, reason }): [string, string] => [
      "accepted",
      `${toSecond(at)} ${code ?? "with nothing against it"}: ${reason}`,
    ]),
  ];
  const { incident, inconsistency } = pin;
  for (const [name, value] of lines) {
    call.io.stdout(`${safe(name).padEnd(12)}  ${safe(value)}\n`);
  }
  if (incident === null) {
    if (inconsistency === null) return;
    // It is over, and each answer still warns of it.
    call.io.stdout(
      `warned of     ${safe(inconsistency)}, until sig pin ack accepts it\n`,
    );
    return;
  }
  const code = colour(call.io, "stdout", "red", incident.code);
  call.io.stdout(
    `incident      ${code} since ${toSecond(incident.since)}: ${
      safe(incident.detail)
    }\n`,
  );
}
