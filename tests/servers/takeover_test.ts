// An attacker who controls an issuer's web server gets no access from consumers
// with pins.
import { jwkToDidKey, signAttestation } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import { publishProofs } from "../kit/proofs.ts";
import { run, tempFolder } from "../kit/process.ts";
import { programArgs } from "../kit/programs.ts";
import { askJson, LEAST, ServerProcess } from "../kit/server_process.ts";
import { importTestKeys } from "../kit/test_issuer.ts";
import { watchIssuer } from "../kit/watched_issuer.ts";

// promise: A taken-over web server can't introduce a key to a reader that
//   remembers a proof.

const [key, thief, person] = await importTestKeys();
assert(key && thief && person);

const SUBJECT = jwkToDidKey(person.publicJwk);

/** Queries the API. Returns the decision, or the code of the problem. */
async function askApi({ url }: ServerProcess, issuer: string) {
  const question = { issuer, subject: SUBJECT, require: ["role=deploy"] };
  const { body } = await askJson(`${url}/v1/check`, question);
  const { decision, code, proof } = body;
  return { outcome: decision ?? code, proof };
}

/** Logs in. Returns "allow", or the code of the problem. */
async function logIn({ url }: ServerProcess) {
  const at = `${url}/v1/auth`;
  const { body: challenge } = await askJson(`${at}/challenge/create`, {
    scopes: ["profile"],
  });
  const attestation = await signAttestation({
    challenge,
    key: person!,
    now: () => new Date(),
  });
  const { body } = await askJson(`${at}/attestation/verify`, { attestation });
  return body.verified ? "allow" : body.code;
}

/** Runs `sig check`. Returns the decision, or the code of the error. */
async function check(issuer: string, pins: string) {
  const { stdout, stderr } = await run(Deno.execPath(), [
    ...["run", "-A", ...programArgs("cli"), "check", "--sig", issuer],
    ...["--subject", SUBJECT, "--require", "role=deploy"],
    ...["--allow-insecure", "--pins", pins, "--format", "json"],
  ]);
  const { decision, code } = JSON.parse(stdout === "" ? stderr : stdout);
  return decision ?? code;
}

Deno.test("a key and an event uploaded by an attacker are refused by all consumers with pins", async () => {
  await using issuer = await watchIssuer(3, key);
  const { server } = issuer;
  await using temporary = await tempFolder();
  const folder = temporary.path;
  await using stack = new AsyncDisposableStack();
  const line = await issuer.line(4, key, { subject: SUBJECT });
  const lines = [...issuer.lines, line];
  issuer.publish(lines);
  const { documents, origin, did } = server;
  await publishProofs(documents, { origin, keys: [key], lines });
  const start = async (name: "api" | "web", ...args: string[]) =>
    stack.use(
      await ServerProcess.start(name, [
        ...["--allow-insecure", "--issuer", did, "--max-age", "0s", ...args],
        ...["--pins", `${folder}/${name}.db`],
      ], {
        permissions: [
          ...LEAST,
          `--allow-read=${folder}`,
          `--allow-write=${folder}`,
          "--allow-sys",
        ],
      }),
    );
  const api = await start("api");
  const web = await start("web", "--require", "role=deploy");
  const own = `${folder}/own.db`;
  const first = await askApi(api, did);
  assertEquals([first.outcome, first.proof?.size], ["allow", 4]);
  assertEquals(await logIn(web), "allow");
  assertEquals(await check(did, own), "allow");

  issuer.publishKeys([key, thief]);
  const more = [
    ...lines,
    await issuer.line(5, thief, {
      subject: SUBJECT,
      roles: ["deploy", "root"],
    }),
  ];
  issuer.publish(more);
  await publishProofs(documents, {
    ...{ origin, keys: [thief], published: [key, thief], lines: more },
  });
  assertEquals((await askApi(api, did)).outcome, "key_not_introduced");
  assertEquals(await logIn(web), "key_not_introduced");
  assertEquals(await check(did, own), "key_not_introduced");
  // Processes that start later refuse them too.
  assertEquals(
    (await askApi(await start("api"), did)).outcome,
    "key_not_introduced",
  );
  assertEquals(
    await logIn(await start("web", "--require", "role=deploy")),
    "key_not_introduced",
  );
});
