import { assertEquals } from "@std/assert";
import {
  issuerTest as test,
  terminal,
  type Workspace,
} from "../testdata/workspace.ts";

const ENDS = "--reason-code permission_revoked";
const LAPTOP = "did:web:laptop.example";
const PHONE = "did:web:phone.example";

/** Publishes a person with two keys, who is in the people file. */
async function withTwoKeys(workspace: Workspace): Promise<void> {
  const key = (subject: string, id: string) =>
    `upsert --dir $D/acme --subject ${subject} --type employee --role deploy --relationship-id ${id}`;
  await workspace.ok(key(LAPTOP, "laptop"));
  await workspace.ok(key(PHONE, "phone"));
  await workspace.write(
    "acme/.sig/people.csv",
    `subject,person,name\n${LAPTOP},17,Olga Berg\n${PHONE},17,Olga Berg\n`,
  );
}

test("revoke shows on a terminal whose key ends and which keys stay, and asks", async (workspace) => {
  await withTwoKeys(workspace);
  const words = `revoke --dir $D/acme --relationship-id laptop ${ENDS}`;
  const no = terminal(() => false);
  await workspace.says(words, {
    ...no,
    code: 2,
    out: [
      `- end  Olga Berg  ${LAPTOP}  employee  laptop`,
      `stays  ${PHONE}  employee, deploy`,
    ],
    err: "error: confirmation_required: Cannot append: not confirmed",
  });
  assertEquals(no.asked, [
    "End this relationship? 1 other relationship of the person's other keys stay.",
  ]);
  assertEquals((await workspace.events()).length, 5);
  const yes = terminal();
  await workspace.says(words, { ...yes, out: "(seq=6)" });
  assertEquals(yes.asked.length, 1);
});

test("revoke asks nothing without a terminal, and with --yes", async (workspace) => {
  await withTwoKeys(workspace);
  await workspace.ok(`revoke --dir $D/acme --relationship-id laptop ${ENDS}`);
  const given = terminal();
  await workspace.says(
    `revoke --dir $D/acme --relationship-id phone ${ENDS} --yes`,
    given,
  );
  assertEquals(given.asked, []);
});

test("the subject of revoke can be the person, and must fit", async (workspace) => {
  await withTwoKeys(workspace);
  const words = `revoke --dir $D/acme ${ENDS} --relationship-id`;
  await workspace.refused(
    [...`${words} r1 --subject`.split(" "), "Olga Berg"],
    "error: invalid_field",
  );
  await workspace.ok(`${words} phone --subject 17`);
});

test("undo of a revocation restores every member, and says that it is retroactive", async (workspace) => {
  await workspace.ok(
    `upsert --dir $D/acme --subject ${LAPTOP} --type contractor --role deploy --relationship-id x --valid-from 2025-01-01 --valid-until 2027-06-30 --title CTO --department IT --label a --reason why --metadata '{"badge":7}'`,
  );
  await workspace.ok(`revoke --dir $D/acme --relationship-id x ${ENDS}`);
  const given = terminal();
  await workspace.says("undo --dir $D/acme --relationship-id x", {
    ...given,
    out: ["re-activate", "Appended relationship.upsert x (seq=6)"],
    err:
      "warning: this is retroactive: readers see relationship x as if event 5 (revoke, permission_revoked, effective ",
  });
  assertEquals(given.asked, ["Append this?"]);
  const [first, , third] = (await workspace.events()).slice(3);
  const own = ["sequence", "event_id", "issued_at"];
  const content = (event: object) =>
    Object.entries(event).filter(([name]) => !own.includes(name));
  assertEquals(content(third), content(first));
});

test("undo of an upsert restores the one before, and an undo can be undone", async (workspace) => {
  await workspace.ok("set --dir $D/acme --relationship-id r1 --role admin");
  const undo = "undo --dir $D/acme --relationship-id r1";
  await workspace.says(undo, { out: "seq=5" });
  assertEquals((await workspace.events())[4].roles, ["deploy", "review"]);
  await workspace.says(undo, { out: "seq=6" });
  assertEquals((await workspace.events())[5].roles, ["admin"]);
});

test("undo refuses the first event of a relationship, and the return of an ended one", async (workspace) => {
  const undo = "undo --dir $D/acme --relationship-id";
  await workspace.refused(`${undo} r1`, [
    'error: unknown_relationship: Cannot undo: before its last event (seq=1), relationship "r1" did not exist',
    "hint: sig revoke ends it.",
  ]);
  await workspace.refused(`${undo} nobody`, "no event is about relationship");
  await workspace.says(`${undo} r2`, { out: "seq=4" });
  await workspace.refused(`${undo} r2`, [
    'relationship "r2" was ended',
    "hint: sig revoke --reason-code contract_ended ends it again.",
  ]);
});

test("a repeated revoke names sig undo", async (workspace) => {
  await workspace.refused(
    `revoke --dir $D/acme --relationship-id r2 ${ENDS}`,
    ["error: already_revoked", "next: sig undo takes the revocation back"],
  );
});
