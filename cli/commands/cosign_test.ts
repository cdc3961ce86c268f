import {
  FEED,
  serveIssuer,
  workspaceTest as test,
} from "../testdata/workspace.ts";

const ALICE = "--subject did:web:alice.example";

test("a cosigner replays the feed, and readers can require its signature", async (workspace) => {
  await using server = await serveIssuer(workspace);
  const { host } = server;
  const insecure = "--allow-insecure";
  for (
    const words of [
      `upsert --dir $D/acme ${ALICE} --type employee`,
      "key generate --out $D/cosigner.jwk",
    ]
  ) await workspace.ok(words);
  const cosign = `cosign ${host} --key $D/cosigner.jwk ${insecure} --name`;
  const name = "cosigner.example/1";
  await workspace.says(`${cosign} ${name}`, {
    code: 2,
    err: "the issuer publishes no checkpoint",
  });
  await workspace.ok("checkpoint --dir $D/acme --init");
  const cosigned = await workspace.says(`${cosign} ${name}`);
  const [, vkey = ""] = / as (\S+)\n/.exec(cosigned.stderr) ?? [];
  const check =
    `check --sig ${host} ${ALICE} ${insecure} --require relationship=employee --cosigner ${vkey}`;
  await workspace.refused(check, "cosignatures_missing");
  await workspace.ok("checkpoint --dir $D/acme --add -", {
    stdin: cosigned.stdout,
  });
  await workspace.ok(`${check} --cosigned-within 1d`);
  await workspace.says(`${check} --explain --format text`, {
    out: [
      "  proven by the checkpoint of 1 event, signed at 2026-01-01T00:00:",
      "Z, and 0 events after it\n",
      `  to keep this with its proof: sig evidence make --sig ${host} ${ALICE} --require relationship=employee\n`,
    ],
  });
  await workspace.refused(
    `${check} --cosigners 2`,
    "--cosigner must name at least 2",
  );
  await workspace.refused(`${cosign} 'two words'`, "invalid_request");
  // A local source is never remembered.
  await workspace.refused(
    `cosign $D/acme --key $D/cosigner.jwk --name ${name}`,
    'invalid_identifier: Cannot ask issuer "',
  );
  // A feed that contradicts the pin is not cosigned.
  await workspace.write(FEED, "");
  await workspace.says(`${cosign} ${name}`, {
    code: 2,
    err: "feed_rolled_back",
  });
});
