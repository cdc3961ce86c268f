import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { displayWidth } from "@sig/api/program";
import {
  initIssuer,
  issuerTest,
  testsWith,
  type Workspace,
} from "../testdata/workspace.ts";

/** Keys of one person: a revoked laptop, a phone, and a tablet. */
const LAPTOP = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH";
const PHONE = "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2";
const TABLET = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";

/** Declares a test with Olga Berg (17), who has three keys, and Alice. */
const test = testsWith<Workspace>((workspace, work) =>
  withOlga(workspace, work)
);

async function withOlga(
  workspace: Workspace,
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  await initIssuer(workspace);
  const key = (subject: string, id: string, role: string) =>
    `upsert --dir $D/acme --subject ${subject} --type employee --role ${role} --relationship-id ${id}`;
  await workspace.ok(key(LAPTOP, "laptop", "deploy"));
  await workspace.ok(key(PHONE, "phone", "deploy"));
  await workspace.ok(key(TABLET, "tablet", "mail"));
  await workspace.ok(
    "revoke --dir $D/acme --relationship-id laptop --reason-code permission_revoked",
  );
  await workspace.write(
    "acme/.sig/people.csv",
    [
      "subject,person,name",
      ...[LAPTOP, PHONE, TABLET].map((each) => `${each},17,Olga Berg`),
      "",
    ].join("\n"),
  );
  await work(workspace);
}

const named = (words: string) => [...words.split(" "), "Olga Berg"];

test("who, log, audit and dump-state answer about all keys of a person", async (workspace) => {
  const who = await workspace.json("who $D/acme --subject 17");
  assertEquals(
    who.map((each: { subject: string }) => each.subject).sort(),
    [TABLET, PHONE].sort(),
  );
  assertEquals([who[0].person, who[0].name, who[0].asked.role], [
    "17",
    "Olga Berg",
    null,
  ]);
  const log = await workspace.ok(named("log $D/acme --format json --subject"));
  assertEquals(log.trim().split("\n").length, 4);
  const audit = await workspace.json("audit $D/acme --subject 17");
  assertEquals(audit.entries.length, 4);
  const state = await workspace.json("dump-state $D/acme --subject 17");
  assertEquals(Object.keys(state.by_relationship_id), [
    "laptop",
    "phone",
    "tablet",
  ]);
});

test("check and evidence ask every key of a person, and the answer says which", async (workspace) => {
  const check = "check --sig $D/acme --format json --require";
  const asked = async (role: string) => {
    const { stdout } = await workspace.sig(
      named(`${check} role=${role} --subject`),
    );
    const { decision, subject } = JSON.parse(stdout);
    return [decision, subject];
  };
  assertEquals(await asked("deploy"), ["allow", PHONE]);
  assertEquals(await asked("mail"), ["allow", TABLET]);
  // The newest key in the feed.
  assertEquals(await asked("nothing"), ["deny", TABLET]);
  await workspace.says("checkpoint --dir $D/acme --init");
  await workspace.says(
    "evidence make --sig $D/acme --subject 17 --require role=deploy --out $D/e.json",
    { out: `allow  ${PHONE}` },
  );
});

test("evidence is made as of an earlier event, and says that dates are the issuer's statements", async (workspace) => {
  await workspace.says("checkpoint --dir $D/acme --init");
  const make =
    `evidence make --sig $D/acme --subject ${LAPTOP} --require role=deploy --out $D/e`;
  await workspace.says(`${make}1.json`, { code: 1 });
  // Before its revocation, which is event 7.
  await workspace.says(`${make}2.json --as-of 6 --at 2027-01-01`);
  const { question, answer } = JSON.parse(await workspace.read("e2.json"));
  assertEquals([question.as_of, answer.as_of, answer.decision], [
    6,
    6,
    "allow",
  ]);
  const { vkey } = await trustOf(workspace);
  await workspace.says(`evidence verify $D/e2.json --trust ${vkey}`, {
    out: "sound: allow",
    err: "dates       dates are the issuer's own statements",
  });
  await workspace.edit("e2.json", (evidence) => evidence.question.as_of = 7);
  await workspace.says(`evidence verify $D/e2.json --trust ${vkey}`, {
    code: 1,
    out: "the lines don't give this answer",
  });
  await workspace.refused(`${make}3.json --as-of 9`, "error: ");
});

/** Returns the verifier key of the checkpoint of `acme`. */
async function trustOf(workspace: Workspace) {
  const jwks = JSON.parse(await workspace.read("acme/.well-known/jwks.json"));
  const { formatVerifierKey } = await import("@sig/jose/proofs");
  const { importVerificationKey } = await import("@sig/jose");
  const key = await importVerificationKey(jwks.keys[0]);
  return {
    vkey: formatVerifierKey({
      name: "acme.example/.well-known/sig",
      type: "note",
      key,
    }),
  };
}

