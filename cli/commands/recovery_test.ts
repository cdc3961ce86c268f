import { assert, assertEquals } from "@std/assert";
import { issuerTest as test, terminal } from "../testdata/workspace.ts";
import type { Workspace } from "../testdata/workspace.ts";

// promise: `sig recover` is refused before it writes anything, and its rehearsal
//   changes nothing.

const CREATE = "recovery create --dir $D/acme --out $D/recovery-1.jwk";
const RECOVER =
  "recover --dir $D/acme --recovery-key $D/recovery-1.jwk --next $D/recovery-2.jwk --yes";
const MAY = "check --sig $D/acme --require role=deploy --subject";
const MALLORY = "did:web:mallory.example";
const ALICE = "did:web:alice.example";

/** A thief with the signing key: grants mallory, revokes alice. */
async function steal(of: Workspace): Promise<number> {
  const good = (await of.events()).length;
  await of.ok(
    `upsert --dir $D/acme --subject ${MALLORY} --type employee --role deploy --relationship-id r-mallory`,
  );
  await of.ok(
    `offboard --dir $D/acme --subject ${ALICE} --reason-code other --yes`,
  );
  return good;
}

test("a stolen key ends after its last good event, and readers of v0.1 get the same state", async (of) => {
  await of.says(CREATE, { out: "Published the commitment " });
  assertEquals(await of.mode("recovery-1.jwk"), 0o600);
  const good = await steal(of);
  await of.says(`${MAY} ${MALLORY}`, { code: 0 });
  await of.says(`${MAY} ${ALICE}`, { code: 1 });
  await of.says(`${RECOVER} --stolen orgsign-1=${good}`, {
    out: [
      `key orgsign-1 ends after event ${good} (compromised)`,
      `loses access: ${MALLORY} employee deploy`,
      `gains access: ${ALICE} `,
      "corrective: relationship.revoke r-mallory",
      "Published statement 1: ",
      "New events are signed with orgsign-2",
    ],
  });
  await of.says(`${MAY} ${MALLORY}`, { code: 1, out: "no_relationship" });
  await of.says(`${MAY} ${ALICE}`, { code: 0 });
  const shown = (await of.ok("log $D/acme --format json --from 4"))
    .trim().split("\n").map((line) => JSON.parse(line).void);
  assertEquals(shown.slice(0, 3), [true, true, undefined]);
  await of.says("log $D/acme", { out: "  void  " });
  await of.says("audit $D/acme", { out: "void: its key had ended" });
  // A reader of v0.1 does not know the member.
  await of.edit("acme/.well-known/sig.json", (metadata) => {
    delete metadata.recovery;
  });
  await of.says(`${MAY} ${MALLORY}`, { code: 1, out: "revoked" });
  await of.says(`${MAY} ${ALICE}`, { code: 0 });
});

test("the stolen key signs nothing from then on, and the issuer continues", async (of) => {
  await of.ok(CREATE);
  const good = await steal(of);
  await of.ok(`${RECOVER} --stolen orgsign-1=${good}`);
  const upsert =
    "upsert --dir $D/acme --type other --subject did:web:x.example";
  await of.refused(`${upsert} --kid orgsign-1`, "signing_key_not_found");
  await of.ok(upsert);
  const ids = (await of.events()).map(({ event_id }) => event_id);
  const voidId = ids[good];
  await of.refused(
    `upsert --dir $D/acme --subject ${MALLORY} --type employee --role deploy --relationship-id r-mallory --event-id ${voidId}`,
    "duplicate_event_id",
  );
  await of.refused(
    "upsert --dir $D/acme --type other --subject did:web:x.example --relationship-id r-mallory",
    "invalid_field",
  );
  await of.says("verify $D/acme", { err: "event_void" });
  await of.ok("checkpoint --dir $D/acme");
  // A second statement of the next key, which lowers the end.
  await of.ok(
    `recover --dir $D/acme --recovery-key $D/recovery-2.jwk --next $D/recovery-3.jwk --yes --stolen orgsign-1=${
      good - 1
    } --confirm-losses 1`,
  );
  await of.says("verify $D/acme", { err: "event_void" });
});

