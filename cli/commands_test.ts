import { assertEquals } from "@std/assert";
import { FEED, issuerTest as test, UPSERT } from "./testdata/workspace.ts";

test("upsert prints the relationship and the sequence", async (workspace) => {
  const args =
    `${UPSERT} --relationship-id r3 --event-id e4 --title CTO --metadata '{"badge":7}'`;
  const stdout = "Appended relationship.upsert r3 (seq=4)\n";
  await workspace.says(args, { stdout, stderr: "" });
  const { display, metadata, valid_until } = (await workspace.events())[3];
  assertEquals(
    [display, metadata, valid_until],
    [{ title: "CTO" }, { badge: 7 }, null],
  );
});

test("an append prints its event and its warnings as JSON", async (workspace) => {
  const words =
    "revoke --dir $D/acme --relationship-id r2 --reason-code error_correction --amend --event-id e9";
  const expected = {
    event_type: "relationship.revoke",
    event_id: "e9",
    relationship_id: "r2",
    sequence: 4,
    repeated: false,
  };
  const warning = {
    code: "revoked_again",
    detail: "the relationship was revoked already",
    sequence: 4,
  };
  assertEquals(await workspace.json(words), {
    ...expected,
    warnings: [warning],
  });
  assertEquals(await workspace.json(words), { ...expected, repeated: true });
});

test("values that look like numbers or flags are parsed as text", async (workspace) => {
  const words =
    `${UPSERT} --relationship-id 007 --event-id 1e3 --reason '-5% of it' --label=--x --role 12 --role 0x1f`;
  assertEquals(
    await workspace.ok(words),
    "Appended relationship.upsert 007 (seq=4)\n",
  );
  const { event_id, reason, display, roles } = (await workspace.events())[3];
  assertEquals(
    [event_id, reason, display, roles],
    ["1e3", "-5% of it", { label: "--x" }, ["12", "0x1f"]],
  );
});

test("verify exits with 1 on an invalid feed, an append with 2", async (workspace) => {
  const lines = (await workspace.read(FEED)).split("\n");
  // Line 2 has the payload of line 3, so its signature is invalid.
  const [second, third] = [JSON.parse(lines[1]!), JSON.parse(lines[2]!)];
  lines[1] = JSON.stringify({ ...second, payload: third.payload });
  await workspace.write(FEED, lines.join("\n"));

  await workspace.says("verify $D/acme", {
    code: 1,
    out: "invalid: signature_invalid at line 2, sequence 3, kid orgsign-1: ",
  });
  await workspace.refused(
    UPSERT,
    "next: sig verify <source> lists every fault",
  );
});

test("init omits the scheme's default port from the DID", async (workspace) => {
  for (
    const [host, issuer, folder] of [
      ["b.example:443", "did:web:b.example", "b.example"],
      ["B.Example:8443", "did:web:b.example%3A8443", "b.example:8443"],
      ["127.0.0.1:80", "did:web:127.0.0.1", "127.0.0.1"],
      ["localhost:443", "did:web:localhost%3A443", "localhost:443"],
    ] as const
  ) {
    const file = `keys/${folder}/orgsign-1.jwk`;
    assertEquals(
      await workspace.json(`init ${host} --dir $D/${host} --allow-insecure`),
      { issuer, dir: `$D/${host}`, kid: "orgsign-1", key_file: `$D/${file}` },
    );
    assertEquals(await workspace.mode(file), 0o600);
  }
});

test("refuses an append to an older copy of the feed, and warns of an amended revoke", async (workspace) => {
  const upsert =
    "upsert --dir $D/acme --subject did:web:z.example --type employee --relationship-id z";
  const revoke = "revoke --dir $D/acme --relationship-id z --reason-code other";
  const before = await workspace.read(FEED);
  await workspace.ok(upsert);
  await workspace.write(FEED, before);
  await workspace.refused(upsert, "error: feed_rolled_back: ");
  await workspace.says(`${upsert} --accept-rollback`);
  await workspace.ok(revoke);
  await workspace.says(`${revoke} --amend`, {
    err: "warning: revoked_again: ",
  });
});
