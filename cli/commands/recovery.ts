/** `sig recovery create` and `sig recover`. @module */

import { instantOf, isRevoke } from "@sig/core";
import { validityAt } from "@sig/core/internal";
import {
  createFileStore,
  type Issuer,
  type RecoveryPlan,
  type RecoveryRequest,
  requireGuards,
  type SignedEvent,
} from "@sig/issuer";
import {
  file,
  many,
  optional,
  required,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import {
  fileOr,
  kid,
  people,
  requireEither,
  sequence,
  signingKey,
  source,
  textOf,
} from "../command_line/values.ts";
import { INSECURE_FLAG } from "../ask/source_flags.ts";
import { canAsk, confirmQuestion } from "../issue/append_proposal.ts";
import { readPassphrase } from "../issue/passphrase.ts";
import { fileKeys, openWithKeyStore } from "../issue/open_issuer.ts";
import { DIR_FLAG } from "../issue/flags.ts";
import {
  createRecoveryKey,
  readPublicRecoveryKey,
  readRecoveryKey,
  requireElsewhere,
} from "../issue/recovery_key.ts";
import {
  counted,
  safe,
  warn,
  writeJson,
  writeResult,
} from "../output/write.ts";
import { column, writeTable } from "../output/table.ts";
import type { DrillQuestion } from "../issue/drill.ts";

const PASSPHRASE_FLAG = {
  "passphrase-file": optional(
    file,
    "file with the passphrase, in one line, that encrypts recovery keys",
  ),
};

function passphraseOf(call: Call<Values<typeof PASSPHRASE_FLAG>>) {
  return readPassphrase(call, call.flags["passphrase-file"]);
}

/** `sig recovery create` */
export const recoveryCreate = typedCommand({
  description: `
    Makes a recovery key and publishes its digest. Keep the file offline, twice: on
    paper, on a token, with a second person. Nobody can make it later, and it is in
    no backup. With it, sig recover ends a stolen or lost signing key. Publishes
    proofs if there are none.`,
  flags: {
    ...DIR_FLAG,
    out: optional(file, "write the new recovery key there (mode 0600)"),
    ...PASSPHRASE_FLAG,
    public: optional(
      fileOr("FILE|KEY"),
      "use a key whose private part was made elsewhere: a JWK or OpenSSH key",
    ),
  },
  examples: [
    "sig recovery create --dir acme.example --out /media/usb/recovery-1.jwk",
    "sig recovery create --dir acme.example --public token.pub",
  ],
  async run(call) {
    const { dir, out, public: given } = call.flags;
    requireEither(call.flags, "out", "public");
    const { issuer: opened } = await openWithKeyStore(call);
    await using issuer = opened;
    await issuer.requireNoRecovery();
    if (out !== undefined) await requireElsewhere(call.io, dir, out);
    const x = given === undefined
      ? await createRecoveryKey(call.io, out!, await passphraseOf(call))
      : await readPublicRecoveryKey(call, given);
    await issuer.createRecovery(x);
    const { commitmentTo } = await import("@sig/jose/recovery");
    const commitment = commitmentTo(x);
    writeResult(
      call,
      { commitment, file: out },
      `Published the commitment ${commitment}\n` +
        (out === undefined
          ? ""
          : `Wrote recovery key ${
            safe(out)
          }. Keep it offline, twice; no backup has it.\n`),
    );
  },
});

const RECOVER_FLAGS = {
  ...DIR_FLAG,
  "recovery-key": required(signingKey, "the recovery key"),
  ...PASSPHRASE_FLAG,
  next: optional(
    signingKey,
    "the next recovery key; a missing file is created",
  ),
  "next-public": optional(
    fileOr("FILE|KEY"),
    "the next recovery key, whose private part was made elsewhere",
  ),
  stolen: many(
    textOf("KID[=SEQUENCE]"),
    "a stolen key, and the last event that is yours; all later ones become void",
  ),
  lost: many(kid, "a lost key; its events stay valid"),
  kid: optional(kid, "kid of the new signing key (default: the next number)"),
  again: many(sequence, "append this void event again, because it was yours"),
  against: optional(
    source,
    "refuse if the feed published there has more events",
  ),
  ...INSECURE_FLAG,
  "confirm-losses": optional(people, "this many people lose access"),
  "confirm-grants": optional(people, "this many people gain access"),
  yes: toggle("do not ask; required without a terminal"),
  drill: toggle("rehearse on a copy, and change nothing"),
};

/** The call of `sig recover`. */
type RecoverCall = Call<Values<typeof RECOVER_FLAGS>>;

/** `sig recover` */
export const recover = typedCommand({
  description: `
    Ends stolen and lost signing keys with the recovery key: events that a stolen
    key signed later become void for readers of this project, and corrective events
    bring all others to the same state. Readers that remember the issuer accept the
    new key without an acknowledgement. Repeat the command if it was interrupted.
    With --drill, it does the same on a copy with throwaway keys, and shows what four
    readers say before it, after the statement alone, and after it.`,
  flags: RECOVER_FLAGS,
  examples: [
    "sig recover --dir acme.example --recovery-key /media/usb/recovery-1.jwk --next /media/usb/recovery-2.jwk --stolen orgsign-1=41",
    "sig recover --dir acme.example --recovery-key recovery-1.jwk --next recovery-2.jwk --lost orgsign-1",
    "sig recover --dir acme.example --recovery-key recovery-1.jwk --lost orgsign-1 --drill",
  ],
  async run(call) {
    const { against, dir } = call.flags;
    const key = await readRecoveryKey(
      call,
      call.flags["recovery-key"],
      await passphraseOf(call),
    );
    const { issuer: opened } = await openWithKeyStore(call);
    await using issuer = opened;
    if (against !== undefined) {
      const { readPublishedFeed } = await import("../issue/published_feed.ts");
      await issuer.requireNotBehind(await readPublishedFeed(call, against));
    }
    const ends = {
      recoveryKey: key,
      lost: call.flags.lost,
      kid: call.flags.kid,
      again: call.flags.again,
    };
    // A new key is made last: a refused recovery writes no file.
    const known = call.flags.drill ? undefined : await knownNextKey(call);
    const probe = { ...ends, next: known ?? PLACEHOLDER };
    const stolen = await stolenKeys(call, issuer, probe);
    const plan = await issuer.planRecovery({ ...probe, stolen });
    warnOfKept(call, plan);
    if (call.flags.drill) {
      return await drill(call, { ...probe, stolen }, plan);
    }
    await confirm(call, issuer, plan);
    const passphrase = await passphraseOf(call);
    const next = known ??
      (plan.isPublished
        ? PLACEHOLDER
        : await createRecoveryKey(call.io, call.flags.next!, passphrase));
    const done = await issuer.recover({ ...ends, stolen, next });
    const { n } = plan.claims;
    if (n >= 14) {
      warn(call, `statement ${n} of 16: plan a new issuer before the last one`);
    }
    writeResult(
      call,
      {
        statement: done.statement,
        kid: done.kid,
        void: plan.voids.map(({ event }) => event.sequence),
        events: done.events.map(({ sequence }) => sequence),
        kept: plan.kept.length === 0 ? undefined : plan.kept,
      },
      `Published statement ${done.statement}: ${
        counted(plan.voids.length, "event")
      } void, ${counted(done.events.length, "corrective event")}\n` +
        `New events are signed with ${done.kid}\n` +
        `Publish ${safe(dir)}/.well-known now\n`,
    );
  },
});

/** The neutral text for a next key that is not known yet: 32 zero bytes. */
const PLACEHOLDER = "A".repeat(43);

/** Returns the last good sequence of each stolen key. */
async function stolenKeys(
  call: RecoverCall,
  issuer: Issuer,
  request: RecoveryRequest,
): Promise<ReadonlyMap<string, number>> {
  const stolen = new Map<string, number>();
  for (const text of call.flags.stolen) {
    const [, kid = text, digits] = /^(.+)=(\d+)$/.exec(text) ?? [];
    if (stolen.has(kid)) {
      throw usageError(`--stolen names ${kid} twice`, { flag: "--stolen" });
    }
    if (digits !== undefined) {
      stolen.set(kid, Number(digits));
      continue;
    }
    // With no good event, every event of the key is void.
    const { voids } = await issuer.planRecovery({
      ...request,
      stolen: new Map([...stolen, [kid, 0]]),
    });
    const own = voids.filter((each) => each.kid === kid);
    stolen.set(kid, await lastGood(call, kid, own));
  }
  return stolen;
}

const MOST_SHOWN = 10;

async function lastGood(
  call: RecoverCall,
  kid: string,
  events: readonly SignedEvent[],
): Promise<number> {
  if (!canAsk(call)) {
    const last = events.slice(-MOST_SHOWN).map(({ event }) => event.sequence);
    throw usageError(
      `--stolen ${kid} needs the last good sequence, as in --stolen ${kid}=12`,
      { hint: `Its last events: ${last.join(", ")}. See them with sig log.` },
    );
  }
  for (const { event } of events.toReversed()) {
    if (await call.io.ask(`Is this event yours? ${describe(event)}`)) {
      return event.sequence;
    }
  }
  return 0;
}

function describe(event: SignedEvent["event"]): string {
  const { event_type, issued_at, sequence, subject } = event;
  const what = isRevoke(event) ? "revoke" : "upsert";
  const detail = isRevoke(event)
    ? event.reason_code
    : `${event.relationship_type} ${event.roles.join(" ")}`;
  return safe(
    `${sequence} ${what ?? event_type} ${subject} ${detail} (${issued_at})`,
  );
}

/** Names the keys that stay: a thief may have added one on this machine. */
function warnOfKept(call: RecoverCall, { kept }: RecoveryPlan): void {
  for (const { kid, events } of kept) {
    const signed = `${counted(events, "event")} after the theft`;
    warn(
      call,
      `key ${kid} stays valid, with ${signed}. If it is not yours, end it too: --stolen ${kid}=0`,
    );
  }
}

/** Requires the guards, shows what changes, and asks. */
async function confirm(
  call: RecoverCall,
  issuer: Issuer,
  plan: RecoveryPlan,
): Promise<void> {
  const { gained, lost } = accessOf(call, plan);
  const drafts = plan.drafts.map(({ draft }) => draft);
  requireGuards(await issuer.published(), drafts, {
    now: call.io.now(),
    losses: call.flags["confirm-losses"],
    grants: call.flags["confirm-grants"],
    readmit: true,
  });
  const isOwn = plan.voids.length > 0 && call.flags.again.length === 0;
  const lines = [
    ...plan.claims.ended.map(({ kid, last_sequence, reason }) =>
      `key ${kid} ends after event ${last_sequence} (${reason})`
    ),
    ...plan.voids.map(({ event }) => `void: ${describe(event)}`),
    ...gained.map((each) => `gains access: ${describeAccess(each)}`),
    ...lost.map((each) => `loses access: ${describeAccess(each)}`),
    ...drafts.map(({ event_type, relationship_id }) =>
      `corrective: ${event_type} ${relationship_id}`
    ),
    ...call.flags.against === undefined
      ? [
        "Not compared with the published feed: --against SOURCE refuses a directory that lacks events.",
      ]
      : [],
    ...isOwn
      ? ["If one of the void events was yours, repeat with --again SEQUENCE."]
      : [],
  ];
  await confirmQuestion(call, {
    preview: {
      when: "confirmed",
      write: () =>
        call.io.stdout(lines.map((line) => `${safe(line)}\n`).join("")),
    },
    question: {
      text: plan.isPublished
        ? "Complete the interrupted recovery?"
        : "Publish this statement? It can't be taken back",
      refusal: { action: "recover", reason: "the statement is not confirmed" },
      hint: "Nothing was changed.",
    },
  });
}

/** Returns the people whose roles in force differ by the void events. */
function accessOf({ io }: RecoverCall, { before, after }: RecoveryPlan) {
  const now = instantOf(io.now());
  const rolesOf = (state: RecoveryPlan["before"]) => {
    const roles = new Map<string, Set<string>>();
    for (const each of state.by_relationship_id.values()) {
      if (each.status !== "active") continue;
      if (validityAt(each, now) !== "active") continue;
      const own = roles.get(each.subject) ?? new Set();
      roles.set(each.subject, own);
      own.add(`relationship=${each.relationship_type}`);
      for (const role of each.roles) own.add(`role=${role}`);
    }
    return roles;
  };
  const [old, fresh] = [rolesOf(before), rolesOf(after)];
  const more = (a: typeof old, b: typeof old) =>
    [...a].flatMap(([subject, roles]) => {
      const added = roles.difference(b.get(subject) ?? new Set());
      return added.size === 0 ? [] : [{ subject, require: [...added] }];
    });
  return { gained: more(fresh, old), lost: more(old, fresh) };
}

/** Returns the next recovery key; undefined if its file is to be created. */
async function knownNextKey(call: RecoverCall): Promise<string | undefined> {
  const { dir, next, "next-public": given } = call.flags;
  requireEither(call.flags, "next", "next-public");
  if (given !== undefined) return await readPublicRecoveryKey(call, given);
  if (!next!.startsWith("agent:") && !call.io.exists(next!)) {
    await requireElsewhere(call.io, dir, next!);
    return undefined;
  }
  const key = await readRecoveryKey(call, next!, await passphraseOf(call));
  return key.publicJwk.x;
}

function describeAccess({ subject, require }: DrillQuestion): string {
  const words = require.map((each) => each.replace(/^[a-z]+=/, ""));
  return `${subject} ${words.join(" ")}`;
}

/** Rehearses the recovery, and shows what readers say of affected people. */
async function drill(
  call: RecoverCall,
  request: RecoveryRequest,
  plan: RecoveryPlan,
): Promise<void> {
  if (plan.isPublished) {
    throw usageError("the recovery key has been used; rehearse with the next");
  }
  const { rehearse } = await import("../issue/drill.ts");
  const { gained, lost } = accessOf(call, plan);
  const store = createFileStore(call.flags.dir);
  try {
    const said = await rehearse({
      store,
      request,
      plan,
      keys: fileKeys(call),
      now: call.io.now(),
      questions: [...gained, ...lost],
    });
    if (call.format === "json") {
      const voids = plan.voids.map(({ event }) => event.sequence);
      writeJson(call.io, {
        drill: true,
        void: voids,
        readers: said,
        kept: plan.kept.length === 0 ? undefined : plan.kept,
      });
      return;
    }
    call.io.stdout(
      `Drill: the recovery key fits; ${
        counted(plan.voids.length, "event")
      } would be void, ${counted(plan.drafts.length, "corrective event")}\n`,
    );
    writeTable(call, said, [
      column("subject", ({ subject }) => subject),
      column("reader", ({ reader }) => reader),
      column("before", ({ before }) => before),
      column("statement", ({ between }) => between),
      column("after", ({ after }) => after),
    ]);
    call.io.stdout("Nothing was changed\n");
  } finally {
    await store.close();
  }
}
