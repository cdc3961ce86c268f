import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  issuerTest as test,
  terminal,
  type Workspace,
} from "../testdata/workspace.ts";
import { answered } from "../testdata/enrolment.ts";

const INVITE = "invite --dir $D/acme --type employee";

test("invite prints the terms as JSON, and --out writes a file of mode 0600", async (workspace) => {
  const { invitation, jti, expires_at, ...others } = await workspace.json(
    `${INVITE} --valid-until 2027-06-30 --expires 90d --out $D/alice`,
  );
  assertEquals(others, {
    file: "$D/alice",
    issuer: "did:web:acme.example",
    relationship_type: "employee",
    roles: [],
    valid_from: null,
    valid_until: "2027-07-01T00:00:00Z",
    for: null,
  });
  assertMatch(expires_at, /^2026-04-01T00:00:\d\dZ$/);
  assertEquals(jti.length, 43);
  assertEquals(await workspace.read("alice"), `${invitation}\n`);
  assertEquals(await workspace.mode("alice"), 0o600);
  await workspace.refused(`${INVITE} --out $D/alice`, "error: write_failed: ");
});

test("invite signs with the issuer's current signing key", async (workspace) => {
  const kidOf = async (words = "") => {
    const { stdout } = await workspace.sig(`${INVITE} ${words}`);
    return JSON.parse(atob(stdout.split(".")[0]!)).kid;
  };
  assertEquals(await kidOf(), "orgsign-1");
  await workspace.ok("rotate-key --dir $D/acme --kid k-2");
  assertEquals(await kidOf(), "k-2");
  assertEquals(await kidOf("--kid orgsign-1"), "orgsign-1");
  await workspace.refused(`${INVITE} --kid k-3`, "signing_key_not_found: ");
});

const PAGE = "https://login.acme.example";
const LISTED = "invite --dir $D/acme --from $D/list.csv --out $D/inv";

const LIST = [
  "Person,Name,Type,Roles,Valid until",
  "17,Olga Berg,employee,deploy,",
  '"../18",Hans Fischer,contractor,"review;deploy",2026-06-30',
  "19,Mia Lang,employee,review,",
  "",
].join("\n");

/** Answers the invitation in a file of `inv`, and returns the answer. */
async function answerTo(workspace: Workspace, file: string, key: string) {
  const invitation = (await workspace.read(`inv/${file}`)).trim();
  return await answered(workspace, invitation, key);
}

test("invite --from writes an invitation for each person without a key, once", async (workspace) => {
  await workspace.write("list.csv", LIST);
  const { stdout } = await workspace.says(`${LISTED} --page ${PAGE}`);
  assertEquals(
    stdout,
    `17.txt  Olga Berg
__18.txt  Hans Fischer
19.txt  Mia Lang
Wrote 3 invitations and links.csv to $D/inv
`,
  );
  assertEquals(await workspace.mode("inv/17.txt"), 0o600);
  const links = await workspace.read("inv/links.csv");
  assert(links.startsWith('\uFEFF"person","name","link"\r\n'), links);
  const link = (await workspace.read("inv/17.txt")).trim();
  assertStringIncludes(links, `"17","Olga Berg","${link}"`);
  assertStringIncludes(link, `${PAGE}`);
  await workspace.says(`${LISTED} --page ${PAGE}`, {
    stdout: "Nothing to do: nobody on the list waits for an invitation.\n",
    stderr:
      "warning: 3 invitations still open, and not made again: Olga Berg, Hans Fischer, Mia Lang\n",
  });
  assertEquals((await workspace.read("inv/17.txt")).trim(), link);
  // After they have expired, new ones replace them.
  const later = { io: { now: () => new Date("2026-02-01T00:00:00Z") } };
  const { invitations, still_open } = await workspace.json(LISTED, later);
  assertEquals([invitations.length, still_open.length], [3, 0]);
  assert((await workspace.read("inv/17.txt")).trim() !== link);
  await workspace.refused(`${LISTED} --for X`, "contradict each other");
});

test("enrol writes person and name of the invitation's row into the people file", async (workspace) => {
  await workspace.write("list.csv", LIST);
  await workspace.ok(LISTED);
  const { subject, ...answer } = await answerTo(workspace, "17.txt", "o.jwk");
  await workspace.write("olga.json", JSON.stringify(answer));
  const given = terminal();
  await workspace.says("enrol --dir $D/acme --answer $D/olga.json", given);
  assertEquals(given.asked, ["Publish this?"]);
  assertStringIncludes(
    await workspace.read("acme/.sig/people.csv"),
    `${subject},17,Olga Berg\n`,
  );
  const open = await workspace.read("acme/.sig/invitations.jsonl");
  assertEquals(open.trim().split("\n").length, 2);
  // She has a key now: the list changes nothing for her.
  const plan = await workspace.json("plan --dir $D/acme --from $D/list.csv");
  assertEquals(plan.changes, []);
  assertEquals(
    plan.waiting.map(({ person }: { person: string }) => person),
    ["../18", "19"],
  );
});

