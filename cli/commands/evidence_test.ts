import { assertEquals } from "@std/assert";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import {
  issuerTest,
  serveIssuer,
  Workspace,
  workspaceTest as test,
} from "../testdata/workspace.ts";

const ASKED = "--subject did:web:alice.example --require";

test("evidence make and verify handle an allow and a deny", async (workspace) => {
  await using server = await serveIssuer(workspace);
  const { host } = server;
  const insecure = "--allow-insecure";
  const make = `evidence make --sig ${host} ${insecure} ${ASKED}`;
  const verify = (file: string) => `evidence verify $D/${file} ${insecure}`;
  await workspace.ok(
    "upsert --dir $D/acme --subject did:web:alice.example --type employee",
  );
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
    await workspace.says(`${make} ${requirement} --out $D/${file}`, {
      code,
      stderr: "",
    });
    await workspace.says(verify(file), { out: `sound: ${decision}\n` });
  }
  const text = await workspace.read("deny.json");
  await workspace.write(
    "turned.json",
    text.replace('"decision":"deny"', '"decision":"allow"'),
  );
  await workspace.says(verify("turned.json"), {
    code: 1,
    stdout: "faulty: Cannot use evidence: the lines don't give this answer\n",
  });
  await server[Symbol.asyncDispose]();
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
    await workspace.says(`${verify} acme.example+00000000+AQ==`, {
      stdin,
      code: 2,
      err: "error: invalid_key: ",
    });
  },
);

issuerTest(
  "evidence is made as of an earlier event, and says that dates are the issuer's statements",
  async (workspace) => {
    await workspace.says("checkpoint --dir $D/acme --init");
    const make =
      `evidence make --sig $D/acme --subject did:web:bob.example --require relationship=contractor --out $D/e`;
    await workspace.says(`${make}1.json`, { code: 1 });
    // Before its revocation, which is event 3.
    await workspace.says(`${make}2.json --as-of 2 --at 2027-01-01`);
    const { question, answer } = JSON.parse(await workspace.read("e2.json"));
    assertEquals([question.as_of, answer.as_of, answer.decision], [
      2,
      2,
      "allow",
    ]);
    const { vkey } = await trustOf(workspace);
    await workspace.says(`evidence verify $D/e2.json --trust ${vkey}`, {
      out: "sound: allow",
      err: "dates       dates are the issuer's own statements",
    });
    await workspace.edit("e2.json", (evidence) => evidence.question.as_of = 3);
    await workspace.says(`evidence verify $D/e2.json --trust ${vkey}`, {
      code: 1,
      out: "the lines don't give this answer",
    });
    await workspace.refused(`${make}3.json --as-of 9`, "error: ");
  },
);

/** Returns the verifier key of the checkpoint of `acme`. */
async function trustOf(workspace: Workspace) {
  const jwks = JSON.parse(await workspace.read("acme/.well-known/jwks.json"));
  const { formatVerifierKey } = await import("@sig/jose/proofs");
  const { importVerificationKey } = await import("@sig/jose");
  const key = await importVerificationKey(jwks.keys[0]);
  return {
    vkey: formatVerifierKey({
      name: "acme.example/.well-known/sig",
      type: "note",
      key,
    }),
  };
}
