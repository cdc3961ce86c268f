import { assertEquals, assertStringIncludes } from "@std/assert";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { createIssuerSite } from "../site/issuer_site.ts";
import { inWorkspace, type Ran, Workspace } from "../testdata/workspace.ts";

const ALICE = "did:web:alice.example";

/** An issuer with proofs, of one employee, on a real server. */
async function served(
  work: (issuer: {
    sig(...words: string[]): Promise<Ran>;
    stop(): Promise<void>;
    path(name: string): string;
  }) => Promise<void>,
): Promise<void> {
  await inWorkspace(async (workspace) => {
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      createIssuerSite(workspace.path("acme")),
    );
    let stopped: Promise<void> | undefined;
    const stop = () => stopped ??= server.shutdown();
    const host = `127.0.0.1:${server.addr.port}`;
    const sig = (...words: string[]) =>
      workspace.sig(words.map((word) => word.replace("HOST", host)));
    try {
      const dir = ["--dir", "$D/acme"];
      for (
        const words of [
          ["init", "HOST", ...dir, "--allow-insecure"],
          ["upsert", ...dir, "--subject", ALICE, "--type", "employee"],
          ["checkpoint", ...dir, "--init"],
        ]
      ) assertEquals((await sig(...words)).code, 0);
      await work({ sig, stop, path: (name) => workspace.path(name) });
    } finally {
      await stop();
    }
  });
}

const ASKED = ["--sig", "HOST", "--subject", ALICE, "--require"];

Deno.test("evidence of an allow and of a deny is made, and verified", async () => {
  await served(async ({ sig, stop, path }) => {
    const make = (requirement: string, ...more: string[]) =>
      sig("evidence", "make", ...ASKED, requirement, ...more);
    const allow = await make(
      "relationship=employee",
      ...["--out", "$D/allow.json", "--allow-insecure"],
    );
    assertEquals(allow.code, 0, allow.stderr);
    const deny = await make(
      "role=deploy",
      ...["--out", "$D/deny.json", "--allow-insecure"],
    );
    assertEquals(deny.code, 1, deny.stderr);
    const verify = (file: string, ...more: string[]) =>
      sig("evidence", "verify", file, ...more);
    for (const name of ["allow", "deny"]) {
      const ran = await verify(`$D/${name}.json`, "--allow-insecure");
      assertEquals(ran.code, 0, ran.stderr);
      assertStringIncludes(ran.stdout, `sound: ${name}\n`);
    }
    const text = await Deno.readTextFile(path("deny.json"));
    await Deno.writeTextFile(
      path("turned.json"),
      text.replace('"decision":"deny"', '"decision":"allow"'),
    );
    const turned = await verify("$D/turned.json", "--allow-insecure");
    assertEquals(turned.code, 1);
    assertEquals(
      turned.stdout,
      "faulty: Cannot use evidence: the lines don't give this answer\n",
    );
    // Without the issuer, its keys must be given.
    await stop();
    const unreachable = await verify("$D/allow.json", "--allow-insecure");
    assertEquals(unreachable.code, 2);
    assertStringIncludes(unreachable.stderr, "fetch_failed");
  });
});

vectorTest(
  "evidence is verified offline by a key that is given",
  "proofs/small",
  async () => {
    const { vkey } = readJsonVectors<{ vkey: string }>("proofs/TEST-KEY.json");
    const { questions } = readJsonVectors<{
      questions: { evidence: unknown }[];
    }>("proofs/small/expected.json");
    const stdin = JSON.stringify(questions[0]!.evidence);
    const workspace = new Workspace("/nowhere");
    const verify = (key: string) =>
      workspace.sig([
        ...["evidence", "verify", "-", "--trust", key, "--format", "json"],
      ], { stdin });
    const trusted = await verify(vkey);
    assertEquals(trusted.code, 0, trusted.stderr);
    const shown = JSON.parse(trusted.stdout);
    assertEquals(shown.answer.decision, "allow");
    assertEquals(shown.vkey, vkey);
    const wrong = await verify("acme.example+00000000+AQ==");
    assertEquals(wrong.code, 2);
    assertEquals(JSON.parse(wrong.stderr).code, "invalid_key");
  },
);

Deno.test("an issuer without proofs has no evidence", async () => {
  await inWorkspace(async (workspace) => {
    await workspace.sig(["init", "acme.example", "--dir", "$D/acme"]);
    const ran = await workspace.sig([
      ...["evidence", "make", "--sig", "$D/acme", "--subject", ALICE],
      ...["--require", "role=deploy"],
    ]);
    assertEquals(ran.code, 2);
    assertStringIncludes(ran.stderr, "the issuer publishes no proofs");
  });
});
