import { FEED, issuerTest as test, UPSERT } from "../testdata/workspace.ts";

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