test("enrol --answers enrols a folder in one batch, and names the faulty answers", async (workspace) => {
  await workspace.write("list.csv", LIST);
  await workspace.ok(LISTED);
  const olga = await answerTo(workspace, "17.txt", "o.jwk");
  const hans = await answerTo(workspace, "__18.txt", "h.jwk");
  const mia = await answerTo(workspace, "19.txt", "m.jwk");
  const thief = await answerTo(workspace, "19.txt", "thief.jwk");
  for (
    const [name, text] of [
      ["1.json", JSON.stringify(olga)],
      ["2.json", JSON.stringify(hans)],
      ["2-again.json", JSON.stringify(hans)],
      ["3.json", JSON.stringify(mia)],
      ["4.json", JSON.stringify(thief)],
      ["5.json", "{"],
      ["notes.txt", "not an answer"],
    ] as const
  ) await workspace.write(`answers/${name}`, text);
  const enrol = "enrol --dir $D/acme --answers $D/answers";
  await workspace.refused(enrol, [
    "3.json is left out: invitation_used: another person has answered the same invitation",
    "4.json is left out: invitation_used",
    "5.json is left out: invalid_json",
    `subject      ${olga.subject}`,
    "error: confirmation_required: Cannot enrol: publishing 2 relationships is not confirmed",
  ]);
  await workspace.says(`${enrol} --yes`, {
    code: 1,
    out: "Appended 2 events (seq=4 to 5)",
  });
  const events = await workspace.events();
  assertEquals(
    events.slice(3).map(({ subject }) => subject),
    [olga.subject, hans.subject],
  );
  const people = await workspace.read("acme/.sig/people.csv");
  assertStringIncludes(people, `${hans.subject},../18,Hans Fischer\n`);
  assert(!people.includes(thief.subject));
  // Repeating it changes nothing.
  const again = await workspace.sig(`${enrol} --yes --format json`);
  assertEquals(again.code, 1);
  const { applied, left_out } = JSON.parse(again.stdout);
  assertEquals([applied, left_out.length], [0, 3]);
  await workspace.refused("enrol --dir $D/acme --answers $D/none", [
    "error: source_not_found: ",
  ]);
  await workspace.refused(
    "enrol --dir $D/acme",
    "give either --answer or --answers",
  );
});

test("an invitation of a list adds no key to a person who got one, and brings back nobody", async (workspace) => {
  await workspace.write("list.csv", LIST);
  await workspace.ok(LISTED);
  const { subject, ...answer } = await answerTo(workspace, "17.txt", "o.jwk");
  await workspace.write("answers/olga.json", JSON.stringify(answer));
  await workspace.write(
    "keys.csv",
    "person,name,type,roles,subject\n17,Olga Berg,employee,deploy,did:web:olga.example\n",
  );
  const apply = "apply --dir $D/acme --from $D/keys.csv --yes";
  await workspace.says(apply, { err: "Saved Olga Berg" });
  const enrol = "enrol --dir $D/acme --answer $D/answers/olga.json --yes";
  const why =
    'subject_mismatch: Cannot enrol: the invitation is for a first key, and person "17" has had "did:web:olga.example"';
  await workspace.refused(enrol, [why, "sig invite --also"]);
  await workspace.says(
    "offboard --dir $D/acme --subject 17 --reason-code employment_ended --yes",
    { out: "Appended 1 event" },
  );
  const before = await workspace.events();
  await workspace.refused(enrol, [why, "--readmit"]);
  await workspace.says("enrol --dir $D/acme --answers $D/answers --yes", {
    code: 1,
    err: `olga.json is left out: ${why}`,
  });
  // Without the people file, nobody knows whether the person had a key.
  const people = await workspace.read("acme/.sig/people.csv");
  await workspace.write("acme/.sig/people.csv", 'subject,person\n"');
  await workspace.refused(enrol, ["invalid_request", "people.csv"]);
  await workspace.write("acme/.sig/people.csv", people);
  assertEquals(await workspace.events(), before);
  // The way on: a row with the new key.
  await workspace.write(
    "keys.csv",
    `person,name,type,roles,subject\n17,Olga Berg,employee,deploy,${subject}\n`,
  );
  await workspace.says(`${apply} --readmit`, { err: "Saved Olga Berg" });
  const last = (await workspace.events()).at(-1);
  assertEquals(last?.subject, subject);
});
