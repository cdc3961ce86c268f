import { assertEquals, assertStringIncludes } from "@std/assert";
import { createIssuerSite } from "../site/issuer_site.ts";
import { inWorkspace } from "../testdata/workspace.ts";

const ALICE = "did:web:alice.example";
const NAME = "cosigner.example/1";

Deno.test("a cosigner replays the feed, and readers demand its signature", async () => {
  await inWorkspace(async (workspace) => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      createIssuerSite(workspace.path("acme")),
    );
    const host = `127.0.0.1:${server.addr.port}`;
    const dir = ["--dir", "$D/acme"];
    const insecure = "--allow-insecure";
    const upsert = (subject: string) =>
      workspace.sig([
        ...["upsert", ...dir, "--subject", subject, "--type", "employee"],
      ]);
    await workspace.sig(["init", host, ...dir, insecure]);
    await upsert(ALICE);
    const key = "$D/cosigner.jwk";
    await workspace.sig(["key", "generate", "--out", key]);
    const cosign = (name = NAME, ...more: string[]) =>
      workspace.sig([
        ...["cosign", host, "--key", key, "--name", name, insecure, ...more],
      ]);
    const none = await cosign();
    assertEquals([none.code, none.stdout], [2, ""]);
    assertStringIncludes(none.stderr, "the issuer publishes no checkpoint");
    await workspace.sig(["checkpoint", ...dir, "--init"]);
    const cosigned = await cosign();
    assertEquals(cosigned.code, 0, cosigned.stderr);
    const [, vkey = ""] = / as (\S+)\n/.exec(cosigned.stderr) ?? [];
    const check = (...more: string[]) =>
      workspace.sig([
        ...["check", "--sig", host, "--subject", ALICE, insecure],
        ...["--require", "relationship=employee", "--cosigner", vkey, ...more],
      ]);
    const before = await check();
    assertEquals(before.code, 2);
    assertStringIncludes(before.stderr, "cosignatures_missing");
    const added = await workspace.sig(
      ["checkpoint", ...dir, "--add", "-"],
      { stdin: cosigned.stdout },
    );
    assertEquals(added.code, 0, added.stderr);
    const after = await check("--cosigned-within", "1d");
    assertEquals(after.code, 0, after.stderr);
    const explained = await check("--explain", "--format", "text");
    assertStringIncludes(
      explained.stdout,
      "  proven by the checkpoint of 1 event, signed at 2026-01-01T00:00:",
    );
    assertStringIncludes(explained.stdout, "Z, and 0 events after it\n");
    assertStringIncludes(
      explained.stdout,
      `  to keep this with its proof: sig evidence make --sig ${host} ` +
        `--subject ${ALICE} --require relationship=employee\n`,
    );
    const two = await check("--cosigners", "2");
    assertEquals(two.code, 2);
    assertStringIncludes(two.stderr, "--cosigner must name at least 2");
    const wrong = await cosign("two words");
    assertEquals(wrong.code, 2);
    assertStringIncludes(wrong.stderr, "invalid_request");
    // A feed that is not the remembered one is not cosigned.
    const feed = workspace.path("acme/.well-known/sig/events.jsonl");
    await Deno.writeTextFile(feed, "");
    const shorter = await cosign();
    assertEquals(shorter.code, 2);
    assertStringIncludes(shorter.stderr, "feed_rolled_back");
    assertEquals(shorter.stdout, "");
  });
});
