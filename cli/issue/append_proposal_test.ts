import { assertEquals, assertStringIncludes } from "@std/assert";
import { issuerTest as test, terminal, UPSERT } from "../testdata/workspace.ts";

test("an interrupt after the append does not report it as interrupted", async (workspace) => {
  const stop = Promise.withResolvers<void>();
  let printed = "";
  await workspace.says(UPSERT, {
    interrupted: stop.promise,
    io: {
      stdout(text) {
        printed += text;
        stop.resolve();
      },
    },
  });
  assertStringIncludes(printed, "(seq=4)");
});

test("a people file that can't be read is a warning of commands that append", async (workspace) => {
  const windows1252 = Uint8Array.of(
    ...new TextEncoder().encode("subject,name\ndid:web:alice.example,J"),
    0xf6,
    0x0a,
  );
  await workspace.write("acme/.sig/people.csv", windows1252);
  const subject = "--subject did:web:alice.example";
  await workspace.says(`set --dir $D/acme ${subject} --add-role audit`, {
    out: "Appended 1 event (seq=4)",
    err: "warning: Cannot read people file ",
  });
  const offboard = `offboard --dir $D/acme ${subject} --yes`;
  await workspace.says(`${offboard} --reason-code employment_ended`, {
    out: "Appended 1 event (seq=5)",
    err: "warning: Cannot read people file ",
  });
});

test("proofs are updated although the acknowledgement can't be written", async (workspace) => {
  await workspace.says("checkpoint --dir $D/acme --init");
  const checkpoint = "acme/.well-known/sig/checkpoint";
  const stdout = () => {
    throw new Error("the disk is full");
  };
  await workspace.says(UPSERT, {
    io: { stdout },
    stderr:
      "warning: the events are published, but a later step failed: the disk is full\n",
  });
  assertEquals((await workspace.read(checkpoint)).split("\n")[1], "4");
  await workspace.says(`${UPSERT} --format json`, {
    io: { stdout, stderr: stdout },
  });
  assertEquals((await workspace.read(checkpoint)).split("\n")[1], "5");
});

test("an upsert does not undo a revocation that was published while its question was open", async (workspace) => {
  const given = terminal(async (question, count) => {
    if (count > 1) return false;
    assertStringIncludes(question, "is one role with a comma in it");
    await workspace.ok(
      "revoke --dir $D/acme --relationship-id r1 --reason-code employment_ended",
    );
    return true;
  });
  const words =
    "upsert --dir $D/acme --subject did:web:alice.example --type employee --role a,b --relationship-id r1";
  await workspace.says(words, {
    ...given,
    code: 2,
    err: "error: confirmation_required: ",
  });
  assertEquals(given.asked.length, 2);
  assertStringIncludes(
    given.asked[1]!,
    "relationship r1 is revoked (seq=4), and this makes it active again",
  );
  const last = (await workspace.events()).at(-1);
  assertEquals(last.event_type, "relationship.revoke");
});
