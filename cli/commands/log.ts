import {
  isRevoke,
  isUpsert,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { VerifiedEvent } from "@sig/consumer";
import { id, person, sequence } from "../command_line/values.ts";
import { column, DID, writeTable } from "../output/table.ts";
import {
  type Colour,
  type Output,
  safe,
  toSecond,
  warn,
  writeWarnings,
} from "../output/write.ts";
import type { People } from "@sig/issuer/people";
import { nameIn, PEOPLE_FLAG } from "../people/people.ts";
import { duration, optional, toggle } from "@sig/api/program";
import {
  keysOf,
  peopleOf,
  sourceCommand,
  withMemory,
} from "../ask/source_flags.ts";
import { watchSource } from "./watch.ts";
import { ChangeList } from "../ask/change_list.ts";
import { neverSeen } from "../ask/never_seen.ts";
import { PIN_FLAGS } from "../ask/pin_flags.ts";

/** `sig log` */
export const log = sourceCommand({
  description: `
    With --format json each line is one event as JSON.
    Nothing is printed unless the whole feed is valid.
    --subject also takes the fingerprint of a key, as sshd logs it: SHA256:…`,
  subjects: "person",
  flags: {
    subject: optional(person, "only events about this person or key"),
    "relationship-id": optional(id, "only events of this relationship"),
    from: optional(sequence, "only events from this sequence on"),
    follow: toggle("continue with new events until stopped"),
    interval: optional(duration, "with --follow: poll interval (default: 30s)"),
    ...PEOPLE_FLAG,
    ...PIN_FLAGS,
  },
  examples: [
    "sig log ./acme.example",
    "sig log acme.example --from 100 --format json",
    "sig log acme.example --follow",
  ],
  async run(call, source) {
    const { from = 1, interval: intervalMs } = call.flags;
    const id = call.flags["relationship-id"];
    const people = await peopleOf(call, source);
    let events: LoggedEvent[] = [];
    const subjects = keysOf(call);
    const isAbout = subjects && await subjectFilter(subjects);
    /** Subjects that the filter found, and whether it found the relationship. */
    const found = { subjects: new Set<string>(), relationship: false };
    let changes = new ChangeList();
    const result = await withMemory(
      call,
      source,
      (from) => from.state({ maxAgeMs: 0 }),
      onEvent,
    );
    function onEvent(
      verified: Pick<VerifiedEvent, "event" | "kid" | "isVoid">,
    ) {
      const { event, isVoid } = verified;
      // The feed is read again if keys or the store changed meanwhile.
      if (event.sequence === 1) {
        events = [];
        changes = new ChangeList();
      }
      // The last change is the event's; the earlier ones are starts and ends of
      // validity.
      const change = changes.add(verified).at(-1);
      const effect = isVoid ? VOID : change?.kind ?? "";
      if (isAbout?.(event.subject) === false) return;
      found.subjects.add(event.subject);
      if (id !== undefined && event.relationship_id !== id) return;
      found.relationship = true;
      if (event.sequence >= from) events.push([event, effect]);
    }
    writeWarnings(call, result.warnings, result.source);
    writeEvents(call, events, people);
    if (subjects !== undefined && found.subjects.size === 0) {
      writeWarnings(call, neverSeen(result.state, { subjects }));
    } else if (id !== undefined && !found.relationship) {
      warn(call, `never_seen: no event is about relationship ${quote(id)}`);
    }
    if (!call.flags.follow) return;
    const seen = result.state.last_sequence;
    await watchSource(
      call,
      source,
      { from: seen + 1, intervalMs },
      (watched) => {
        events = [];
        onEvent({ ...watched, isVoid: watched.void === true });
        writeEvents(call, events, people);
        return true;
      },
      { keepsNothing: true },
    );
  },
});

/** Matches the fingerprint of an OpenSSH key. */
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;

/** Returns a filter of subjects: these, or the key with this fingerprint. */
async function subjectFilter(
  subjects: readonly string[],
): Promise<(subject: string) => boolean> {
  const [wanted = ""] = subjects;
  if (!FINGERPRINT.test(wanted)) return (subject) => subjects.includes(subject);
  const { didKeyToJwk, jwkToSshKey } = await import("@sig/jose");
  const { sha256 } = await import("@sig/jose/proofs");
  const known = new Map<string, boolean>();
  return (subject) => {
    if (!subject.startsWith("did:key:")) return false;
    const before = known.get(subject);
    if (before !== undefined) return before;
    const [, blob = ""] = jwkToSshKey(didKeyToJwk(subject)).split(" ");
    const digest = sha256(Uint8Array.fromBase64(blob));
    const is = `SHA256:${digest.toBase64({ omitPadding: true })}` === wanted;
    known.set(subject, is);
    return is;
  };
}

/** An event and its effect on the relationship. */
type LoggedEvent = readonly [event: SigEvent | UnknownEvent, effect: string];

function writeEvents(
  call: Output,
  events: readonly LoggedEvent[],
  people: People,
): void {
  if (call.format === "json") {
    const lines = events.map(([event, effect]) => {
      // Wins over a member of that name in the event.
      const shown = effect === VOID ? { ...event, void: true } : event;
      return `${safe(JSON.stringify(shown))}\n`;
    });
    if (lines.length > 0) call.io.stdout(lines.join(""));
    return;
  }
  writeTable(call, events, [
    column("", ([event]) => `#${event.sequence}`),
    column("", ([event]) => toSecond(event.issued_at)),
    column("", ([, effect]) => effect, {
      colour: (effect) => EFFECT_COLOURS[effect],
    }),
    column("", ([event]) => event.event_type),
    column("", ([event]) => event.relationship_id),
    column("", ([event]) => nameIn(people, event.subject)),
    column("", ([event]) => event.subject, DID),
    ...[0, 1, 2].map((at) =>
      column("", ([event]: LoggedEvent) => describe(event)[at]!)
    ),
  ]);
}

/** The effect of an event whose key had ended. */
const VOID = "void";

const EFFECT_COLOURS: { readonly [effect: string]: Colour } = {
  gained: "green",
  changed: "yellow",
  lost: "red",
};

/** Returns type, roles and title of an upsert; reason and time of a revoke. */
function describe(event: SigEvent | UnknownEvent): readonly string[] {
  if (isUpsert(event)) {
    const { relationship_type, roles, display } = event;
    return [
      relationship_type,
      roles.length > 0 ? `[${roles.join(", ")}]` : "",
      display?.title ? `"${display.title}"` : "",
    ];
  }
  if (!isRevoke(event)) return ["", "", ""];
  return [
    event.reason_code,
    `effective ${toSecond(event.effective_at)}`,
    "",
  ];
}
