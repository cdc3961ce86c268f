import { DatabaseSync } from "node:sqlite";
import { assertEquals } from "@std/assert";
import {
  issuerTest as test,
  terminal,
  type Workspace,
} from "../testdata/workspace.ts";

const SET = "set --dir $D/acme";
const UPSERT = "upsert --dir $D/acme --type";

async function lastEvent(workspace: Workspace) {
  return (await workspace.events()).at(-1)!;
}

test("set confirms a doubtful value once, and after a concurrent append only new doubts", async (workspace) => {
  const add = async (role: string, meanwhile: string) => {
    const given = terminal(async (_, count) => {
      if (count === 1) await workspace.sig(meanwhile);
      return true;
    });
    await workspace.ok(`${SET} --relationship-id r1 --add-role ${role}`, given);
    return given.asked.map((question) => question.split(/[;,:]/, 1)[0]);
  };
  const unrelated = `${UPSERT} advisor --subject did:web:eve.example`;
  assertEquals(await add("a,b", unrelated), ['"a']);
  const ending = `${SET} --relationship-id r1 --valid-until 2020-01-01`;
  assertEquals(await add("c,d", ending), ['"c', "it already ended"]);
  const { roles, valid_until } = await lastEvent(workspace);
  assertEquals(roles, ["a,b", "c,d", "deploy", "review"]);
  assertEquals(valid_until, "2020-01-02T00:00:00Z");
});

test("set reads the verified feed, not a manipulated index", async (workspace) => {
  using db = new DatabaseSync(workspace.path("acme/.sig/index.db"));
  const first = db.prepare(
    "SELECT * FROM relationships WHERE relationship_id = 'r1'",
  ).get()!;
  await workspace.sig(`${SET} --relationship-id r1 --remove-role review`);
  await workspace.sig(
    "revoke --dir $D/acme --relationship-id r1 --reason-code other",
  );
  db.prepare(
    "UPDATE relationships SET status = 'active', last_sequence = ?, offset = ?, bytes = ? WHERE relationship_id = 'r1'",
  ).run(first.last_sequence!, first.offset!, first.bytes!);
  db.close();
  await workspace.refused(
    `${SET} --relationship-id r1 --title Boss`,
    "already_revoked: Cannot set: the relationship is revoked",
  );
});

test("no role with a control character is given, and one can be removed", async (workspace) => {
  const code = "error: invalid_request: ";
  const set = ["set", "--dir", "$D/acme", "--relationship-id", "r1"];
  for (const flag of ["--add-role", "--role"]) {
    await workspace.refused([...set, flag, "a\nb"], [
      code,
      `${flag} must have no control`,
    ]);
  }
  await workspace.write(
    "list.csv",
    `subject,type,roles\ndid:web:carol.example,other,"a\u0007b"\n`,
  );
  await workspace.refused(
    "plan --dir $D/acme --from $D/list.csv",
    "a role must be text without control characters",
  );
  await workspace.refused(
    [...set, "--remove-role", "a\nb"],
    'the relationship has no role "a\\nb" to remove',
  );
});