test("a lost key ends, and its events stay valid", async (of) => {
  await of.ok(CREATE);
  await of.ok("checkpoint --dir $D/acme");
  await Deno.chmod(of.dir, 0o700);
  await of.says("backup --dir $D/acme --out $D/acme.tar", {
    ...{ code: 0, out: "not in it, kept offline: the recovery key" },
  });
  const before = await of.ok("dump-state $D/acme --format json");
  await Deno.remove(of.path("keys"), { recursive: true });
  await of.says(`${RECOVER} --lost orgsign-1`, {
    out: "Published statement 1: 0 events void, 0 corrective events",
  });
  assertEquals(await of.ok("dump-state $D/acme --format json"), before);
  await of.ok("upsert --dir $D/acme --type other --subject did:web:x.example");
});

test("a recovery that is refused changes nothing", async (of) => {
  const snapshot = () => of.snapshot();
  await of.refused(
    "recovery create --dir $D/acme --out $D/acme/recovery.jwk",
    "invalid_request",
  );
  await of.refused(
    "recovery create --dir $D/acme --out $D/keys/recovery.jwk",
    "invalid_request",
  );
  await of.refused(`${RECOVER} --lost orgsign-1`, "source_not_found");
  await of.ok("key generate --out $D/other.jwk");
  await of.refused(
    `recover --dir $D/acme --recovery-key $D/other.jwk --next $D/n.jwk --yes --lost orgsign-1`,
    "invalid_request",
  );
  await of.ok(CREATE);
  await of.refused(
    "recovery create --dir $D/acme --out $D/recovery-9.jwk",
    "issuer_exists",
  );
  const last = (await of.events()).length;
  await of.copy("acme", "published");
  await steal(of);
  await of.copy("acme", "longer");
  await of.copy("keys/acme.example/orgsign-1.jwk", "signer.jwk");
  const before = await snapshot();
  const refusals: [string, string][] = [
    [
      "recover --dir $D/acme --recovery-key $D/other.jwk --next $D/n.jwk --yes --lost orgsign-1",
      "invalid_key",
    ],
    [`${RECOVER} --stolen orgsign-1=99`, "invalid_request"],
    [`${RECOVER} --stolen orgsign-7=1`, "invalid_request"],
    [`${RECOVER} --stolen orgsign-1`, "invalid_request"],
    [
      `${RECOVER} --stolen orgsign-1=${last} --stolen orgsign-1=${last}`,
      "--stolen names orgsign-1 twice",
    ],
    [`${RECOVER} --lost orgsign-1 --kid orgsign-1`, "kid_exists"],
    [`${RECOVER} --lost orgsign-1 --kid ../x`, "invalid_identifier"],
    [
      `recover --dir $D/acme --recovery-key $D/recovery-1.jwk --next-public $D/signer.jwk --yes --stolen orgsign-1=${last}`,
      'the next recovery key is the signing key "orgsign-1"',
    ],
    [RECOVER, "Name it with --stolen KID[=SEQUENCE] or --lost KID."],
    [
      `recover --dir $D/acme --recovery-key $D/recovery-1.jwk --next $D/recovery-1.jwk --yes --stolen orgsign-1=${last}`,
      "invalid_key",
    ],
    [
      `recover --dir $D/published --recovery-key $D/recovery-1.jwk --next $D/n.jwk --yes --stolen orgsign-1=${last} --against ./longer`,
      "feed_rolled_back",
    ],
    [
      `recover --dir $D/acme --recovery-key $D/recovery-1.jwk --next $D/n.jwk --stolen orgsign-1=${last}`,
      "confirmation_required",
    ],
    [
      `${RECOVER} --stolen orgsign-1=${last} --again ${last}`,
      "invalid_request",
    ],
  ];
  for (const [words, code] of refusals) {
    await of.refused(words.replace("./longer", "$D/longer"), code);
  }
  assertEquals(await snapshot(), before);
});

test("a used recovery key completes its statement, and signs no other one", async (of) => {
  await of.ok(CREATE);
  const last = (await of.events()).length;
  const repeated = `${RECOVER} --stolen orgsign-1=${last}`;
  await of.ok(repeated);
  await of.says(repeated, { out: "Published statement 1: 0 events void" });
  const refusals = [
    ["--stolen orgsign-1=0", `ends it after event ${last} (compromised)`],
    ["--lost orgsign-1", `ends it after event ${last} (compromised)`],
    ["--lost orgsign-2", "does not end it"],
  ];
  const before = await of.snapshot();
  for (const [flags, why] of refusals) {
    await of.says(`${RECOVER} ${flags}`, {
      ...{ code: 2, out: "key orgsign-1 ends" },
      err: `statement 1, which is published, ${why}`,
    });
  }
  assertEquals(await of.snapshot(), before);
});

