import { assertEquals, assertStringIncludes } from "@std/assert";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { createIssuerSite } from "../site/issuer_site.ts";
import { Workspace, workspaceTest as test } from "../testdata/workspace.ts";

const ASKED = "--subject did:web:alice.example --require";

test("evidence make and verify handle an allow and a deny", async (workspace) => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    createIssuerSite(workspace.path("acme")),
  );
  const host = `127.0.0.1:${server.addr.port}`;
  const insecure = "--allow-insecure";
  const make = `evidence make --sig ${host} ${insecure} ${ASKED}`;
  const verify = (file: string) => `evidence verify $D/${file} ${insecure}`;
  try {
    for (
      const words of [
        `init ${host} --dir $D/acme ${insecure}`,
        "upsert --dir $D/acme --subject did:web:alice.example --type employee",
      ]
    ) await workspace.ok(words);
    await workspace.refused(
      `${make} role=deploy`,
      "the issuer publishes no proofs",
    );
    await workspace.ok("checkpoint --dir $D/acme --init");
    for (
      const [requirement, decision, code] of [
        ["relationship=employee", "allow", 0],
        ["role=deploy", "deny", 1],
      ] as const
    ) {
      const file = `${decision}.json`;
      const made = await workspace.sig(
        `${make} ${requirement} --out $D/${file}`,
      );
      assertEquals([made.code, made.stderr], [code, ""]);
      const { code: verified, stdout } = await workspace.sig(verify(file));
      assertEquals(verified, 0);
      assertStringIncludes(stdout, `sound: ${decision}\n`);
    }
    const text = await workspace.read("deny.json");
    await workspace.write(
      "turned.json",
      text.replace('"decision":"deny"', '"decision":"allow"'),
    );
    const turned = await workspace.sig(verify("turned.json"));
    assertEquals(
      [turned.code, turned.stdout],
      [1, "faulty: Cannot use evidence: the lines don't give this answer\n"],
    );
  } finally {
    await server.shutdown();
  }
  // If the issuer is unreachable, its keys must be given.
  await workspace.refused(verify("allow.json"), "fetch_failed");
});

vectorTest(
  "evidence verify works offline with a given key",
  "proofs/small",
  async () => {
    const { vkey } = readJsonVectors<{ vkey: string }>("proofs/TEST-KEY.json");
    const { questions } = readJsonVectors<{
      questions: { evidence: unknown }[];
    }>("proofs/small/expected.json");
    const stdin = JSON.stringify(questions[0]!.evidence);
    const workspace = new Workspace("/nowhere");
    const verify = "evidence verify - --trust";
    const shown = await workspace.json(`${verify} ${vkey}`, { stdin });
    assertEquals([shown.answer.decision, shown.vkey], ["allow", vkey]);
    const wrong = await workspace.sig(
      `${verify} acme.example+00000000+AQ==`,
      { stdin },
    );
    assertEquals(wrong.code, 2);
    assertStringIncludes(wrong.stderr, "error: invalid_key: ");
  },
);
