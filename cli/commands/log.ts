import {
  isRevoke,
  isUpsert,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import type { VerifiedEvent } from "@sig/consumer";
import type { Command } from "../command_line/command.ts";
import { safe, writeWarnings } from "../command_line/output.ts";
import { usageError } from "@sig/api/flags";
import { POLICY_FLAGS, SOURCE_HELP, withSource } from "../ask/source_flags.ts";

/** `sig log` */
export const log: Command = {
  name: "log",
  summary: "print a feed's events, one a line",
  description:
    "With --format json each line is one event as JSON.\nNothing is printed of a feed that is not valid as a whole.",
  positionals: [{ name: "source", help: SOURCE_HELP }],
  flags: [
    { name: "subject", value: "DID", help: "only events about this subject" },
    {
      name: "relationship-id",
      value: "ID",
      help: "only events of this relationship",
    },
    { name: "from", value: "SEQ", help: "only events from this sequence on" },
    ...POLICY_FLAGS,
  ],
  examples: [
    "sig log ./acme.example",
    "sig log acme.example --from 100 --format json",
  ],
  async run(call) {
    const from = parseFrom(call.text("from"));
    const subject = call.text("subject");
    const id = call.text("relationship-id");
    const { verifyIssuer } = await import("@sig/consumer");
    const lines: string[] = [];
    const { warnings } = await withSource(
      call,
      call.positionals[0]!,
      (location, options) => verifyIssuer(location, { ...options, onEvent }),
    );
    function onEvent({ event }: VerifiedEvent): void {
      if (event.sequence < from) return;
      if (subject !== undefined && event.subject !== subject) return;
      if (id !== undefined && event.relationship_id !== id) return;
      lines.push(
        call.format === "json" ? safe(JSON.stringify(event)) : describe(event),
      );
    }
    writeWarnings(call, warnings);
    if (lines.length > 0) call.io.stdout(`${lines.join("\n")}\n`);
    return 0;
  },
};

function parseFrom(text: string | undefined): number {
  if (text === undefined) return 1;
  if (/^[1-9]\d{0,15}$/.test(text)) return Number(text);
  throw usageError("--from must be a sequence, 1 or more", { flag: "--from" });
}

function describe(event: SigEvent | UnknownEvent): string {
  const words = [
    `#${event.sequence}`,
    event.issued_at,
    event.event_type,
    event.relationship_id,
    event.subject,
  ];
  if (isUpsert(event)) {
    words.push(event.relationship_type);
    if (event.roles.length > 0) words.push(`[${event.roles.join(", ")}]`);
    if (event.display?.title) words.push(`"${event.display.title}"`);
  } else if (isRevoke(event)) {
    words.push(event.reason_code, `effective ${event.effective_at}`);
  }
  return safe(words.join("  "));
}