test("a repeated recovery completes the kid that it added, also a number", async (of) => {
  await of.ok(CREATE);
  await of.ok("rotate-key --dir $D/acme --kid orgsign-2");
  const recover = `${RECOVER} --lost orgsign-1 --kid 7`;
  await of.says(recover, { out: "New events are signed with 7" });
  const done = await of.snapshot();
  await of.says(recover, { out: "New events are signed with 7" });
  // As after a kill between sig.json and jwks.json.
  for (const name of ["jwks", "did"]) {
    await of.edit(`acme/.well-known/${name}.json`, (document) => {
      const remove = (list: { id?: string; kid?: string }[]) =>
        list.filter((each) =>
          each.kid !== "7" && !`${each.id ?? each}`.endsWith("#7")
        );
      if (document.keys) document.keys = remove(document.keys);
      else {
        document.verificationMethod = remove(document.verificationMethod);
        document.assertionMethod = remove(document.assertionMethod);
      }
    });
  }
  await of.says(recover, { out: "New events are signed with 7" });
  const jwks = of.path("acme/.well-known/jwks.json");
  assertEquals(
    JSON.parse(await Deno.readTextFile(jwks)),
    JSON.parse(done.get(jwks)!),
  );
});

test("no command makes a recovery key or a key that ended a signing key", async (of) => {
  await of.copy("keys/acme.example/orgsign-1.jwk", "stolen.jwk");
  await of.ok("recovery create --dir $D/acme --out $D/recovery-1.jwk");
  const rotate = "rotate-key --dir $D/acme --kid orgsign-9 --key";
  const isRecovery = "it is a recovery key of the issuer";
  await of.refused(`${rotate} $D/recovery-1.jwk`, isRecovery);
  await of.ok(`${RECOVER} --lost orgsign-1`);
  await of.refused(`${rotate} $D/recovery-2.jwk`, ["invalid_key", isRecovery]);
  await of.edit("stolen.jwk", (key) => delete key.kid);
  await of.refused(`${rotate} $D/stolen.jwk`, [
    ...["invalid_key", "the issuer's recovery key ended it"],
  ]);
});

test("a key that the thief added must be named", async (of) => {
  await of.ok(CREATE);
  const good = (await of.events()).length;
  await of.copy("keys", "stolen");
  const asThief = { env: { SIG_KEYS_DIR: of.path("stolen") } };
  await of.ok("rotate-key --dir $D/acme --kid evil-2", asThief);
  await of.ok(
    `upsert --dir $D/acme --subject ${MALLORY} --type employee --role deploy`,
    asThief,
  );
  const stolen = `${RECOVER} --stolen orgsign-1=${good}`;
  await of.refused(stolen, [
    `key "evil-2" signed event ${good + 1}, after the theft`,
    "--stolen with sequence 0",
  ]);
  await of.ok(`${stolen} --stolen evil-2=0`);
  await of.says(`${MAY} ${MALLORY}`, { code: 1, out: "no_relationship" });
});

test("a key that stays after a theft is named, since a thief may have added it here", async (of) => {
  await of.ok(CREATE);
  const good = (await of.events()).length;
  await of.ok("rotate-key --dir $D/acme --kid evil-2");
  await of.ok(
    `upsert --dir $D/acme --subject ${MALLORY} --type employee --role deploy`,
  );
  const stolen = `${RECOVER} --stolen orgsign-1=${good}`;
  const stays =
    "key evil-2 stays valid, with 1 event after the theft. If it is not yours, end it too: --stolen evil-2=0";
  await of.says(`${stolen} --drill`, { err: stays });
  await of.says(`${stolen} --drill --format json`, {
    out: `"kid": "evil-2",\n      "events": 1`,
  });
  await of.says(stolen.replace(" --yes", ""), { code: 2, err: stays });
  await of.ok(`${stolen} --stolen evil-2=0`);
  await of.says(`${MAY} ${MALLORY}`, { code: 1, out: "no_relationship" });
});

test("a directory without its last statements signs no other one", async (of) => {
  await of.ok(CREATE);
  await of.copy("acme", "backup");
  await of.ok(`${RECOVER} --lost orgsign-1`);
  const again = RECOVER.replace("/acme", "/backup").replace("y-2", "y-3");
  const upsert =
    "upsert --dir $D/backup --type other --subject did:web:x.example";
  const behind =
    "the published sig.json has 1 statement of recovery keys, and the one in the directory 0";
  for (const words of [`${again} --lost orgsign-1`, upsert]) {
    const against = `${words} --against $D/acme`;
    await of.refused(against, ["recovery_contradicted", behind]);
  }
  await of.refused("restore --dir $D/backup --from $D/acme", behind);
  // Signed without --against: two statements with the same number.
  await of.says(`${again} --lost orgsign-1`, { code: 0 });
  await of.refused(`${upsert} --against $D/acme`, [
    "recovery_contradicted",
    "statement 1 of recovery keys in the directory is not the published one",
    "Never publish this directory",
  ]);
});

