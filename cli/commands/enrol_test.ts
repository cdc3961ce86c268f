import { assertEquals, assertStringIncludes } from "@std/assert";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import {
  answered,
  enrolled,
  invited,
  notEnrolled,
} from "../testdata/enrolment.ts";
import { sig } from "../testdata/process.ts";
import {
  assertRan,
  issuerTest as test,
  terminal,
} from "../testdata/workspace.ts";

const ENROL = "enrol --dir $D/acme --answer";

test("if two processes enrol two people with one invitation, exactly one succeeds", async (workspace) => {
  const cwd = workspace.dir;
  const soon = { io: { now: () => new Date() } };
  await workspace.sig("invite --dir $D/acme --type other --out $D/i", soon);
  const people = ["alice.json", "mallory.json"];
  for (const out of people) {
    const accept = ["accept", "./i", "--sig", "./acme", "--out", out];
    assertEquals((await sig(accept, { cwd })).code, 0);
  }
  const ended = await Promise.all(
    people.map((file) =>
      sig(["enrol", "--dir", "acme", "--answer", file, "--yes"], { cwd })
    ),
  );
  assertEquals(ended.map(({ code }) => code).sort(), [0, 2]);
  const refused = ended.find(({ code }) => code === 2)!;
  assertStringIncludes(refused.stderr, "error: invitation_used: ");
  assertEquals((await workspace.events()).length, 4);
});

test("enrol reads answers of up to 64 KiB", async (workspace) => {
  await workspace.write("large.json", " ".repeat(65_537));
  await workspace.refused(
    `${ENROL} $D/large.json --yes`,
    "error: document_too_large: ",
  );
});

test("enrol that can't write its acknowledgement has succeeded, and repeating it returns the event", async (workspace) => {
  const answer = await answered(workspace, await invited(workspace));
  await workspace.write("answer.json", JSON.stringify(answer));
  const words = `${ENROL} $D/answer.json --yes`;
  const stdout = () => {
    throw new Error("the terminal is gone");
  };
  await workspace.says(words, {
    io: { stdout },
    err:
      "warning: the events are published, but a later step failed: the terminal is gone\n",
  });
  const { sequence, repeated } = await workspace.json(words);
  assertEquals([sequence, repeated], [4, true]);
});

test("enrol verifies a did:web subject with the current key of its document", async (workspace) => {
  const invitation = await invited(workspace);
  await workspace.ok("key generate --out $D/w.jwk --kid k");
  const { d: _, ...jwk } = JSON.parse(await workspace.read("w.jwk"));
  let keys: object[] = [];
  await using server = serveLoopback(() =>
    Response.json({ id: did, authentication: keys })
  );
  const { did } = server;
  const { stdout } = await workspace.sig(
    `accept ${invitation} --sig $D/acme --key $D/w.jwk --subject ${did}`,
  );
  const insecure = "--yes --allow-insecure";
  const refused = (code: string, words = insecure) =>
    notEnrolled(workspace, stdout, `error: ${code}: `, words);
  await refused("address_not_allowed", "--yes");
  await refused("attestation_signature_invalid");
  const type = "JsonWebKey2020";
  keys = [{ id: `${did}#k`, type, controller: did, publicKeyJwk: jwk }];
  assertEquals((await enrolled(workspace, stdout, insecure)).code, 0);
  assertEquals((await workspace.events()).at(-1).subject, did);
  await server[Symbol.asyncDispose]();
  await refused("key_unresolvable");
});

const NAMES = "acme/.sig/people.csv";
const KEEP = "--yes --keep-name";

test("enrol saves the invited name only with --keep-name or after a confirmation", async (workspace) => {
  const said = `--for 'Alice "Al" Doe, née \u202eRoe'`;
  const answer = await answered(workspace, await invited(workspace, said));
  await enrolled(workspace, answer);
  assertEquals(await workspace.read(NAMES).catch(() => "none"), "none");
  const first =
    `subject,name\n${answer.subject},"Alice ""Al"" Doe, née \u202eRoe"\n`;
  // Repeating adds no second row.
  for (const _ of [1, 2]) {
    const { code, stderr } = await enrolled(workspace, answer, KEEP);
    assertEquals([code, stderr.includes("\u202e")], [0, false]);
    assertEquals(await workspace.read(NAMES), first);
  }
  assertEquals(await workspace.mode(NAMES), 0o600);
  const invitation = await invited(workspace, "--for Bob");
  const bob = await answered(workspace, invitation, "bob.jwk");
  await workspace.write("bob.json", JSON.stringify(bob));
  const given = terminal();
  await workspace.sig("enrol --dir $D/acme --answer $D/bob.json", given);
  assertEquals(given.asked, [
    "Publish this?",
    `Keep the name Bob in ${workspace.path(NAMES)}?`,
  ]);
  assertEquals(
    await workspace.read(NAMES),
    `${first}${bob.subject},Bob\n`,
  );
  assertStringIncludes(await workspace.ok("who $D/acme"), "Bob");
});

test("enrol asks every question before it appends, so that Ctrl-C publishes nothing", async (workspace) => {
  const invitation = await invited(workspace, "--for Alice");
  const answer = await answered(workspace, invitation);
  await workspace.write("a.json", JSON.stringify(answer));
  const lengths: number[] = [];
  const given = terminal(async () => {
    lengths.push((await workspace.events()).length);
    return true;
  });
  await workspace.says("enrol --dir $D/acme --answer $D/a.json", given);
  assertEquals(lengths, [3, 3]);
  assertEquals((await workspace.events()).length, 4);
});

test("enrol succeeds with a warning if the name cannot be saved", async (workspace) => {
  const invitation = await invited(workspace, "--for Alice");
  const answer = await answered(workspace, invitation);
  for (
    const [text, why] of [
      [
        `subject,name\n${answer.subject},Eve\n`,
        "another person or name for",
      ],
      ["nonsense\n", "it has no column subject"],
    ] as const
  ) {
    await workspace.write(NAMES, text);
    assertRan(await enrolled(workspace, answer, KEEP), {
      err: ["warning: ", why],
    });
    assertEquals(await workspace.read(NAMES), text);
  }
  await workspace.write(NAMES, "subject,name");
  await enrolled(workspace, answer, KEEP);
  assertEquals(
    await workspace.read(NAMES),
    `subject,name\n${answer.subject},Alice\n`,
  );
});