test("ssh-keys lists the keys of a person, and names whom it denies", async (workspace) => {
  const ask = "ssh-keys $D/acme --require role=deploy";
  const { stdout } = await workspace.says(named(`${ask} --subject`));
  assertEquals(stdout.trim().split("\n").length, 1);
  assertStringIncludes(stdout, PHONE);
  const [, key] = (await workspace.ok(`key ssh ${LAPTOP}`)).split(" ");
  await workspace.says(`${ask} --key-type ssh-ed25519 --key ${key}`, {
    stdout: "",
    stderr:
      `warning: denied ${LAPTOP} (Olga Berg, 17): revoked, relationship laptop (seq=7)\n`,
  });
});

test("log finds the key of a fingerprint from auth.log", async (workspace) => {
  const [, key = ""] = (await workspace.ok(`key ssh ${PHONE}`)).split(" ");
  const bytes = Uint8Array.fromBase64(key);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const fingerprint = `SHA256:${digest.toBase64({ omitPadding: true })}`;
  const log = `log $D/acme --format json --subject`;
  const events = await workspace.ok(`${log} ${fingerprint}`);
  assertEquals(JSON.parse(events).subject, PHONE);
  await workspace.says(`log $D/acme --subject SHA256:${"A".repeat(43)}`, {
    stdout: "",
    err: "warning: never_seen: no event is about ",
  });
});

issuerTest(
  "a question with a word that the feed has never had names the nearest one",
  async (workspace) => {
    const alice =
      "check --sig $D/acme --subject did:web:alice.example --require";
    const warningsOf = async (words: string) =>
      (await workspace.json(words)).warnings.map((
        { code, detail }: { code: string; detail: string },
      ) => `${code}: ${detail}`);
    assertEquals(await warningsOf(`${alice} role=deplyo`), [
      'never_seen: no event has the role "deplyo"; did you mean deploy?',
    ]);
    assertEquals(await warningsOf(`${alice} relationship=investor`), [
      'never_seen: no event has the type "investor"',
    ]);
    assertEquals(await warningsOf(`${alice} role=deploy`), []);
    // Bob's relationship has ended, but his words are known.
    assertEquals(
      await warningsOf(`${alice} relationship=contractor`),
      [],
    );
    await workspace.says("who $D/acme --role reveiw", {
      stderr:
        'warning: never_seen: no event has the role "reveiw"; did you mean review?\n',
    });
  },
);

test("reports are sorted by name, carry their question, and fit 60 and 120 columns", async (workspace) => {
  await workspace.write(
    "acme/.sig/people.csv",
    `${await workspace.read(
      "acme/.sig/people.csv",
    )}did:web:alice.example,3,Zoe Adams\n`,
  );
  const csv = await workspace.ok(
    `who $D/acme --type employee --as-of 7 --format csv --separator ';'`,
  );
  const [head, ...rows] = csv.split("\r\n").slice(0, -1);
  assert(head!.startsWith('\uFEFF"person";"name";"subject"'), head);
  assertEquals(
    rows.map((row) => row.split(";")[1]),
    ['"Olga Berg"', '"Olga Berg"', '"Zoe Adams"'],
  );
  for (const row of rows) assert(row.endsWith('"";"employee";"";"7"'), row);
  const audit = await workspace.ok(
    "audit $D/acme --to 2026-01-31 --format csv",
  );
  assertStringIncludes(audit.split("\r\n")[0]!, '"person","name"');
  assertStringIncludes(audit, '"2026-01-31T23:59:59.999999999Z"');
  const expiring = await workspace.ok(
    "expiring $D/acme --within 30d --format html",
  );
  assertStringIncludes(expiring, "that end by 2026-");
  for (const words of ["who $D/acme", "audit $D/acme", "log $D/acme"]) {
    for (const width of [60, 100, 120]) {
      const { stdout } = await workspace.sig(words, {
        terminals: ["stdout"],
        env: { NO_COLOR: "1" },
        io: { columns: () => width },
      });
      for (const line of stdout.split("\n")) {
        // The heading is a sentence.
        if (!/^(?:Active|did:web:acme)/.test(line)) {
          assert(displayWidth(line) <= width, `${width}: ${line}`);
        }
      }
      if (width === 100 && words.startsWith("who")) {
        assertStringIncludes(stdout, "did:key:z6MkrJV…swbTQ2");
      }
      if (width === 120 && words.startsWith("audit")) {
        assertStringIncludes(stdout, "\ntime ");
        assertStringIncludes(stdout, "  …t4swbTQ2  ");
      }
    }
  }
});