test("recovery keys may be encrypted, and a void event may be appended again", async (of) => {
  await of.write("pass", "correct horse\n");
  await Deno.chmod(of.path("pass"), 0o600);
  await of.ok(`${CREATE} --passphrase-file $D/pass`);
  assert((await of.read("recovery-1.jwk")).startsWith("age-encryption.org/"));
  const good = await steal(of);
  const all = `${RECOVER} --stolen orgsign-1=${good} --again ${good + 2}`;
  await of.refused(all, "invalid_request");
  await of.ok(`${all} --passphrase-file $D/pass`);
  await of.says(`${MAY} ${ALICE}`, { code: 1, out: "revoked" });
  assert((await of.read("recovery-2.jwk")).startsWith("age-encryption.org/"));
});

test("a drill shows what four readers say, and changes nothing", async (of) => {
  await of.ok(CREATE);
  const good = await steal(of);
  const before = await of.snapshot();
  const drill =
    `recover --dir $D/acme --recovery-key $D/recovery-1.jwk --stolen orgsign-1=${good} --drill`;
  const { readers } = await of.json(drill);
  const said = (subject: string) =>
    readers.filter((each: { subject: string }) => each.subject === subject)
      .map(({ reader, before, between, after }: Record<string, string>) =>
        [reader, before, between, after].join(" ")
      );
  assertEquals(said(MALLORY), [
    "first look allow deny deny",
    "by feed allow deny deny",
    "by proof allow deny deny",
    "v0.1 allow allow deny",
  ]);
  assertEquals(said(ALICE), [
    "first look deny allow allow",
    "by feed deny allow allow",
    "by proof deny allow allow",
    "v0.1 deny deny allow",
  ]);
  await of.says(drill, {
    out: ["Drill: the recovery key fits", "Nothing was"],
  });
  assertEquals(await of.snapshot(), before);
  await of.refused(drill.replace("recovery-1", "other"), "source_not_found");
});

test("on a terminal, recover asks for the last good event and before it publishes", async (of) => {
  await of.ok(CREATE);
  const good = await steal(of);
  const interactive = RECOVER.replace(" --yes", "");
  /** Answers whether an event is the operator's, and whether to publish. */
  const answering = (isOwn: (sequence: number) => boolean, publishes = true) =>
    terminal((question) => {
      const [, sequence] = /^Is this event yours\? (\d+) /.exec(question) ?? [];
      return sequence === undefined ? publishes : isOwn(Number(sequence));
    });
  const before = await of.snapshot();
  const declined = answering((sequence) => sequence <= good, false);
  await of.says(`${interactive} --stolen orgsign-1`, {
    ...{ ...declined, code: 2, err: "confirmation_required" },
    out: [
      `key orgsign-1 ends after event ${good} (compromised)`,
      "Not compared with the published feed: --against",
    ],
  });
  assertEquals(await of.snapshot(), before);
  const asked = declined.asked.map((text) => text.split(" (")[0]!);
  assertEquals(asked, [
    `Is this event yours? ${good + 2} revoke ${ALICE} other`,
    `Is this event yours? ${good + 1} upsert ${MALLORY} employee deploy`,
    `Is this event yours? ${good} revoke did:web:bob.example contract_ended`,
    "Publish this statement? It can't be taken back",
  ]);
  // None of the events is the operator's: all are void.
  const nothing = answering(() => false, false);
  await of.says(`${interactive} --stolen orgsign-1 --confirm-losses 1`, {
    ...{ ...nothing, code: 2 },
    out: "key orgsign-1 ends after event 0 (compromised)",
  });
  assertEquals(await of.snapshot(), before);
  await of.says(
    `${interactive} --stolen orgsign-1`,
    answering((sequence) => sequence <= good),
  );
  await of.says(`${MAY} ${MALLORY}`, { code: 1, out: "no_relationship" });
  // A repetition only asks whether to complete it.
  const again = answering(() => false);
  await of.says(`${interactive} --stolen orgsign-1=${good}`, {
    ...again,
    out: "0 corrective events",
  });
  assertEquals(again.asked, ["Complete the interrupted recovery?"]);
});
