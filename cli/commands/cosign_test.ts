import { assertEquals, assertStringIncludes } from "@std/assert";
import { createIssuerSite } from "../site/issuer_site.ts";
import { FEED, workspaceTest as test } from "../testdata/workspace.ts";

const ALICE = "--subject did:web:alice.example";

test("a cosigner replays the feed, and readers can require its signature", async (workspace) => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    createIssuerSite(workspace.path("acme")),
  );
  const host = `127.0.0.1:${server.addr.port}`;
  const insecure = "--allow-insecure";
  for (
    const words of [
      `init ${host} --dir $D/acme ${insecure}`,
      `upsert --dir $D/acme ${ALICE} --type employee`,
      "key generate --out $D/cosigner.jwk",
    ]
  ) await workspace.ok(words);
  const cosign = `cosign ${host} --key $D/cosigner.jwk ${insecure} --name`;
  const name = "cosigner.example/1";
  const none = await workspace.sig(`${cosign} ${name}`);
  assertEquals([none.code, none.stdout], [2, ""]);
  assertStringIncludes(none.stderr, "the issuer publishes no checkpoint");
  await workspace.ok("checkpoint --dir $D/acme --init");
  const cosigned = await workspace.sig(`${cosign} ${name}`);
  assertEquals(cosigned.code, 0, cosigned.stderr);
  const [, vkey = ""] = / as (\S+)\n/.exec(cosigned.stderr) ?? [];
  const check =
    `check --sig ${host} ${ALICE} ${insecure} --require relationship=employee --cosigner ${vkey}`;
  await workspace.refused(check, "cosignatures_missing");
  await workspace.ok("checkpoint --dir $D/acme --add -", {
    stdin: cosigned.stdout,
  });
  await workspace.ok(`${check} --cosigned-within 1d`);
  const explained = await workspace.sig(`${check} --explain --format text`);
  for (
    const part of [
      "  proven by the checkpoint of 1 event, signed at 2026-01-01T00:00:",
      "Z, and 0 events after it\n",
      `  to keep this with its proof: sig evidence make --sig ${host} ${ALICE} --require relationship=employee\n`,
    ]
  ) assertStringIncludes(explained.stdout, part);
  await workspace.refused(
    `${check} --cosigners 2`,
    "--cosigner must name at least 2",
  );
  await workspace.refused(`${cosign} 'two words'`, "invalid_request");
  // A feed that contradicts the pin is not cosigned.
  await workspace.write(FEED, "");
  const shorter = await workspace.sig(`${cosign} ${name}`);
  assertEquals([shorter.code, shorter.stdout], [2, ""]);
  assertStringIncludes(shorter.stderr, "feed_rolled_back");
});
